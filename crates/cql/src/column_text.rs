//! A column's entry in the schema of Cassandra 2.1, and its full text as 2.1 prints it in messages.

use base::marshal::{PACKAGE, composite_parts};
use base::schema::{CfDef, ColumnKind, IndexDef, Layout, TableColumn, TableDef};

/// Returns the index on a column.
pub(crate) fn index_of<'a>(cf: &'a CfDef, column: &TableColumn) -> Option<&'a IndexDef> {
    cf.column_metadata.get(&column.cell_name)?.index.as_ref()
}

/// Returns the position of a column in its key or composite name, or `None` if that has only one component.
pub(crate) fn component_index(cf: &CfDef, def: &TableDef, column: &TableColumn) -> Option<usize> {
    match column.kind {
        ColumnKind::PartitionKey => (def.partition_key.len() > 1).then_some(column.position),
        ColumnKind::Clustering => {
            let is_composite = composite_parts(cf.comparator.class_name()).is_some() || cf.is_super();
            is_composite.then_some(column.position)
        }
        ColumnKind::Static => Some(def.clustering.len()),
        ColumnKind::CompactValue => None,
        ColumnKind::Regular => (def.layout != Layout::StaticCompact).then_some(def.clustering.len()),
    }
}

/// Returns the class of a column's values.
pub(crate) fn class_text(column: &TableColumn) -> String {
    let class = column.cql_type.class_name();
    if column.is_reversed { format!("{PACKAGE}ReversedType({class})") } else { class }
}

/// Returns the full column definition, which 2.1 prints in some messages instead of the column's name.
pub(crate) fn column_text(cf: &CfDef, def: &TableDef, column: &TableColumn) -> String {
    let kind = match column.kind {
        ColumnKind::PartitionKey => "PARTITION_KEY",
        ColumnKind::Clustering => "CLUSTERING_COLUMN",
        ColumnKind::Static => "STATIC",
        ColumnKind::CompactValue => "COMPACT_VALUE",
        ColumnKind::Regular => "REGULAR",
    };
    let or_null = |text: Option<String>| text.unwrap_or_else(|| "null".to_owned());
    let index = index_of(cf, column);
    format!(
        "ColumnDefinition{{name={}, type={}, kind={kind}, componentIndex={}, indexName={}, indexType={}}}",
        column.name,
        class_text(column),
        or_null(component_index(cf, def, column).map(|place| place.to_string())),
        or_null(index.and_then(|index| index.name.clone())),
        or_null(index.map(|index| index.kind.name().to_owned())),
    )
}
