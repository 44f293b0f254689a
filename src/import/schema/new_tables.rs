//! The schema tables of 3.0 to 3.11. Types are texts of CQL there, and flags say what a table without a definition of CQL
//! is:
//!
//! ```text
//!   {compound}          a table of CQL
//!   {}                  a column family with defined columns: static columns, and column1 and value for all others
//!   {dense}             a column family: one clustering column is the comparator
//!   {dense, compound}   .. several are a composite comparator
//!   {dense, super}      a super column family: column1, column2 in some releases, and a map of its columns
//! ```

use std::collections::BTreeMap;

use bytes::Bytes;

use super::FoundSchema;
use super::system_rows::{SystemRow, read as read_rows};
use super::table_statement::TableStatement;
use crate::cql::define::column_family;
use crate::cql::syntax::{Statement, parse};
use crate::cql::values::{TypeScope, name_text};
use crate::db::{CfRequest, ColumnRequest, KsRequest};
use crate::import::inventory::{FamilyName, FoundTable, is_system};
use crate::marshal::{PACKAGE, Types};
use crate::schema::{CompactNames, KeyspaceDef};
use crate::sstable::SstableError;

/// Reads the tables; `tables` returns the SSTables of one of them. Returns false if there are none.
pub fn read<'a>(
    tables: impl Fn(&str) -> &'a [FoundTable],
    types: &Types,
    schema: &mut FoundSchema,
) -> Result<bool, SstableError> {
    let mut keyspaces: BTreeMap<String, KsRequest> = BTreeMap::new();
    if ["keyspaces", "tables"].iter().all(|name| tables(name).is_empty()) {
        return Ok(false);
    }
    for row in read_rows(tables("keyspaces"), 0, false)? {
        if !is_system(&row.keyspace) {
            keyspaces.insert(row.keyspace.clone(), keyspace_of(&row));
        }
    }
    for row in read_rows(tables("types"), 1, false)? {
        schema.types.extend(type_of(&row));
    }
    let mut columns: BTreeMap<FamilyName, Vec<SystemRow>> = BTreeMap::new();
    for row in read_rows(tables("columns"), 2, false)? {
        let [name, _] = &row.clustering[..] else { continue };
        let name = FamilyName { keyspace: row.keyspace.clone(), name: name.clone() };
        columns.entry(name).or_default().push(row);
    }
    for row in read_rows(tables("tables"), 1, false)? {
        let [name] = &row.clustering[..] else { continue };
        let Some(keyspace) = keyspaces.get_mut(&row.keyspace) else { continue };
        let name = FamilyName { keyspace: row.keyspace.clone(), name: name.clone() };
        let Some(columns) = columns.get(&name) else { continue };
        let family = Family { row: &row, name: &name, columns, types };
        match family.request() {
            None => schema.statements.push(family.statement()),
            Some((request, names)) => {
                keyspace.column_families.push(request);
                schema.names.push((name.clone(), names));
            }
        }
    }
    for row in read_rows(tables("indexes"), 2, false)? {
        if keyspaces.contains_key(&row.keyspace) {
            schema.statements.extend(index_of(&row));
        }
    }
    schema.keyspaces.extend(keyspaces.into_values());
    Ok(true)
}

/// Reads the texts of a frozen collection: a count, then each text after its length, four bytes each. Those of a map are
/// keys and values in turn.
fn frozen_texts(bytes: Option<&Bytes>) -> Vec<String> {
    let mut rest = bytes.and_then(|bytes| bytes.get(4..)).unwrap_or_default();
    let mut found = Vec::new();
    while let Some((length, after)) = rest.split_first_chunk::<4>() {
        let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or_default();
        let Some((text, after)) = after.split_at_checked(length) else { break };
        found.push(String::from_utf8_lossy(text).into_owned());
        rest = after;
    }
    found
}

fn frozen_map(bytes: Option<&Bytes>) -> BTreeMap<String, String> {
    let texts = frozen_texts(bytes);
    texts.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

fn keyspace_of(row: &SystemRow) -> KsRequest {
    let mut options = frozen_map(row.bytes("replication"));
    KsRequest {
        name: row.keyspace.clone(),
        strategy_class: options.remove("class").unwrap_or_else(|| "SimpleStrategy".to_owned()),
        strategy_options: options,
        durable_writes: row.boolean("durable_writes"),
        ..KsRequest::default()
    }
}

fn type_of(row: &SystemRow) -> Option<String> {
    let [name] = &row.clustering[..] else { return None };
    let list = |column: &str| frozen_texts(row.bytes(column));
    let fields = list("field_names").into_iter().zip(list("field_types"));
    let fields: Vec<String> =
        fields.map(|(field, cql_type)| format!("{} {cql_type}", name_text(&field))).collect();
    let (keyspace, name) = (name_text(&row.keyspace), name_text(name));
    Some(format!("CREATE TYPE {keyspace}.{name} ({})", fields.join(", ")))
}

/// Returns the statement of an index of a table of CQL.
fn index_of(row: &SystemRow) -> Option<String> {
    let [table, name] = &row.clustering[..] else { return None };
    let options = frozen_map(row.bytes("options"));
    let target = options.get("target")?;
    (row.text("kind") == Some("COMPOSITES")).then(|| {
        let (keyspace, table) = (name_text(&row.keyspace), name_text(table));
        format!("CREATE INDEX {} ON {keyspace}.{table} ({target})", name_text(name))
    })
}

/// Returns the types of the keys and values of a map, in CQL. It may be one that CQL does not allow, with counters.
fn map_parts(cql_type: &str) -> Option<(&str, &str)> {
    let inner = cql_type.strip_prefix("map<")?.strip_suffix('>')?;
    let mut depth = 0_i32;
    let comma = inner.find(|letter: char| {
        depth += i32::from(letter == '<') - i32::from(letter == '>');
        letter == ',' && depth == 0
    })?;
    Some((inner[..comma].trim(), inner[comma + 1..].trim()))
}

/// A column: its name, its type in CQL, and its row.
type Column<'a> = (&'a str, &'a str, &'a SystemRow);

fn is_descending(column: &SystemRow) -> bool {
    column.text("clustering_order").is_some_and(|order| order.eq_ignore_ascii_case("desc"))
}

/// Returns the class of a key or name of these parts.
fn joined(classes: &[String]) -> String {
    match classes {
        [only] => only.clone(),
        several => format!("{PACKAGE}CompositeType({})", several.join(",")),
    }
}

/// A row of `tables` with those of `columns`.
struct Family<'a> {
    row: &'a SystemRow,
    name: &'a FamilyName,
    columns: &'a [SystemRow],
    types: &'a Types,
}

impl Family<'_> {
    /// Returns the name and the type of the columns of a kind, by their places.
    fn of_kind(&self, kind: &str) -> Vec<Column<'_>> {
        let is_of_kind = |row: &&SystemRow| row.text("kind") == Some(kind);
        let mut found: Vec<_> = self
            .columns
            .iter()
            .filter(is_of_kind)
            .filter_map(|row| Some((row.clustering.get(1)?.as_str(), row.text("type")?, row)))
            .collect();
        found.sort_by_key(|(.., row)| row.int("position"));
        found
    }

    /// Returns the statement that creates a table of CQL.
    fn statement(&self) -> String {
        let (keys, clustering) = (self.of_kind("partition_key"), self.of_kind("clustering"));
        let is_descending = |(name, _, row): &Column<'_>| ((*name).to_owned(), is_descending(row));
        let mut table = TableStatement {
            keyspace: self.name.keyspace.clone(),
            name: self.name.name.clone(),
            keys: keys.iter().map(|(name, ..)| (*name).to_owned()).collect(),
            clustering: clustering.iter().map(is_descending).collect(),
            gc_grace_s: self.row.int("gc_grace_seconds"),
            ..TableStatement::default()
        };
        for (name, cql_type, _) in keys.iter().chain(&clustering).chain(&self.of_kind("regular")) {
            table.add(name, cql_type, false);
        }
        for (name, cql_type, _) in self.of_kind("static") {
            table.add(name, cql_type, true);
        }
        table.to_string()
    }

    /// Returns the definition of a column family, with the names of its columns in CQL. `None` for a table of CQL.
    fn request(&self) -> Option<(CfRequest, CompactNames)> {
        let flags = frozen_texts(self.row.bytes("flags"));
        let has = |flag: &str| flags.iter().any(|found| found == flag);
        if has("compound") && !has("dense") {
            return None;
        }
        let (keys, clustering, regular) =
            (self.of_kind("partition_key"), self.of_kind("clustering"), self.of_kind("regular"));
        let (comparator, subcomparator, value) = self.cell_classes(&flags, &clustering, &regular);
        let names_type = self.types.resolve(&comparator);
        let column = |(name, cql_type, row): Column<'_>| ColumnRequest {
            name: names_type
                .as_ref()
                .and_then(|of| of.parse_text(name).ok())
                .map_or_else(|| Bytes::from(name.to_owned().into_bytes()), Bytes::from),
            validation_class: self.class_of(cql_type, row),
            index_kind: None,
            index_name: None,
            index_options: None,
        };
        let request = CfRequest {
            keyspace: self.name.keyspace.clone(),
            name: self.name.name.clone(),
            column_type: Some(if has("super") { "Super" } else { "Standard" }.to_owned()),
            comparator_type: Some(comparator.clone()),
            subcomparator_type: subcomparator,
            comment: self.row.text("comment").map(str::to_owned),
            gc_grace_seconds: self.row.int("gc_grace_seconds"),
            default_validation_class: value,
            key_validation_class: Some(joined(&self.classes(&keys))),
            key_alias: match &keys[..] {
                [(name, ..)] if *name != "key" => Some(Bytes::from((*name).to_owned().into_bytes())),
                _ => None,
            },
            columns: if has("dense") {
                Vec::new()
            } else {
                self.of_kind("static").into_iter().map(column).collect()
            },
            ..CfRequest::default()
        };
        let some = |columns: &[Column<'_>]| -> Vec<Option<String>> {
            columns.iter().map(|(name, ..)| Some((*name).to_owned())).collect()
        };
        let names = if has("dense") && !has("super") {
            CompactNames {
                partition_key: if keys.len() > 1 { some(&keys) } else { Vec::new() },
                clustering: some(&clustering),
                value: regular.first().map(|(name, ..)| (*name).to_owned()),
            }
        } else {
            CompactNames::default()
        };
        Some((request, names))
    }

    fn classes(&self, columns: &[Column<'_>]) -> Vec<String> {
        columns.iter().map(|(_, cql_type, row)| self.class_of(cql_type, row)).collect()
    }

    /// Returns the classes of names, of names in super columns, and of values.
    fn cell_classes(
        &self,
        flags: &[String],
        clustering: &[Column<'_>],
        regular: &[Column<'_>],
    ) -> (String, Option<String>, Option<String>) {
        let names = self.classes(clustering);
        if !flags.iter().any(|flag| flag == "super") {
            let value = regular.first().map(|(_, cql_type, row)| self.class_of(cql_type, row));
            // A table without a value column has one of the empty type.
            return (joined(&names), None, value.filter(|class| !class.ends_with("EmptyType")));
        }
        let map = regular.iter().find_map(|(_, cql_type, row)| Some((map_parts(cql_type)?, row)));
        let of_map = map.map(|((keys, values), row)| (self.class_of(keys, row), self.class_of(values, row)));
        let (keys, values) = of_map.unzip();
        (names.first().cloned().unwrap_or_default(), names.get(1).cloned().or(keys), values)
    }

    /// Returns the class of a type of CQL. A descending clustering column has a reversed type.
    fn class_of(&self, cql_type: &str, row: &SystemRow) -> String {
        let class = self.class_of_text(cql_type).unwrap_or_else(|| "BytesType".to_owned());
        if is_descending(row) { format!("{PACKAGE}ReversedType({class})") } else { class }
    }

    fn class_of_text(&self, cql_type: &str) -> Option<String> {
        let keyspace = KeyspaceDef::new(&self.name.keyspace);
        let text = format!("CREATE TABLE a.b (k int PRIMARY KEY, v {cql_type})");
        let Statement::CreateTable(create) = parse(&text).ok()?.statement else { return None };
        let cf = column_family(&create, &TypeScope::of_existing(&keyspace, self.types)).ok()?;
        let value = cf.table.as_ref()?.column("v")?.cql_type.class_name();
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_split_at_their_own_comma() {
        assert_eq!(
            map_parts("map<frozen<tuple<int, text>>, counter>"),
            Some(("frozen<tuple<int, text>>", "counter"))
        );
        assert_eq!(map_parts("list<int>"), None);
    }

    #[test]
    fn frozen_collections_are_read_as_far_as_they_go() {
        let bytes = Bytes::from_static(b"\0\0\0\x01\0\0\0\x01k\0\0\0\x02vw");
        assert_eq!(frozen_map(Some(&bytes)), BTreeMap::from([("k".to_owned(), "vw".to_owned())]));
        for end in 0..bytes.len() {
            assert!(frozen_map(Some(&bytes.slice(..end))).is_empty());
        }
        assert!(
            frozen_texts(Some(&Bytes::from_static(b"\0\0\0\x01\xff\xff\xff\xffab")))
                .iter()
                .all(String::is_empty)
        );
    }
}
