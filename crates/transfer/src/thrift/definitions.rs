//! Definitions of keyspaces and column families for a server of 0.7 and later.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::value::{Fields, ThriftValue};
use base::schema::{CfDef, ColumnDef, IndexKind, KeyspaceDef, Setting};

/// The strategy option with the number of replicas, which 0.8 and later read.
const REPLICATION_FACTOR: &str = "replication_factor";

/// A call that changes the schema.
pub(super) struct SchemaCall {
    pub method: &'static str,
    pub arguments: Fields,
}

/// Returns the calls that create column families: one that creates their keyspace with all of them if it is new, else
/// one for each.
pub(super) fn calls(keyspace: &KeyspaceDef, families: &[Arc<CfDef>], is_new: bool) -> Vec<SchemaCall> {
    if is_new {
        let arguments = Fields(vec![(1, ks_def(keyspace, families))]);
        return vec![SchemaCall { method: "system_add_keyspace", arguments }];
    }
    let method = "system_add_column_family";
    families.iter().map(|cf| SchemaCall { method, arguments: Fields(vec![(1, cf_def(cf))]) }).collect()
}

/// Returns a KsDef. Field 4, the number of replicas, is required in 0.7 and optional later.
fn ks_def(keyspace: &KeyspaceDef, families: &[Arc<CfDef>]) -> ThriftValue {
    let mut options = keyspace.strategy_options.clone();
    let factor = keyspace.replication_factor.max(1);
    if options.is_empty() {
        options.insert(REPLICATION_FACTOR.to_owned(), factor.to_string());
    }
    ThriftValue::from([
        (1, keyspace.name.as_str().into()),
        (2, keyspace.modern_strategy_class().into()),
        (3, texts(&options)),
        (4, ThriftValue::Int(factor)),
        (5, ThriftValue::List(families.iter().map(|cf| cf_def(cf)).collect())),
        (6, ThriftValue::Bool(keyspace.durable_writes)),
    ])
}

/// Returns a CfDef, without the id: each server has its own.
fn cf_def(cf: &CfDef) -> ThriftValue {
    let mut fields: Vec<(i16, ThriftValue)> = vec![
        (1, cf.keyspace.as_str().into()),
        (2, cf.name.as_str().into()),
        (3, cf.type_name().into()),
        (5, cf.comparator.class_name().into()),
    ];
    fields.extend(cf.subcomparator().map(|of| (6, of.class_name().into())));
    fields.extend(cf.comment.as_deref().map(|comment| (8, comment.into())));
    if !cf.column_metadata.is_empty() {
        fields.push((13, ThriftValue::List(cf.column_metadata.values().map(column_def).collect())));
    }
    fields.push((14, ThriftValue::Int(cf.gc_grace_s)));
    fields.push((15, cf.default_validator.class_name().into()));
    fields.extend(cf.key_validator.as_ref().map(|of| (26, of.class_name().into())));
    fields.extend(cf.key_alias.as_ref().map(|alias| (28, ThriftValue::Bytes(alias.clone()))));
    for (name, setting) in &cf.settings {
        fields.extend(Setting::field_named(name).map(|field| (field.id, value_of(setting))));
    }
    ThriftValue::Struct(Fields(fields))
}

/// Returns a ColumnDef.
fn column_def(column: &ColumnDef) -> ThriftValue {
    let mut fields: Vec<(i16, ThriftValue)> =
        vec![(1, ThriftValue::Bytes(column.name.clone())), (2, column.validator.class_name().into())];
    if let Some(index) = &column.index {
        let kind = match index.kind {
            IndexKind::Keys => 0,
            IndexKind::Custom => 1,
            IndexKind::Composites => 2,
        };
        fields.push((3, ThriftValue::Int(kind)));
        fields.extend(index.name.as_deref().map(|name| (4, name.into())));
        fields.extend(index.options.as_ref().map(|options| (5, texts(options))));
    }
    ThriftValue::Struct(Fields(fields))
}

fn value_of(setting: &Setting) -> ThriftValue {
    match setting {
        Setting::Bool(value) => ThriftValue::Bool(*value),
        Setting::Int(value) => ThriftValue::Int(*value),
        Setting::Double(value) => ThriftValue::Double(*value),
        Setting::Text(value) => value.as_str().into(),
        Setting::Map(value) => texts(value),
    }
}

fn texts(map: &BTreeMap<String, String>) -> ThriftValue {
    let pairs = map.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into()));
    ThriftValue::Map(pairs.collect())
}
