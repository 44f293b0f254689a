//! The files in `idl/` have the interface of each release line, with all field ids.
//!
//! The model that `wire` reads from each file is compared with the definitions in `data/thrift-api-*.json`, one at a
//! time. If the Thrift compiler is installed, it must accept the files too.

use std::error::Error;
use std::fs;
use std::io::ErrorKind;
use std::process::Command;

use base::compat::Line;
use serde_json::{Map, Value, json};
use wire::thrift::interface::{Enum, Field, Interface, Method, Requirement, Struct, Type};

use crate::support;
use support::repository;

/// The file with the known definitions of a line.
fn facts_of(line: Line) -> &'static str {
    match line {
        Line(0, 3) => "0.3",
        Line(0, 4..=6) => "0.4-0.6",
        _ => "0.7-3.x",
    }
}

#[test]
fn each_file_has_the_known_definitions_of_its_line() -> Result<(), Box<dyn Error>> {
    for interface in Interface::all() {
        check(interface)?;
    }
    Ok(())
}

#[test]
fn the_thrift_compiler_accepts_each_file() -> Result<(), Box<dyn Error>> {
    let out = tempfile::tempdir()?;
    for Interface { line, .. } in Interface::all() {
        let mut thrift = Command::new("thrift");
        // 0.3 has arguments without ids, which are numbered downwards from -1.
        let keys = if *line == Line(0, 3) { "-allow-neg-keys" } else { "-strict" };
        let file = repository(&format!("idl/cassandra-{line}.thrift"));
        thrift.args([keys, "--gen", "py", "-out"]).arg(out.path()).arg(file);
        match thrift.output() {
            Ok(run) => assert!(run.status.success(), "{line}: {}", String::from_utf8_lossy(&run.stderr)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                crate::skip::report("no Thrift compiler is on the PATH");
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Compares the interface of one line with the known definitions, one at a time so that a failure names it.
fn check(interface: &Interface) -> Result<(), Box<dyn Error>> {
    let line = interface.line.to_string();
    let facts = repository(&format!("tests/data/thrift-api-{}.json", facts_of(interface.line)));
    let facts: Value = serde_json::from_str(&fs::read_to_string(facts)?)?;

    assert_eq!(json!(interface.version), facts[&line]["version"], "{line}: VERSION");
    for (section, found) in sections(interface) {
        let expected = facts[&line][section].as_object().ok_or("a section of the facts is not an object")?;
        for name in expected.keys() {
            let definition = definition(&facts, &line, section, name);
            assert_eq!(found.get(name), Some(definition), "{line}: {section}: {name}");
        }
        let unknown: Vec<_> = found.keys().filter(|name| !expected.contains_key(*name)).collect();
        assert!(unknown.is_empty(), "{line}: {section}: {line} has no {unknown:?}");
    }
    Ok(())
}

/// Returns a known definition. One that has not changed since another line is a reference to that line: `"as in 0.7"`.
fn definition<'f>(facts: &'f Value, line: &str, section: &str, name: &str) -> &'f Value {
    let definition = &facts[line][section][name];
    match definition.as_str().and_then(|text| text.strip_prefix("as in ")) {
        Some(other) => self::definition(facts, other, section, name),
        None => definition,
    }
}

/// Returns the definitions of an interface by name, in the form of the known ones.
fn sections(interface: &Interface) -> [(&'static str, Map<String, Value>); 4] {
    let enums = interface.enums.values().map(|of| (of.name.to_owned(), shown_enum(of)));
    let structs = |is_exception| {
        let of = interface.structs.values().filter(move |of| of.is_exception == is_exception);
        of.map(|of: &&Struct| (of.name.to_owned(), of.fields.iter().map(shown_field).collect()))
    };
    let methods = interface.methods.values().map(|of| (of.name.to_owned(), shown_method(of)));
    [
        ("enums", enums.collect()),
        ("structs", structs(false).collect()),
        ("exceptions", structs(true).collect()),
        ("methods", methods.collect()),
    ]
}

fn shown_enum(of: &Enum) -> Value {
    of.members.iter().map(|(name, number)| ((*name).to_owned(), json!(number))).collect()
}

fn shown_method(method: &Method) -> Value {
    let returns = method.result.as_ref().map_or("void".to_owned(), ToString::to_string);
    let args: Value = method.arguments.iter().map(shown_field).collect();
    // Exceptions in a throws clause are neither required nor optional.
    let thrown =
        |field: &Field| json!({ "id": field.id, "name": field.name, "type": field.declared.to_string() });
    let throws: Value = method.throws.iter().map(thrown).collect();
    json!({ "returns": returns, "args": args, "throws": throws })
}

fn shown_field(field: &Field) -> Value {
    let required = match field.requirement {
        Requirement::Required => "required",
        Requirement::Optional => "optional",
        Requirement::Default => "default",
    };
    let declared = field.declared.to_string();
    let mut shown = json!({ "id": field.id, "name": field.name, "type": declared, "required": required });
    if let Some(default) = &field.default {
        shown["default"] = shown_default(field, default);
    }
    shown
}

/// Returns a default value. A member of an enum becomes its number.
fn shown_default(field: &Field, default: &str) -> Value {
    match (&field.declared, default.split_once('.')) {
        (Type::Enum(of), Some((_, member))) => {
            json!(of.members.iter().find(|(name, _)| *name == member).map(|(_, number)| number))
        }
        _ => serde_json::from_str(default).unwrap_or_default(),
    }
}
