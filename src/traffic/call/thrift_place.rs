//! Finds the row of the method table that a recorded call is of, and the keyspace and column family in its arguments.

use std::collections::BTreeSet;

use super::super::value::{Fields, Value};
use super::Effect;
use crate::compat::features::ApiGeneration;
use crate::thrift::frame::Transport;
use crate::thrift::methods::{Method, named};
use crate::thrift::wire::TType;
use crate::util::meter::RequestKind;

/// Where a call reads or writes.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ThriftPlace {
    pub keyspace: Option<String>,
    pub family: Option<String>,
}

/// Returns the row of a call among those of its name whose arguments have the call's types: that of the generation of
/// the connection, or else of the generation that most clients with the transport have. Also returns whether only one
/// generation has such a call.
pub fn row_of(
    name: &[u8],
    fields: &Fields,
    generation: Option<ApiGeneration>,
    transport: Transport,
) -> Option<(&'static Method, bool)> {
    let fits = |method: &&&Method| {
        method.args.iter().all(|arg| fields.get(&arg.id).is_none_or(|value| value.ttype() == arg.ttype))
    };
    let likelier = generation.unwrap_or(match transport {
        Transport::Framed => ApiGeneration::AfterSetKeyspace,
        Transport::Unframed => ApiGeneration::WithKeyspace,
    });
    let rows = || named(name).iter().filter(fits);
    let of_generation = rows().rfind(|method| method.generation() == likelier);
    let row = of_generation.or_else(|| rows().next_back()).copied()?;
    let is_only = rows().all(|method| method.generation() == row.generation());
    Some((row, is_only))
}

/// Returns what a call does. `verb` is the effect of its statement, if it has one.
pub fn effect_of(method: &Method, statement: Option<Effect>) -> Effect {
    match (statement, method.kind) {
        (Some(effect), _) => effect,
        (None, Some(RequestKind::Write | RequestKind::Truncate)) => Effect::Write,
        (None, Some(RequestKind::Read | RequestKind::Range)) => Effect::Read,
        (None, None) if method.name.starts_with("system_") => Effect::Write,
        (None, None) => Effect::Session,
    }
}

/// Returns the keyspace and the column family that the arguments name.
pub fn place_of(method: &Method, fields: &Fields) -> ThriftPlace {
    let mut place = ThriftPlace::default();
    let mut families = BTreeSet::new();
    for arg in method.args {
        let Some(value) = fields.get(&arg.id) else { continue };
        match (arg.name, arg.ttype) {
            ("keyspace" | "tablename" | "tableName", TType::String) => place.keyspace = text(value),
            // Schema changes and set_keyspace are about a keyspace.
            ("ks_def", TType::Struct) => place.keyspace = value.get(1).and_then(text),
            ("cf_def", TType::Struct) => {
                place.keyspace = value.get(1).and_then(text);
                families.extend(value.get(2).and_then(text));
            }
            ("column_family" | "cfname", TType::String) => families.extend(text(value)),
            ("column_path" | "path" | "column_parent", TType::Struct) => {
                families.extend(value.get(3).and_then(text));
            }
            ("request", TType::Struct) => {
                families.extend(value.get(2).and_then(|parent| parent.get(3)).and_then(text));
            }
            ("cfmap", TType::Map) => families.extend(keys(value)),
            ("mutation_map", TType::Map) => families.extend(values(value).flat_map(keys)),
            ("batchMutation" | "batchMutationSuper", TType::Struct) => {
                place.keyspace = value.get(1).and_then(text);
                families.extend(value.get(3).into_iter().flat_map(keys));
            }
            // 0.3: `Family:column`.
            (
                "columnFamily" | "columnParent" | "columnPath" | "columnPathOrParent" | "superColumnPath",
                TType::String,
            ) => families.extend(text(value).map(|path| before_colon(&path))),
            _ => {}
        }
    }
    let mut families = families.into_iter();
    place.family = families.next().filter(|_| families.next().is_none());
    place
}

fn before_colon(path: &str) -> String {
    path.split(':').next().unwrap_or_default().to_owned()
}

fn text(value: &Value) -> Option<String> {
    value.as_binary().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}

/// Returns the text keys of a map.
fn keys(value: &Value) -> impl Iterator<Item = String> {
    pairs(value).iter().filter_map(|(key, _)| text(key))
}

fn values(value: &Value) -> impl Iterator<Item = &Value> {
    pairs(value).iter().map(|(_, value)| value)
}

fn pairs(value: &Value) -> &[(Value, Value)] {
    match value {
        Value::Map(_, _, pairs) => pairs,
        _ => &[],
    }
}
