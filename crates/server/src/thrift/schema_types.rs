//! Reads and writes the schema structs of the API: KsDef, CfDef and ColumnDef (0.7 and later).
//!
//! Reading accepts the fields of all releases, whatever the release of the call. Writing uses only the fields that the
//! release has.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use super::types::{fields, list, map, missing};
use crate::thrift::failure::Result;
use base::compat::Behaviour;
use base::compat::features::{CF_FIELDS, CfField, FieldKind};
use base::compat::rules::{ColumnOrder, KeyAlias};
use base::marshal::{CollectionKind, CollectionType, TypeRef, composite_parts};
use base::schema::{CfDef, ColumnDef, IndexKind, KeyspaceDef, Setting};
use base::util::{Release, sort_in_copied_map, sort_in_grown_map};
use db::{CfRequest, ColumnRequest, KsRequest};
use wire::thrift::{Reader, TType, Writer};

fn text(reader: &mut Reader<'_>) -> Result<String> {
    Ok(String::from_utf8_lossy(&reader.bytes()?).into_owned())
}

fn text_map(reader: &mut Reader<'_>) -> Result<BTreeMap<String, String>> {
    let pairs = map(reader, TType::String, text)?;
    Ok(pairs.into_iter().map(|(key, value)| (String::from_utf8_lossy(&key).into_owned(), value)).collect())
}

/// Reads a KsDef.
pub(super) fn keyspace(reader: &mut Reader<'_>) -> Result<KsRequest> {
    let mut request = KsRequest::default();
    let (mut name, mut class, mut families) = (None, None, None);
    fields!(reader, {
        (1, TType::String) => name = Some(text(reader)?),
        (2, TType::String) => class = Some(text(reader)?),
        (3, TType::Map) => request.strategy_options = text_map(reader)?,
        (4, TType::I32) => request.replication_factor = Some(reader.i32()?),
        (5, TType::List) => families = Some(list(reader, TType::Struct, column_family)?),
        (6, TType::Bool) => request.durable_writes = Some(reader.bool()?),
    });
    let Some(name) = name else { return missing("name", "KsDef") };
    let Some(strategy_class) = class else { return missing("strategy_class", "KsDef") };
    let Some(column_families) = families else { return missing("cf_defs", "KsDef") };
    Ok(KsRequest { name, strategy_class, column_families, ..request })
}

/// Reads a CfDef.
pub(super) fn column_family(reader: &mut Reader<'_>) -> Result<CfRequest> {
    let mut request = CfRequest::default();
    let (mut keyspace, mut name) = (None, None);
    while let Some((ttype, id)) = reader.field_begin()? {
        match (id, ttype) {
            (1, TType::String) => keyspace = Some(text(reader)?),
            (2, TType::String) => name = Some(text(reader)?),
            (3, TType::String) => request.column_type = Some(text(reader)?),
            (5, TType::String) => request.comparator_type = Some(text(reader)?),
            (6, TType::String) => request.subcomparator_type = Some(text(reader)?),
            (8, TType::String) => request.comment = Some(text(reader)?),
            (13, TType::List) => request.columns = list(reader, TType::Struct, column)?,
            (14, TType::I32) => request.gc_grace_seconds = Some(reader.i32()?),
            (15, TType::String) => request.default_validation_class = Some(text(reader)?),
            (16, TType::I32) => request.id = Some(reader.i32()?),
            (26, TType::String) => request.key_validation_class = Some(text(reader)?),
            (28, TType::String) => request.key_alias = Some(reader.bytes()?),
            _ => match setting(reader, id, ttype)? {
                Some((name, setting)) => {
                    request.settings.insert(name.to_owned(), setting);
                }
                None => reader.skip(ttype)?,
            },
        }
    }
    let Some(keyspace) = keyspace else { return missing("keyspace", "CfDef") };
    let Some(name) = name else { return missing("name", "CfDef") };
    Ok(CfRequest { keyspace, name, ..request })
}

/// Reads a setting that is stored without effect. `None` if the field is not such a setting; then nothing is read.
fn setting(reader: &mut Reader<'_>, id: i16, ttype: TType) -> Result<Option<(&'static str, Setting)>> {
    let Some(CfField { name, kind, .. }) = Setting::field(id) else { return Ok(None) };
    let setting = match (kind, ttype) {
        (FieldKind::Bool, TType::Bool) => Setting::Bool(reader.bool()?),
        (FieldKind::Int, TType::I32) => Setting::Int(reader.i32()?),
        (FieldKind::Double, TType::Double) => Setting::Double(reader.f64()?),
        (FieldKind::Text, TType::String) => Setting::Text(text(reader)?),
        (FieldKind::Map, TType::Map) => Setting::Map(text_map(reader)?),
        _ => return Ok(None),
    };
    Ok(Some((name, setting)))
}

fn column(reader: &mut Reader<'_>) -> Result<ColumnRequest> {
    let (mut name, mut class, mut index_kind) = (None, None, None);
    let (mut index_name, mut index_options) = (None, None);
    fields!(reader, {
        (1, TType::String) => name = Some(reader.bytes()?),
        (2, TType::String) => class = Some(text(reader)?),
        (3, TType::I32) => index_kind = IndexKind::from_repr(reader.i32()?),
        (4, TType::String) => index_name = Some(text(reader)?),
        (5, TType::Map) => index_options = Some(text_map(reader)?),
    });
    let Some(name) = name else { return missing("name", "ColumnDef") };
    let Some(validation_class) = class else { return missing("validation_class", "ColumnDef") };
    Ok(ColumnRequest { name, validation_class, index_kind, index_name, index_options })
}

fn write_text_map(writer: &mut Writer<'_>, id: i16, options: &BTreeMap<String, String>) {
    writer.field_map(id, TType::String, TType::String, options.len());
    for (name, value) in options {
        writer.bytes(name.as_bytes());
        writer.bytes(value.as_bytes());
    }
}

/// Writes a KsDef with its stop. Field 4 is written for all releases: 0.7 requires it, later clients treat it as
/// optional or skip it.
pub(super) fn write_keyspace(writer: &mut Writer<'_>, keyspace: &KeyspaceDef, release: Release) {
    let rules = &Behaviour::of(release).schema;
    writer.field_string(1, keyspace.name.as_bytes());
    writer.field_string(2, keyspace.modern_strategy_class().as_bytes());
    let mut options = keyspace.strategy_options.clone();
    if rules.replication_is_an_option && keyspace.is_configured {
        options.insert("replication_factor".to_owned(), keyspace.replication_factor.to_string());
    }
    if !rules.replication_is_an_option {
        options.remove("replication_factor");
    }
    if rules.replication_is_an_option || !options.is_empty() {
        write_text_map(writer, 3, &options);
    }
    writer.field_i32(4, keyspace.replication_factor);
    writer.field_list(5, TType::Struct, keyspace.column_families.len());
    for cf in keyspace.column_families.values() {
        write_column_family(writer, cf, release);
    }
    if rules.shows_durable_writes {
        writer.field_bool(6, keyspace.durable_writes);
    }
    writer.stop();
}

fn write_column_family(writer: &mut Writer<'_>, cf: &CfDef, release: Release) {
    writer.field_string(1, cf.keyspace.as_bytes());
    writer.field_string(2, cf.name.as_bytes());
    writer.field_string(3, cf.type_name().as_bytes());
    writer.field_string(5, cf.comparator.class_name().as_bytes());
    if let Some(subcomparator) = cf.subcomparator() {
        writer.field_string(6, subcomparator.class_name().as_bytes());
    }
    let rules = &Behaviour::of(release).schema;
    writer.field_string(8, cf.comment.as_deref().unwrap_or_default().as_bytes());
    let of_super = if rules.supers_show_columns { columns_of_super(cf) } else { Vec::new() };
    let mut columns: Vec<&ColumnDef> = of_super.iter().chain(cf.column_metadata.values()).collect();
    writer.field_list(13, TType::Struct, columns.len());
    match rules.column_order {
        ColumnOrder::ByName => {}
        ColumnOrder::InCopiedMap => sort_in_copied_map(&mut columns, |column| &column.name),
        ColumnOrder::InGrownMap => sort_in_grown_map(&mut columns, |column| &column.name),
    }
    for column in columns {
        write_column(writer, column, release);
    }
    writer.field_i32(14, cf.gc_grace_s);
    writer.field_string(15, cf.default_validator.class_name().as_bytes());
    if rules.shows_family_id {
        writer.field_i32(16, cf.id);
    }
    if rules.shows_key {
        let bytes_type = "org.apache.cassandra.db.marshal.BytesType";
        let key_validator = cf.key_validator.as_ref().map_or(bytes_type, |validator| validator.class_name());
        writer.field_string(26, key_validator.as_bytes());
        write_key_alias(writer, cf, rules.key_alias);
    }
    for field in CF_FIELDS {
        if let Some(value) = Setting::shown(field, &cf.settings, release) {
            write_setting(writer, field.id, &value);
        }
    }
    if rules.shows_triggers {
        // Triggers, which this server does not support.
        writer.field_list(43, TType::Struct, 0);
    }
    writer.stop();
}

/// Returns the columns that the CQL table of a Super column family has in 3.0 and later.
fn columns_of_super(cf: &CfDef) -> Vec<ColumnDef> {
    let Some(names) = cf.subcomparator() else { return Vec::new() };
    let value = &cf.default_validator;
    let map = CollectionType::new(CollectionKind::Map, &[names.clone(), value.clone()], false);
    let column = |name: &'static str, validator: TypeRef| ColumnDef {
        name: Bytes::from_static(name.as_bytes()),
        validator,
        index: None,
    };
    vec![column("", Arc::new(map)), column("value", value.clone())]
}

/// Writes the name of the row key in CQL.
fn write_key_alias(writer: &mut Writer<'_>, cf: &CfDef, rule: KeyAlias) {
    let columns = cf.key_validator.as_ref().and_then(|validator| composite_parts(validator.class_name()));
    if rule.needs_plain_key && columns.as_ref().is_some_and(|columns| columns.len() > 1) {
        return;
    }
    let is_used = !rule.needs_plain_key || cf.key_validator.is_some() && columns.is_none();
    let alias = cf.key_alias.as_deref().filter(|_| is_used);
    if let Some(alias) = alias.or(rule.default) {
        writer.field_string(28, alias);
    }
}

fn write_setting(writer: &mut Writer<'_>, id: i16, setting: &Setting) {
    match setting {
        Setting::Bool(value) => writer.field_bool(id, *value),
        Setting::Int(value) => writer.field_i32(id, *value),
        Setting::Double(value) => writer.field_f64(id, *value),
        Setting::Text(value) => writer.field_string(id, value.as_bytes()),
        Setting::Map(value) => write_text_map(writer, id, value),
    }
}

fn write_column(writer: &mut Writer<'_>, column: &ColumnDef, release: Release) {
    writer.field_string(1, &column.name);
    writer.field_string(2, column.validator.class_name().as_bytes());
    if let Some(index) = &column.index {
        writer.field_i32(3, index.kind as i32);
        if let Some(name) = &index.name {
            writer.field_string(4, name.as_bytes());
        }
        if let (true, Some(options)) = (Behaviour::of(release).schema.shows_index_options, &index.options) {
            write_text_map(writer, 5, options);
        }
    }
    writer.stop();
}
