//! The levels of a column family, from the row key to the value.
//!
//! ```text
//!   row key (UTF8Type)  →  super column (TimeUUIDType)  →  column (BytesType)  →  value (BytesType)
//!   partition key a, b  →  clustering column c, descending  →  columns v, m
//! ```

use base::marshal::{AbstractType, PACKAGE, unreversed};
use base::schema::{CfDef, ColumnKind, Layout, TableColumn, TableDef};

use crate::present::{escaped, key_class, read_as};
use base::marshal::Types;

/// A level of a drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Level {
    pub role: &'static str,
    pub parts: Vec<LevelPart>,
}

/// A name with its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LevelPart {
    /// Empty if the level has no names of its own.
    pub name: String,
    pub of_type: String,
    /// The order, an index and the like; may be empty.
    pub note: String,
}

impl LevelPart {
    fn class(class: &dyn AbstractType) -> LevelPart {
        let (inner, is_reversed) = unreversed(class.class_name());
        let note = if is_reversed { "descending" } else { "" };
        LevelPart { name: String::new(), of_type: inner.replace(PACKAGE, ""), note: note.to_owned() }
    }

    fn column(column: &TableColumn, note: String) -> LevelPart {
        LevelPart { name: escaped(column.name.as_bytes()), of_type: column.cql_type.to_string(), note }
    }
}

/// Returns the levels of a column family. The levels of a CQL table have the names of its columns.
pub(super) fn levels_of(cf: &CfDef, def: &TableDef, types: &Types) -> Vec<Level> {
    if def.layout == Layout::Sparse || def.layout == Layout::CompositeDense {
        return levels_of_table(cf, def);
    }
    let mut levels = vec![Level { role: "row key", parts: vec![LevelPart::class(key_class(cf))] }];
    if cf.is_super() {
        levels.push(Level { role: "super column", parts: vec![LevelPart::class(&*cf.comparator)] });
    }
    let names = cf.subcomparator().unwrap_or(&cf.comparator);
    levels.push(Level { role: "column name", parts: vec![LevelPart::class(&**names)] });
    let defined = cf.column_metadata.values().map(|column| {
        let name = read_as(types, &**names, &column.name).text;
        let note = if column.index.is_some() { "indexed".to_owned() } else { String::new() };
        LevelPart { name, note, ..LevelPart::class(&*column.validator) }
    });
    let mut values: Vec<LevelPart> = defined.collect();
    let mut others = LevelPart::class(&*cf.default_validator);
    if !values.is_empty() {
        others.note = "of all other columns".to_owned();
    }
    values.push(others);
    levels.push(Level { role: "value", parts: values });
    levels
}

fn levels_of_table(cf: &CfDef, def: &TableDef) -> Vec<Level> {
    let keys = def.partition_key.iter().map(|column| LevelPart::column(column, String::new()));
    let clustering = def.clustering.iter().map(|column| {
        let order = if column.is_reversed { "descending" } else { "ascending" };
        LevelPart::column(column, order.to_owned())
    });
    let others = def.others.values().map(|column| LevelPart::column(column, note_of(cf, column)));
    let levels = [
        Level { role: "partition key", parts: keys.collect() },
        Level { role: "clustering columns", parts: clustering.collect() },
        Level { role: "columns", parts: others.collect() },
    ];
    levels.into_iter().filter(|level| !level.parts.is_empty()).collect()
}

/// Returns the properties of a column outside the key, in words.
fn note_of(cf: &CfDef, column: &TableColumn) -> String {
    let is_indexed = cf.column_metadata.get(&column.cell_name).is_some_and(|known| known.index.is_some());
    let words = [
        (column.kind == ColumnKind::Static, "static"),
        (column.cql_type.is_multi_cell(), "a cell for each element"),
        (is_indexed, "indexed"),
    ];
    words.iter().filter(|(holds, _)| *holds).map(|(_, word)| *word).collect::<Vec<_>>().join(", ")
}
