//! Derives the comparator and the key validator of a column family from a table's columns.

use super::{CfDef, Layout, TableColumn, TableDef};
use crate::marshal::{
    ColumnToCollectionType, CqlType, PACKAGE, TypeError, TypeRef, Types, composite_parts, split_arguments,
    split_class,
};

fn class_of(column: &TableColumn) -> String {
    let class = column.cql_type.class_name();
    if column.is_reversed { format!("{PACKAGE}ReversedType({class})") } else { class }
}

fn composite<'a>(parts: impl IntoIterator<Item = &'a String>) -> String {
    let parts: Vec<&str> = parts.into_iter().map(String::as_str).collect();
    format!("{PACKAGE}CompositeType({})", parts.join(","))
}

/// Returns the type of the row keys.
pub fn key_validator(table: &TableDef, types: &Types) -> Result<TypeRef, TypeError> {
    let parts: Vec<String> = table.partition_key.iter().map(class_of).collect();
    match &parts[..] {
        [single] => types.parse(single),
        parts => types.parse(&composite(parts)),
    }
}

/// Returns the type of the cell names. Collections that the column family had before stay in it, because cells of a
/// dropped collection may still exist.
pub fn comparator(table: &TableDef, before: Option<&CfDef>, types: &Types) -> Result<TypeRef, TypeError> {
    let text = format!("{PACKAGE}{}", "UTF8Type");
    let mut parts: Vec<String> = table.clustering.iter().map(class_of).collect();
    match table.layout {
        Layout::StaticCompact => return types.parse(&text),
        Layout::Dense => return types.parse(parts.first().unwrap_or(&text)),
        Layout::CompositeDense | Layout::Super => return types.parse(&composite(&parts)),
        Layout::Sparse => parts.push(text),
    }
    let mut collections = before.map(collections_of).unwrap_or_default();
    for column in table.others.values().filter(|column| column.cql_type.is_multi_cell()) {
        let name = column.cell_name.to_vec();
        match collections.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = column.cql_type.clone(),
            None => collections.push((name, column.cql_type.clone())),
        }
    }
    if !collections.is_empty() {
        let collections = ColumnToCollectionType::new(&collections, types);
        parts.push(crate::marshal::AbstractType::class_name(&collections).to_owned());
    }
    types.parse(&composite(&parts))
}

/// Returns the collections in a column family's comparator, by column name.
pub fn collections_of(cf: &CfDef) -> Vec<(Vec<u8>, CqlType)> {
    collections_of_class(cf.comparator.class_name())
}

/// Returns the collections in the class of a comparator, by column name.
pub fn collections_of_class(comparator: &str) -> Vec<(Vec<u8>, CqlType)> {
    let parts = composite_parts(comparator).unwrap_or_default();
    let Some(("ColumnToCollectionType", Some(inner))) = parts.last().map(|last| split_class(last)) else {
        return Vec::new();
    };
    let mut collections = Vec::new();
    for text in split_arguments(inner) {
        let Some((name, class)) = text.split_once(':') else { continue };
        let name: Option<Vec<u8>> =
            (0..name.len()).step_by(2).map(|at| u8::from_str_radix(name.get(at..at + 2)?, 16).ok()).collect();
        collections.extend(name.map(|name| (name, CqlType::of_class(class).with_cells_of_fields())));
    }
    collections
}
