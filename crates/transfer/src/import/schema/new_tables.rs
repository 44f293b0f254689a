//! The schema tables of 3.0 and later. Types are texts of CQL there, and flags say what a table without a definition of CQL
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

use super::cql_table::{CqlTable, FoundDrop};
use super::system_rows::{SchemaRow, SystemTables, by_family};
use super::table_settings::of_new_row;
use super::table_statement::{TableStatement, type_of};
use super::vectors::{self, without_vectors};
use super::{FoundSchema, left_out};
use crate::import::FamilyName;
use base::marshal::{PACKAGE, Types, unreversed};
use base::schema::{CompactNames, IndexKind, KeyspaceDef, name_text, quoted_name};
use cql::values::TypeScope;
use db::{CfRequest, ColumnRequest, KsRequest};
use sstable::SstableError;

/// Reads the tables. Returns false if there are none.
pub(super) fn read(
    tables: &SystemTables<'_>,
    types: &Types,
    schema: &mut FoundSchema,
) -> Result<bool, SstableError> {
    if !tables.has("keyspaces") && !tables.has("tables") {
        return Ok(false);
    }
    for row in tables.rows("keyspaces", 0)? {
        schema.add_keyspace(keyspace_of(&row));
    }
    for row in tables.rows("types", 1)? {
        let Some((place, statement)) = user_type_of(&row, &mut schema.left_out) else { continue };
        schema.types.push((place, statement));
    }
    let columns = by_family(tables.rows("columns", 2)?);
    let indexes = by_family(tables.rows("indexes", 2)?);
    let dropped = by_family(tables.rows("dropped_columns", 2)?);
    for (name, rows) in by_family(tables.rows("tables", 1)?) {
        let Some(row) = rows.first().filter(|_| schema.accepts(&name)) else { continue };
        let Some(columns) = columns.get(&name) else {
            schema.missing.push(format!("the columns of {name}: system_schema.columns does not have them"));
            continue;
        };
        let indexes = indexes.get(&name).map_or(&[][..], Vec::as_slice);
        let family = NewTable { row, name: &name, columns, indexes, types };
        schema.ids.extend(row.id("id").map(|id| (name.clone(), id)));
        match family.request() {
            None => {
                let dropped = dropped.get(&name).into_iter().flatten().filter_map(drop_of).collect();
                schema.left_out.extend(family.custom_indexes());
                schema.left_out.extend(family.vectors());
                schema.tables.push(CqlTable { dropped, ..family.table() });
            }
            Some((request, names)) => schema.add_family(request, names),
        }
    }
    left_out::read_new(tables, schema)?;
    Ok(true)
}

fn keyspace_of(row: &SchemaRow) -> KsRequest {
    let mut options = row.frozen_map("replication");
    KsRequest {
        name: row.keyspace.clone(),
        strategy_class: options.remove("class").unwrap_or_else(|| "SimpleStrategy".to_owned()),
        strategy_options: options,
        durable_writes: row.boolean("durable_writes"),
        ..KsRequest::default()
    }
}

fn user_type_of(row: &SchemaRow, left_out: &mut Vec<String>) -> Option<(FamilyName, String)> {
    let [name] = &row.clustering[..] else { return None };
    let place = FamilyName { keyspace: row.keyspace.clone(), name: name.clone() };
    let mut fields = Vec::new();
    for (field, cql_type) in row.frozen_texts("field_names").into_iter().zip(row.frozen_texts("field_types"))
    {
        let instead = without_vectors(&cql_type);
        left_out
            .extend(instead.as_ref().map(|instead| vectors::left_out(&place, &field, &cql_type, instead)));
        fields.push(format!("{} {}", name_text(&field), instead.unwrap_or(cql_type)));
    }
    let (keyspace, name) = (name_text(&row.keyspace), name_text(name));
    Some((place, format!("CREATE TYPE {keyspace}.{name} ({})", fields.join(", "))))
}

/// Returns a column that was dropped.
fn drop_of(row: &SchemaRow) -> Option<FoundDrop> {
    let [_, name] = &row.clustering[..] else { return None };
    Some(FoundDrop {
        name: name.clone(),
        cql_type: row.text("type").map(str::to_owned),
        is_static: row.text("kind") == Some("static"),
        at_us: row.long("dropped_time")?.saturating_mul(1_000),
    })
}

/// An index, from a row of `indexes`.
struct FoundIndex<'a> {
    name: &'a str,
    kind: IndexKind,
    /// The indexed column, as in CREATE INDEX.
    target: String,
    options: BTreeMap<String, String>,
}

impl FoundIndex<'_> {
    fn of(row: &SchemaRow) -> Option<FoundIndex<'_>> {
        let [_, name] = &row.clustering[..] else { return None };
        let mut options = row.frozen_map("options");
        let target = options.remove("target")?;
        Some(FoundIndex { name, kind: IndexKind::of_name(row.text("kind")?)?, target, options })
    }

    /// Returns whether it indexes a column.
    fn is_on(&self, column: &str) -> bool {
        self.target == column || self.target == quoted_name(column)
    }
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

/// A column, from a row of `columns`.
#[derive(Clone, Copy)]
struct FoundColumn<'a> {
    name: &'a str,
    cql_type: &'a str,
    row: &'a SchemaRow,
}

impl FoundColumn<'_> {
    fn of(row: &SchemaRow) -> Option<FoundColumn<'_>> {
        Some(FoundColumn { name: row.clustering.get(1)?, cql_type: row.text("type")?, row })
    }
}

fn is_descending(column: &SchemaRow) -> bool {
    column.text("clustering_order").is_some_and(|order| order.eq_ignore_ascii_case("desc"))
}

/// Returns the class of a key or name of these parts.
fn joined(classes: &[String]) -> String {
    match classes {
        [only] => only.clone(),
        several => format!("{PACKAGE}CompositeType({})", several.join(",")),
    }
}

/// A row of `tables` with its rows of `columns` and `indexes`.
struct NewTable<'a> {
    row: &'a SchemaRow,
    name: &'a FamilyName,
    columns: &'a [SchemaRow],
    indexes: &'a [SchemaRow],
    types: &'a Types,
}

impl NewTable<'_> {
    /// Returns the columns of a kind, by their places.
    fn of_kind(&self, kind: &str) -> Vec<FoundColumn<'_>> {
        let rows = self.columns.iter().filter(|row| row.text("kind") == Some(kind));
        let mut found: Vec<_> = rows.filter_map(FoundColumn::of).collect();
        found.sort_by_key(|column| column.row.int("position"));
        found
    }

    fn indexes(&self) -> impl Iterator<Item = FoundIndex<'_>> {
        self.indexes.iter().filter_map(FoundIndex::of)
    }

    /// Returns a table of CQL.
    fn table(&self) -> CqlTable {
        let (keys, clustering) = (self.of_kind("partition_key"), self.of_kind("clustering"));
        let mut table = TableStatement {
            keyspace: self.name.keyspace.clone(),
            name: self.name.name.clone(),
            keys: keys.iter().map(|key| key.name.to_owned()).collect(),
            clustering: clustering.iter().map(|of| (of.name.to_owned(), is_descending(of.row))).collect(),
            gc_grace_s: self.row.int("gc_grace_seconds"),
            ..TableStatement::default()
        };
        let known = |column: &FoundColumn<'_>| {
            without_vectors(column.cql_type).unwrap_or_else(|| column.cql_type.to_owned())
        };
        for column in keys.iter().chain(&clustering).chain(&self.of_kind("regular")) {
            table.add(column.name, &known(column), false);
        }
        for column in self.of_kind("static") {
            table.add(column.name, &known(&column), true);
        }
        let mut indexes = Vec::new();
        for index in self.indexes().filter(|index| index.kind != IndexKind::Custom) {
            let (name, target) = (name_text(index.name), &index.target);
            indexes.push(format!("CREATE INDEX {name} ON {} ({target})", table.table()));
        }
        CqlTable {
            indexes,
            comment: self.row.text("comment").map(str::to_owned),
            settings: of_new_row(self.row),
            statement: table,
            dropped: Vec::new(),
        }
    }

    /// Returns a sentence for each column with vectors.
    fn vectors(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for column in self.columns.iter().filter_map(FoundColumn::of) {
            if let Some(instead) = without_vectors(column.cql_type) {
                sentences.push(vectors::left_out(self.name, column.name, column.cql_type, &instead));
            }
        }
        sentences
    }

    /// Returns a sentence for each index of a class that is not Cassandra's own.
    fn custom_indexes(&self) -> Vec<String> {
        let custom = self.indexes().filter(|index| index.kind == IndexKind::Custom);
        custom.map(|index| left_out::custom_index(self.name, index.name, &index.options)).collect()
    }

    /// Returns a defined column of a column family.
    fn column(
        &self,
        FoundColumn { name, cql_type, row }: FoundColumn<'_>,
        comparator: &str,
    ) -> ColumnRequest {
        let index = self.indexes().find(|index| index.is_on(name));
        let names_type = self.types.resolve(comparator);
        let bytes = names_type.and_then(|of| of.parse_text(name).ok());
        ColumnRequest {
            name: bytes.map_or_else(|| Bytes::from(name.to_owned().into_bytes()), Bytes::from),
            validation_class: self.class_of(cql_type, row),
            index_kind: index.as_ref().map(|index| index.kind),
            index_name: index.as_ref().map(|index| index.name.to_owned()),
            index_options: index.map(|index| index.options).filter(|options| !options.is_empty()),
        }
    }

    /// Returns the definition of a column family, with the names of its columns in CQL. `None` for a table of CQL.
    fn request(&self) -> Option<(CfRequest, CompactNames)> {
        let flags = self.row.frozen_texts("flags");
        let has = |flag: &str| flags.iter().any(|found| found == flag);
        if has("compound") && !has("dense") {
            return None;
        }
        let (keys, clustering, regular) =
            (self.of_kind("partition_key"), self.of_kind("clustering"), self.of_kind("regular"));
        let (comparator, subcomparator, value) = self.cell_classes(&flags, &clustering, &regular);
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
                [key] if key.name != "key" => Some(Bytes::from(key.name.to_owned().into_bytes())),
                _ => None,
            },
            columns: if has("dense") {
                Vec::new()
            } else {
                self.of_kind("static").into_iter().map(|column| self.column(column, &comparator)).collect()
            },
            settings: of_new_row(self.row),
            ..CfRequest::default()
        };
        let some = |columns: &[FoundColumn<'_>]| -> Vec<Option<String>> {
            columns.iter().map(|column| Some(column.name.to_owned())).collect()
        };
        let names = if has("dense") && !has("super") {
            CompactNames {
                partition_key: if keys.len() > 1 { some(&keys) } else { Vec::new() },
                clustering: some(&clustering),
                value: regular.first().map(|column| column.name.to_owned()),
            }
        } else {
            CompactNames::default()
        };
        Some((request, names))
    }

    fn classes(&self, columns: &[FoundColumn<'_>]) -> Vec<String> {
        columns.iter().map(|column| self.class_of(column.cql_type, column.row)).collect()
    }

    /// Returns the classes of names, of names in super columns, and of values.
    fn cell_classes(
        &self,
        flags: &[String],
        clustering: &[FoundColumn<'_>],
        regular: &[FoundColumn<'_>],
    ) -> (String, Option<String>, Option<String>) {
        let names = self.classes(clustering);
        if !flags.iter().any(|flag| flag == "super") {
            let value = regular.first().map(|column| self.class_of(column.cql_type, column.row));
            // A table without a value column has one of the empty type.
            return (joined(&names), None, value.filter(|class| !class.ends_with("EmptyType")));
        }
        let map = regular.iter().find_map(|column| Some((map_parts(column.cql_type)?, column.row)));
        let of_map = map.map(|((keys, values), row)| (self.class_of(keys, row), self.class_of(values, row)));
        let (keys, values) = of_map.unzip();
        // The map that these servers keep in a super column is in the ascending order of its keys.
        let within = names.get(1).cloned().or(keys).map(|class| unreversed(&class).0.to_owned());
        (names.first().cloned().unwrap_or_default(), within, values)
    }

    /// Returns the class of a type of CQL. A descending clustering column has a reversed type.
    fn class_of(&self, cql_type: &str, row: &SchemaRow) -> String {
        let class = self.class_of_text(cql_type).unwrap_or_else(|| "BytesType".to_owned());
        if is_descending(row) { format!("{PACKAGE}ReversedType({class})") } else { class }
    }

    fn class_of_text(&self, cql_type: &str) -> Option<String> {
        let keyspace = KeyspaceDef::new(&self.name.keyspace);
        let cql_type = type_of(cql_type, &TypeScope::of_existing(&keyspace, self.types))?;
        Some(cql_type.class_name())
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
}
