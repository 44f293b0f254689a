//! The schema of 0.7 to 1.0, in the table `system.Schema`: a row for each version that the schema has had.
//!
//! ```text
//!   row key                                  cell             value
//!   "e7ed2547-e842-11f1-b15a-e700f669bcfc"   Avro/Schema      the schema of the values beside it, as JSON
//!                                            Shop             the keyspace Shop with its column families, as Avro
//!                                            Blog             ...
//!   "Last Migration"                         Last Migration   the id of the present version, 16 bytes
//! ```
//!
//! The key of a version is a time UUID as text. Each change of the schema writes all keyspaces again into a new row, and old
//! rows are never deleted: a keyspace that was dropped is in these still. The row with the latest UUID is the schema. A server
//! reads the id of that row from `Last Migration`; the time of the UUID also finds it where that row is lost.

use std::collections::HashMap;

use bytes::Bytes;

use super::FoundSchema;
use super::avro::{AvroSchema, AvroValue};
use super::system_rows::{SchemaRow, SystemTables};
use crate::import::FamilyName;
use base::compat::features::{CF_FIELDS, FieldKind};
use base::schema::{IndexKind, Setting};
use db::{CfRequest, ColumnRequest, KsRequest};
use sstable::SstableError;

/// The table.
pub(super) const TABLE: &str = "Schema";
/// The cell with the schema of Avro.
const AVRO_SCHEMA: &str = "Avro/Schema";
/// The row, and its cell, with the id of the present version.
const LAST_MIGRATION: &str = "Last Migration";

/// The present version.
struct Version {
    id: String,
    /// The keyspaces by their names in the table.
    keyspaces: Vec<(String, AvroValue)>,
    /// The parts that are missing or cannot be read.
    missing: Vec<String>,
}

/// Reads the keyspaces. Returns false if the table has no schema.
pub(super) fn read(tables: &SystemTables<'_>, schema: &mut FoundSchema) -> Result<bool, SstableError> {
    let Some(version) = present_version(tables)? else { return Ok(false) };
    schema.missing.extend(version.missing);
    for (name, keyspace) in &version.keyspaces {
        match keyspace_of(keyspace) {
            Some(request) => schema.add_keyspace(request),
            None => {
                schema.missing.push(format!("keyspace {name} of version {}: it has no name", version.id));
            }
        }
    }
    Ok(true)
}

/// Returns the column families by their ids, by which the commit logs of these releases name them.
pub(super) fn family_ids(tables: &SystemTables<'_>) -> Result<HashMap<i32, FamilyName>, SstableError> {
    let keyspaces = present_version(tables)?.map(|version| version.keyspaces).unwrap_or_default();
    let mut ids = HashMap::new();
    for family in keyspaces.iter().flat_map(|(_, keyspace)| keyspace.field("cf_defs").list()) {
        let [keyspace, name] = ["keyspace", "name"].map(|field| family.field(field).text());
        if let (Some(id), Some(keyspace), Some(name)) = (family.field("id").int(), keyspace, name) {
            ids.insert(id, FamilyName { keyspace: keyspace.to_owned(), name: name.to_owned() });
        }
    }
    Ok(ids)
}

/// Reads the row of the latest version.
fn present_version(tables: &SystemTables<'_>) -> Result<Option<Version>, SstableError> {
    let rows = tables.plain_rows(TABLE)?;
    let versions = rows.iter().filter_map(|row| {
        let id = uuid::Uuid::try_parse(&row.keyspace).ok()?;
        Some(((id.get_timestamp()?.to_gregorian().0, id), row))
    });
    let last = rows.iter().find(|row| row.keyspace == LAST_MIGRATION);
    let last = last.and_then(|row| uuid::Uuid::from_slice(row.bytes(LAST_MIGRATION)?).ok());
    let mut missing = Vec::new();
    let Some(((_, id), row)) = versions.max_by_key(|(time, _)| *time) else {
        return Ok(None);
    };
    // A later row than the last migration belongs to a change that the server was writing when it ended.
    if let Some(last) = last
        && time_of(last) > time_of(id)
    {
        missing.push(format!(
            "the version {last} of the schema, which was the last one: {id} is read instead, and what was \
             changed in between is not known"
        ));
    }
    let mut version = Version { id: id.to_string(), keyspaces: Vec::new(), missing };
    version.read(row);
    Ok(Some(version))
}

fn time_of(id: uuid::Uuid) -> Option<u64> {
    Some(id.get_timestamp()?.to_gregorian().0)
}

impl Version {
    fn read(&mut self, row: &SchemaRow) {
        let of_row = |what: &str| format!("version {} of the schema: {what}", row.keyspace);
        let avro = row.text(AVRO_SCHEMA).ok_or_else(|| format!("the cell {AVRO_SCHEMA} is missing"));
        let avro = match avro.and_then(AvroSchema::parse) {
            Ok(avro) => avro,
            Err(why) => {
                return self.missing.push(of_row(&format!("its schema of Avro cannot be read: {why}")));
            }
        };
        for name in row.columns().filter(|name| *name != AVRO_SCHEMA) {
            match avro.decode(row.bytes(name).unwrap_or(&Bytes::new())) {
                Ok(keyspace) => self.keyspaces.push((name.to_owned(), keyspace)),
                Err(why) => self.missing.push(of_row(&format!("keyspace {name} cannot be read: {why}"))),
            }
        }
    }
}

fn owned(value: &AvroValue) -> Option<String> {
    value.text().map(str::to_owned)
}

fn keyspace_of(keyspace: &AvroValue) -> Option<KsRequest> {
    Some(KsRequest {
        name: owned(keyspace.field("name"))?,
        strategy_class: owned(keyspace.field("strategy_class"))
            .unwrap_or_else(|| "SimpleStrategy".to_owned()),
        strategy_options: keyspace.field("strategy_options").texts().unwrap_or_default(),
        replication_factor: keyspace.field("replication_factor").int(),
        durable_writes: keyspace.field("durable_writes").bool(),
        column_families: keyspace.field("cf_defs").list().iter().filter_map(family_of).collect(),
    })
}

fn family_of(family: &AvroValue) -> Option<CfRequest> {
    let text = |name: &str| owned(family.field(name));
    let columns = family.field("column_metadata").list();
    Some(CfRequest {
        keyspace: text("keyspace")?,
        name: text("name")?,
        column_type: text("column_type"),
        comparator_type: text("comparator_type"),
        subcomparator_type: text("subcomparator_type"),
        comment: text("comment"),
        gc_grace_seconds: family.field("gc_grace_seconds").int(),
        default_validation_class: text("default_validation_class"),
        key_validation_class: text("key_validation_class"),
        key_alias: family.field("key_alias").bytes().cloned(),
        id: family.field("id").int(),
        columns: columns.iter().filter_map(column_of).collect(),
        settings: CF_FIELDS
            .iter()
            .filter_map(|field| {
                Some((field.name.to_owned(), setting_of(family.field(field.name), field.kind)?))
            })
            .collect(),
    })
}

fn column_of(column: &AvroValue) -> Option<ColumnRequest> {
    Some(ColumnRequest {
        name: column.field("name").bytes()?.clone(),
        validation_class: owned(column.field("validation_class"))?,
        index_kind: column.field("index_type").text().and_then(IndexKind::of_name),
        index_name: owned(column.field("index_name")),
        index_options: column.field("index_options").texts(),
    })
}

/// Returns a setting that this server only shows to clients.
fn setting_of(value: &AvroValue, kind: FieldKind) -> Option<Setting> {
    match kind {
        FieldKind::Bool => value.bool().map(Setting::Bool),
        FieldKind::Int => value.int().map(Setting::Int),
        FieldKind::Double => value.double().map(Setting::Double),
        FieldKind::Text => owned(value).map(Setting::Text),
        FieldKind::Map => value.texts().map(Setting::Map),
    }
}
