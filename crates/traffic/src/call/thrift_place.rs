//! Finds the declaration of the method that a recorded call is of, and the keyspace and column family in its arguments.

use std::collections::BTreeSet;

use super::super::value::{Fields, Value};
use super::CallEffect;
use base::compat::features::ApiGeneration;
use base::model::FieldRole;
use wire::thrift::frame::Transport;
use wire::thrift::interface::{Meaning, Method, Type, declarations};

/// Where a call reads or writes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ThriftPlace {
    pub keyspace: Option<String>,
    pub family: Option<String>,
}

/// Returns the method of a call among the methods of its name whose arguments have the call's types: the newest of the
/// generation of the connection, or else of the generation that most clients with the transport have. Also returns
/// whether only one generation has such a call.
pub fn method_of(
    name: &[u8],
    fields: &Fields,
    generation: Option<ApiGeneration>,
    transport: Transport,
) -> Option<(&'static Method, bool)> {
    let likelier = generation.unwrap_or(match transport {
        Transport::Framed => ApiGeneration::AfterSetKeyspace,
        Transport::Unframed => ApiGeneration::WithKeyspace,
    });
    let mut methods = declarations(name).to_vec();
    methods.retain(|method| fields.iter().all(|(id, value)| method.accepts(*id, value.ttype())));
    let of_generation = methods.iter().rfind(|method| method.generation() == likelier);
    let method = *of_generation.or(methods.last())?;
    Some((method, methods.iter().all(|other| other.generation() == method.generation())))
}

/// Returns the meaning of the result of a method: the meaning in the newest release in which the result has these
/// types.
pub fn result_of(method: &[u8], result: &Value) -> Meaning {
    let mut methods = declarations(method).iter();
    methods
        .rfind(|method| method.result.as_ref().is_some_and(|declared| has_types(declared, result)))
        .map_or(Meaning::UNKNOWN, |method| Meaning::of_result(method))
}

/// Returns whether a value and everything in it that is declared has its declared type.
fn has_types(declared: &Type, value: &Value) -> bool {
    match (declared, value) {
        (Type::Struct(of), Value::Struct(fields)) => fields
            .iter()
            .all(|(id, value)| of.field(*id).is_none_or(|field| has_types(&field.declared, value))),
        (Type::List(of), Value::List(_, items)) | (Type::Set(of), Value::Set(_, items)) => {
            items.iter().all(|item| has_types(of, item))
        }
        (Type::Map(key, of), Value::Map(_, _, pairs)) => {
            pairs.iter().all(|(name, value)| has_types(key, name) && has_types(of, value))
        }
        _ => declared.ttype() == value.ttype(),
    }
}

/// Returns the effect of a call. `statement` is the effect of its statement, if it has one.
pub(super) fn effect_of(method: &str, statement: Option<CallEffect>) -> CallEffect {
    let has_verb = |verbs: &[&str]| verbs.iter().any(|verb| method.starts_with(verb));
    match statement {
        Some(effect) => effect,
        None if has_verb(&["get_string", "getString"]) => CallEffect::Session,
        None if has_verb(&["get", "multiget"]) => CallEffect::Read,
        None if has_verb(&["insert", "add", "remove", "batch", "atomic_batch", "cas"]) => CallEffect::Write,
        None if has_verb(&["truncate", "system_"]) => CallEffect::Write,
        None => CallEffect::Session,
    }
}

/// Returns the keyspace and the column family that the arguments name.
pub(super) fn place_of(method: &'static Method, fields: &Fields) -> ThriftPlace {
    let mut place = ThriftPlace::default();
    let mut families = BTreeSet::new();
    for (id, value) in fields {
        let Some(argument) = method.argument(*id) else { continue };
        add_names(Meaning::of_field(argument), value, &mut place.keyspace, &mut families);
    }
    let mut families = families.into_iter();
    place.family = families.next().filter(|_| families.next().is_none());
    place
}

/// Adds the keyspace and the column families that a value names.
fn add_names(
    meaning: Meaning,
    value: &Value,
    keyspace: &mut Option<String>,
    families: &mut BTreeSet<String>,
) {
    match (meaning.role, value) {
        (FieldRole::Keyspace, value) => *keyspace = text(value),
        (FieldRole::ColumnFamily, value) => families.extend(text(value)),
        (FieldRole::Path, value) => families.extend(text(value).map(|path| before_colon(&path))),
        (_, Value::Struct(fields)) => {
            for (id, value) in fields {
                let Some(field) = meaning.field(*id) else { continue };
                add_names(Meaning::of_field(field), value, keyspace, families);
            }
        }
        (FieldRole::Rows | FieldRole::ColumnFamilies, Value::Map(_, _, pairs)) => {
            for (key, value) in pairs {
                add_names(meaning.key(), key, keyspace, families);
                add_names(meaning.map_value(), value, keyspace, families);
            }
        }
        _ => {}
    }
}

fn before_colon(path: &str) -> String {
    path.split(':').next().unwrap_or_default().to_owned()
}

fn text(value: &Value) -> Option<String> {
    value.as_binary().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
}
