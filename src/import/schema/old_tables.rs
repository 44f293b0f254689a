//! The schema tables of 1.2 to 2.2.
//!
//! ```text
//!   comparator CompositeType(A, B, UTF8Type), column_aliases [a, b]      a table of CQL: cells are named a : b : column
//!   .. with ColumnToCollectionType at the end                            .. with collections
//!   any other comparator                                                a column family: cells have names of their own
//! ```

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bytes::Bytes;

use super::FoundSchema;
use super::system_rows::{SystemRow, read as read_rows};
use super::table_statement::TableStatement;
use crate::cql::values::name_text;
use crate::db::{CfRequest, ColumnRequest, KsRequest};
use crate::import::inventory::{FamilyName, FoundTable, is_system};
use crate::marshal::{CqlType, Types, composite_parts, split_class, unreversed};
use crate::schema::{CompactNames, IndexKind};
use crate::sstable::SstableError;

/// Reads the tables; `tables` returns the SSTables of one of them. Returns false if there are none.
pub fn read<'a>(
    tables: impl Fn(&str) -> &'a [FoundTable],
    types: &Types,
    schema: &mut FoundSchema,
) -> Result<bool, SstableError> {
    let mut keyspaces: BTreeMap<String, KsRequest> = BTreeMap::new();
    if ["schema_keyspaces", "schema_columnfamilies"].iter().all(|name| tables(name).is_empty()) {
        return Ok(false);
    }
    for row in read_rows(tables("schema_keyspaces"), 0, true)? {
        if !is_system(&row.keyspace) {
            keyspaces.insert(row.keyspace.clone(), keyspace_of(&row));
        }
    }
    for row in read_rows(tables("schema_usertypes"), 1, false)? {
        schema.types.extend(type_of(&row));
    }
    let mut columns: BTreeMap<(String, String), Vec<SystemRow>> = BTreeMap::new();
    for row in read_rows(tables("schema_columns"), 2, false)? {
        let [family, _] = &row.clustering[..] else { continue };
        columns.entry((row.keyspace.clone(), family.clone())).or_default().push(row);
    }
    for row in read_rows(tables("schema_columnfamilies"), 1, false)? {
        let [name] = &row.clustering[..] else { continue };
        let Some(keyspace) = keyspaces.get_mut(&row.keyspace) else { continue };
        let place = (row.keyspace.clone(), name.clone());
        let family = Family { row: &row, name, columns: columns.get(&place).map_or(&[], Vec::as_slice) };
        match family.clustering_classes() {
            Some(clustering) => schema.statements.extend(family.statements(&clustering)),
            None => {
                keyspace.column_families.push(family.request(types));
                let place = FamilyName { keyspace: row.keyspace.clone(), name: name.clone() };
                schema.names.push((place, family.names()));
            }
        }
    }
    schema.keyspaces.extend(keyspaces.into_values());
    Ok(true)
}

/// Returns the column families by their ids, by which the commit logs of 1.1 name them.
pub fn family_ids(tables: &[FoundTable]) -> Result<HashMap<i32, FamilyName>, SstableError> {
    let mut found = HashMap::new();
    for row in read_rows(tables, 1, false)? {
        if let ([name], Some(id)) = (&row.clustering[..], row.int("id")) {
            found.insert(id, FamilyName { keyspace: row.keyspace.clone(), name: name.clone() });
        }
    }
    Ok(found)
}

fn keyspace_of(row: &SystemRow) -> KsRequest {
    let options = row.text("strategy_options").and_then(|json| serde_json::from_str(json).ok());
    KsRequest {
        name: row.keyspace.clone(),
        strategy_class: row.text("strategy_class").unwrap_or("SimpleStrategy").to_owned(),
        strategy_options: options.unwrap_or_default(),
        durable_writes: row.boolean("durable_writes"),
        ..KsRequest::default()
    }
}

fn type_of(row: &SystemRow) -> Option<String> {
    let [name] = &row.clustering[..] else { return None };
    let types = row.elements("field_types");
    let fields = row.elements("field_names").into_iter().zip(&types);
    let fields: Vec<String> =
        fields.map(|(field, class)| format!("{} {}", name_text(&field), cql_text(class))).collect();
    let (keyspace, name) = (name_text(&row.keyspace), name_text(name));
    Some(format!("CREATE TYPE {keyspace}.{name} ({})", fields.join(", ")))
}

/// Returns the type of a class in CQL.
fn cql_text(class: &str) -> String {
    CqlType::of_class(unreversed(class).0).to_string()
}

/// A row of schema_columnfamilies with those of schema_columns.
struct Family<'a> {
    row: &'a SystemRow,
    name: &'a str,
    columns: &'a [SystemRow],
}

impl Family<'_> {
    /// Returns the classes of the clustering columns of a table of CQL. `None` for a column family.
    fn clustering_classes(&self) -> Option<Vec<String>> {
        let mut parts = composite_parts(self.row.text("comparator")?)?;
        if parts.last().is_some_and(|last| split_class(last).0 == "ColumnToCollectionType") {
            parts.pop();
        } else if self.row.boolean("is_dense") == Some(true) {
            return None;
        }
        let is_text = parts.pop().is_some_and(|last| split_class(last).0 == "UTF8Type");
        let aliases = self.row.json_texts("column_aliases").len();
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

    /// Returns the names of key columns: their aliases, or those that CQL gives them.
    fn key_names(&self, column: &str, usual: &str, count: usize) -> Vec<String> {
        let aliases = self.row.json_texts(column);
        let name = |at: usize| match (aliases.get(at), usual, at) {
            (Some(alias), ..) => alias.clone(),
            (None, "key", 0) => "key".to_owned(),
            (None, usual, at) => format!("{usual}{}", at + 1),
        };
        (0..count).map(name).collect()
    }

    /// Returns the statements that create a table of CQL and its indexes.
    fn statements(&self, clustering: &[String]) -> Vec<String> {
        let keys = self.key_classes();
        let key_names = self.key_names("key_aliases", "key", keys.len());
        let clustering_names = self.key_names("column_aliases", "column", clustering.len());
        let mut table = TableStatement {
            keyspace: self.row.keyspace.clone(),
            name: self.name.to_owned(),
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
            if let Some(index) = row.text("index_name") {
                let is_of_keys =
                    row.text("index_options").is_some_and(|json| json.contains("\"index_keys\""));
                let target = if is_of_keys { format!("keys({})", name_text(name)) } else { name_text(name) };
                indexes.push(format!("CREATE INDEX {} ON {} ({target})", name_text(index), table.table()));
            }
        }
        let is_descending = |class: &String| unreversed(class).1;
        table.clustering = clustering_names.into_iter().zip(clustering.iter().map(is_descending)).collect();
        table.keys = key_names;
        std::iter::once(table.to_string()).chain(indexes).collect()
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
                index_options: None,
            });
        }
        let key_alias = match &self.row.json_texts("key_aliases")[..] {
            [only] => Some(Bytes::from(only.clone().into_bytes())),
            _ => None,
        };
        CfRequest {
            keyspace: self.row.keyspace.clone(),
            name: self.name.to_owned(),
            column_type: text("type"),
            comparator_type: text("comparator"),
            subcomparator_type: text("subcomparator").filter(|_| is_super),
            comment: text("comment"),
            gc_grace_seconds: self.row.int("gc_grace_seconds"),
            default_validation_class: text("default_validator"),
            key_validation_class: text("key_validator"),
            key_alias,
            columns,
            ..CfRequest::default()
        }
    }

    /// Returns the names of a column family's columns in CQL.
    fn names(&self) -> CompactNames {
        let some = |column: &str| self.row.json_texts(column).into_iter().map(Some).collect::<Vec<_>>();
        let keys = some("key_aliases");
        CompactNames {
            partition_key: if keys.len() > 1 { keys } else { Vec::new() },
            clustering: some("column_aliases"),
            value: self.row.text("value_alias").map(str::to_owned),
        }
    }
}
