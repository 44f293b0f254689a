//! The schema tables of 1.2 to 2.2.
//!
//! ```text
//!   comparator CompositeType(A, B, UTF8Type), column_aliases [a, b]      a table of CQL: cells are named a : b : column
//!   .. with ColumnToCollectionType at the end                            .. with collections
//!   any other comparator                                                a column family: cells have names of their own
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bytes::Bytes;

use super::cql_table::{CqlTable, FoundDrop};
use super::system_rows::{SchemaRow, SystemTables, by_family};
use super::table_settings::of_old_row;
use super::table_statement::TableStatement;
use super::{FoundSchema, left_out};
use crate::import::FamilyName;
use base::marshal::{CqlType, Types, composite_parts, split_class, unreversed};
use base::schema::table_types::collections_of_class;
use base::schema::{CompactNames, IndexKind, name_text};
use db::{CfRequest, ColumnRequest, KsRequest};
use sstable::SstableError;

/// The table of the column families.
pub(super) const FAMILIES: &str = "schema_columnfamilies";

/// Reads the tables. Returns false if there are none.
pub(super) fn read(
    tables: &SystemTables<'_>,
    types: &Types,
    schema: &mut FoundSchema,
) -> Result<bool, SstableError> {
    if !tables.has("schema_keyspaces") && !tables.has(FAMILIES) {
        return Ok(false);
    }
    for row in tables.plain_rows("schema_keyspaces")? {
        schema.add_keyspace(keyspace_of(&row));
    }
    for row in tables.rows("schema_usertypes", 1)? {
        schema.types.extend(type_of(&row));
    }
    let columns = by_family(tables.rows("schema_columns", 2)?);
    for (name, rows) in by_family(tables.rows(FAMILIES, 1)?) {
        let Some(row) = rows.first().filter(|_| schema.accepts(&name)) else { continue };
        let columns = columns.get(&name).map_or(&[][..], Vec::as_slice);
        let family = OldTable { row, name: &name, columns };
        schema.ids.extend(row.id("cf_id").map(|id| (name.clone(), id)));
        match family.clustering_classes() {
            Some(clustering) => {
                schema.left_out.extend(family.custom_indexes());
                schema.tables.push(family.table(&clustering));
            }
            None => schema.add_family(family.request(types), family.names()),
        }
    }
    left_out::read_old(tables, schema)?;
    Ok(true)
}

/// Returns the column families by their ids, by which the commit logs of 1.1 name them.
pub(super) fn family_ids(tables: &SystemTables<'_>) -> Result<HashMap<i32, FamilyName>, SstableError> {
    let families = by_family(tables.rows(FAMILIES, 1)?).into_iter();
    Ok(families.filter_map(|(name, rows)| Some((rows.first()?.int("id")?, name))).collect())
}

fn keyspace_of(row: &SchemaRow) -> KsRequest {
    let options = row.text("strategy_options").and_then(|json| serde_json::from_str(json).ok());
    KsRequest {
        name: row.keyspace.clone(),
        strategy_class: row.text("strategy_class").unwrap_or("SimpleStrategy").to_owned(),
        strategy_options: options.unwrap_or_default(),
        durable_writes: row.boolean("durable_writes"),
        ..KsRequest::default()
    }
}

fn type_of(row: &SchemaRow) -> Option<(FamilyName, String)> {
    let [name] = &row.clustering[..] else { return None };
    let types = row.elements("field_types");
    let fields = row.elements("field_names").into_iter().zip(&types);
    let fields: Vec<String> =
        fields.map(|(field, class)| format!("{} {}", name_text(&field), cql_text(class))).collect();
    let place = FamilyName { keyspace: row.keyspace.clone(), name: name.clone() };
    let (keyspace, name) = (name_text(&row.keyspace), name_text(name));
    Some((place, format!("CREATE TYPE {keyspace}.{name} ({})", fields.join(", "))))
}

/// Returns the type of a class in CQL. Timestamps of 1.2 and earlier sort differently from those of CQL, which has no name for
/// them: they stay a class, also in collections. User types are newer.
fn cql_text(class: &str) -> String {
    let (class, _) = unreversed(class);
    let mut words = class.split(|character: char| !character.is_ascii_alphanumeric());
    if words.any(|word| word == "DateType") && !class.contains("UserType") {
        return format!("'{class}'");
    }
    CqlType::of_class(class).to_string()
}

/// Returns the options of an index.
fn index_options(row: &SchemaRow) -> BTreeMap<String, String> {
    row.text("index_options").and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}

fn is_frozen_collection(class: &str) -> bool {
    CqlType::of_class(class).is_frozen_collection()
}

/// Returns the names of key columns: their aliases, or those that CQL gives them.
fn names_of(aliases: &[String], usual: &str, count: usize) -> Vec<String> {
    let mut names: Vec<String> = aliases.iter().take(count).cloned().collect();
    for at in names.len()..count {
        names.push(match (usual, at) {
            ("key", 0) => "key".to_owned(),
            _ => format!("{usual}{}", at + 1),
        });
    }
    names
}

/// A row of schema_columnfamilies with its rows of schema_columns.
struct OldTable<'a> {
    row: &'a SchemaRow,
    name: &'a FamilyName,
    columns: &'a [SchemaRow],
}

impl OldTable<'_> {
    /// Returns the classes of the clustering columns of a table of CQL. `None` for a column family.
    fn clustering_classes(&self) -> Option<Vec<String>> {
        let mut parts = composite_parts(self.row.text("comparator")?)?;
        if parts.last().is_some_and(|last| split_class(last).0 == "ColumnToCollectionType") {
            parts.pop();
        } else if self.row.boolean("is_dense") == Some(true) {
            return None;
        }
        let is_text = parts.pop().is_some_and(|last| split_class(last).0 == "UTF8Type");
        let aliases = self.column_aliases().len();
        (is_text && (aliases == parts.len() || !self.columns.is_empty()))
            .then(|| parts.into_iter().map(str::to_owned).collect())
    }

    fn key_classes(&self) -> Vec<String> {
        let class = self.row.text("key_validator").unwrap_or("BytesType");
        match composite_parts(class) {
            Some(parts) => parts.into_iter().map(str::to_owned).collect(),
            None => vec![class.to_owned()],
        }
    }

    /// Returns the names of the columns of the row key in CQL, as far as they were given.
    fn key_aliases(&self) -> Vec<String> {
        let several = self.row.json_texts("key_aliases");
        // 1.1 has one.
        let only = self.row.text("key_alias").map(str::to_owned);
        match several.is_empty() {
            true if only.is_some() => only.into_iter().collect(),
            true => self.names_of_kind("partition_key"),
            false => several,
        }
    }

    /// Returns the names of the clustering columns, as far as they were given.
    fn column_aliases(&self) -> Vec<String> {
        let aliases = self.row.json_texts("column_aliases");
        if aliases.is_empty() { self.names_of_kind("clustering_key") } else { aliases }
    }

    /// Returns the names of the columns of a kind by their places. 2.0 and later have them; 2.2 has them only here.
    fn names_of_kind(&self, kind: &str) -> Vec<String> {
        let mut found: Vec<&SchemaRow> =
            self.columns.iter().filter(|row| row.text("type") == Some(kind)).collect();
        found.sort_by_key(|row| row.int("component_index"));
        found.into_iter().filter_map(|row| row.clustering.get(1).cloned()).collect()
    }

    /// Returns a table of CQL.
    fn table(&self, clustering: &[String]) -> CqlTable {
        let keys = self.key_classes();
        let key_names = names_of(&self.key_aliases(), "key", keys.len());
        let clustering_names = names_of(&self.column_aliases(), "column", clustering.len());
        let mut table = TableStatement {
            keyspace: self.name.keyspace.clone(),
            name: self.name.name.clone(),
            gc_grace_s: self.row.int("gc_grace_seconds"),
            ..TableStatement::default()
        };
        for (name, class) in key_names.iter().zip(&keys).chain(clustering_names.iter().zip(clustering)) {
            table.add(name, &cql_text(class), false);
        }
        let of_keys: BTreeSet<&String> = key_names.iter().chain(&clustering_names).collect();
        let mut indexes = Vec::new();
        for row in self.columns {
            let Some(name) = row.clustering.get(1).filter(|name| !of_keys.contains(name)) else { continue };
            let class = row.text("validator").unwrap_or("BytesType");
            table.add(name, &cql_text(class), row.text("type") == Some("static"));
            if let Some(index) = row.text("index_name")
                && row.text("index_type") != Some("CUSTOM")
            {
                let options = index_options(row);
                let target = match name_text(name) {
                    name if options.contains_key("index_keys") => format!("keys({name})"),
                    name if options.contains_key("index_keys_and_values") => format!("entries({name})"),
                    name if is_frozen_collection(class) => format!("full({name})"),
                    name => name,
                };
                indexes.push(format!("CREATE INDEX {} ON {} ({target})", name_text(index), table.table()));
            }
        }
        let are_descending = clustering.iter().map(|class| unreversed(class).1);
        table.clustering = clustering_names.into_iter().zip(are_descending).collect();
        table.keys = key_names;
        CqlTable {
            statement: table,
            comment: self.row.text("comment").map(str::to_owned),
            settings: of_old_row(self.row),
            dropped: self.dropped(),
            indexes,
        }
    }

    /// Returns the columns that were dropped. Only collections have a type, in the comparator.
    fn dropped(&self) -> Vec<FoundDrop> {
        let collections = collections_of_class(self.row.text("comparator").unwrap_or_default());
        let mut dropped = Vec::new();
        for (name, at_us) in self.row.longs("dropped_columns") {
            let known = collections.iter().find(|(known, _)| *known == name.as_bytes());
            let cql_type = known.map(|(_, cql_type)| cql_type.to_string());
            dropped.push(FoundDrop { name, cql_type, is_static: false, at_us });
        }
        dropped
    }

    /// Returns a sentence for each index of a class that is not Cassandra's own.
    fn custom_indexes(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for row in self.columns.iter().filter(|row| row.text("index_type") == Some("CUSTOM")) {
            let index = row.text("index_name").unwrap_or_default();
            sentences.push(left_out::custom_index(self.name, index, &index_options(row)));
        }
        sentences
    }

    /// Returns the definition of a column family.
    fn request(&self, types: &Types) -> CfRequest {
        let text = |column: &str| self.row.text(column).map(str::to_owned);
        let is_super = self.row.text("type") == Some("Super");
        let names = if is_super { text("subcomparator") } else { text("comparator") };
        let comparator = names.and_then(|class| types.resolve(&class));
        let mut columns = Vec::new();
        for row in self.columns {
            let kind = row.text("type").unwrap_or("regular");
            let (Some(name), "regular" | "static") = (row.clustering.get(1), kind) else { continue };
            let parsed = comparator.as_ref().and_then(|of| of.parse_text(name).ok());
            columns.push(ColumnRequest {
                name: parsed.map_or_else(|| Bytes::from(name.clone().into_bytes()), Bytes::from),
                validation_class: row.text("validator").unwrap_or("BytesType").to_owned(),
                index_kind: row.text("index_type").and_then(IndexKind::of_name),
                index_name: row.text("index_name").map(str::to_owned),
                index_options: Some(index_options(row)).filter(|options| !options.is_empty()),
            });
        }
        let key_alias = match &self.key_aliases()[..] {
            [only] if only != "key" => Some(Bytes::from(only.clone().into_bytes())),
            _ => None,
        };
        CfRequest {
            keyspace: self.name.keyspace.clone(),
            name: self.name.name.clone(),
            column_type: text("type"),
            comparator_type: text("comparator"),
            subcomparator_type: text("subcomparator").filter(|_| is_super),
            comment: text("comment"),
            gc_grace_seconds: self.row.int("gc_grace_seconds"),
            default_validation_class: text("default_validator"),
            key_validation_class: text("key_validator"),
            key_alias,
            columns,
            settings: of_old_row(self.row),
            ..CfRequest::default()
        }
    }

    /// Returns the names of a column family's columns in CQL.
    fn names(&self) -> CompactNames {
        let some = |names: Vec<String>| names.into_iter().map(Some).collect::<Vec<_>>();
        let keys = some(self.key_aliases());
        CompactNames {
            partition_key: if keys.len() > 1 { keys } else { Vec::new() },
            clustering: some(self.column_aliases()),
            value: self
                .row
                .text("value_alias")
                .map(str::to_owned)
                .or_else(|| self.names_of_kind("compact_value").into_iter().next()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_of_1_2_keep_their_class() {
        let package = base::marshal::PACKAGE;
        for (class, text) in [
            (format!("{package}DateType"), format!("'{package}DateType'")),
            (format!("{package}ReversedType({package}DateType)"), format!("'{package}DateType'")),
            (
                format!("{package}SetType({package}DateType)"),
                format!("'{package}SetType({package}DateType)'"),
            ),
            (format!("{package}TimestampType"), "timestamp".to_owned()),
            (format!("{package}SimpleDateType"), "date".to_owned()),
        ] {
            assert_eq!(cql_text(&class), text);
        }
    }
}
