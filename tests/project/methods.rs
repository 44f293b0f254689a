//! Compares the table of methods with the files in `idl/`: it has every method of every line with the arguments and
//! exceptions that its clients expect, and no others.

use crate::support;

use serde_json::Value;
use support::idl::{Parser, TestResult, idl_file};
use thriftstore::thrift::methods::{DeclaredException, METHODS, Method};
use thriftstore::thrift::wire::TType;
use thriftstore::util::Release;

#[test]
fn every_method_of_every_line_has_its_row() -> TestResult {
    for line in Release::ALL {
        let idl = Parser::new(&std::fs::read_to_string(idl_file(line.name()))?)?.document()?;
        let methods = idl["methods"].as_object().ok_or("no methods")?;
        assert!(methods.len() > 10, "{line} has few methods");
        for (name, definition) in methods {
            let rows: Vec<&Method> = of_line(line).filter(|method| method.name == name).collect();
            assert_eq!(rows.len(), 1, "{line} has {name} once, the table {} times", rows.len());
            assert_eq!(args_of(rows[0]), declared_args(definition, &idl), "{line}: {name}: arguments");
            assert_eq!(throws_of(rows[0]), declared_throws(definition), "{line}: {name}: exceptions");
        }
        for method in of_line(line) {
            assert!(methods.contains_key(method.name), "{line} has no {}", method.name);
        }
    }
    Ok(())
}

fn of_line(line: Release) -> impl Iterator<Item = &'static Method> {
    METHODS.iter().copied().filter(move |method| method.releases.has(line))
}

/// Formats an argument or exception as one line of text.
fn item(id: impl std::fmt::Display, name: &str, kind: Option<impl std::fmt::Debug>) -> String {
    format!("{id}: {kind:?} {name}").trim_end().to_owned()
}

fn args_of(method: &Method) -> Vec<String> {
    method.args.iter().map(|arg| item(arg.id, arg.name, Some(arg.ttype))).collect()
}

fn throws_of(method: &Method) -> Vec<String> {
    method.throws.iter().map(|(id, thrown)| item(id, "", Some(thrown))).collect()
}

fn members(definition: &Value, list: &str) -> Vec<Value> {
    definition[list].as_array().cloned().unwrap_or_default()
}

fn declared_args(definition: &Value, idl: &Value) -> Vec<String> {
    let arg = |arg: &Value| {
        let type_name = arg["type"].as_str().unwrap_or_default();
        item(&arg["id"], arg["name"].as_str().unwrap_or_default(), ttype_of(type_name, idl))
    };
    members(definition, "args").iter().map(arg).collect()
}

fn declared_throws(definition: &Value) -> Vec<String> {
    let thrown = |thrown: &Value| item(&thrown["id"], "", thrown_of(thrown["type"].as_str().unwrap_or("")));
    members(definition, "throws").iter().map(thrown).collect()
}

/// Returns the wire type of a type in the IDL.
fn ttype_of(type_name: &str, idl: &Value) -> Option<TType> {
    match type_name {
        "string" | "binary" => Some(TType::String),
        "bool" => Some(TType::Bool),
        "i32" => Some(TType::I32),
        "i64" => Some(TType::I64),
        name if name.starts_with("list<") => Some(TType::List),
        name if name.starts_with("set<") => Some(TType::Set),
        name if name.starts_with("map<") => Some(TType::Map),
        name if !idl["enums"][name].is_null() => Some(TType::I32),
        name if !idl["structs"][name].is_null() => Some(TType::Struct),
        _ => None,
    }
}

fn thrown_of(exception: &str) -> Option<DeclaredException> {
    Some(match exception {
        "InvalidRequestException" => DeclaredException::InvalidRequest,
        "NotFoundException" => DeclaredException::NotFound,
        "UnavailableException" => DeclaredException::Unavailable,
        "TimedOutException" => DeclaredException::TimedOut,
        "AuthenticationException" => DeclaredException::Authentication,
        "SchemaDisagreementException" => DeclaredException::SchemaDisagreement,
        "AuthorizationException" => DeclaredException::Authorization,
        _ => return None,
    })
}
