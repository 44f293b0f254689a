//! The files in `idl/` have the interface of each release line, with all field ids.
//!
//! Each file is parsed into the form of the definitions in `data/thrift-api-*.json` and compared with them, definition
//! by definition. If the Thrift compiler is installed, it must accept the files too.

use std::fs;
use std::io::ErrorKind;
use std::process::Command;

use crate::support;
use serde_json::Value;
use support::idl::{Parser, TestResult, idl_file, repository};

/// Every line with an IDL file, and the file with its known definitions. 3.x has the interface of 2.2.
const LINES: [(&str, &str); 12] = [
    ("0.3", "0.3"),
    ("0.4", "0.4-0.6"),
    ("0.5", "0.4-0.6"),
    ("0.6", "0.4-0.6"),
    ("0.7", "0.7-3.x"),
    ("0.8", "0.7-3.x"),
    ("1.0", "0.7-3.x"),
    ("1.1", "0.7-3.x"),
    ("1.2", "0.7-3.x"),
    ("2.0", "0.7-3.x"),
    ("2.1", "0.7-3.x"),
    ("2.2", "0.7-3.x"),
];

#[test]
fn each_file_has_the_known_definitions_of_its_line() -> TestResult {
    for (line, facts) in LINES {
        check(line, facts)?;
    }
    Ok(())
}

#[test]
fn the_thrift_compiler_accepts_each_file() -> TestResult {
    let out = tempfile::tempdir()?;
    for (line, _) in LINES {
        let mut thrift = Command::new("thrift");
        // 0.3 has arguments without ids, which are numbered downwards from -1.
        let keys = if line == "0.3" { "-allow-neg-keys" } else { "-strict" };
        thrift.args([keys, "--gen", "py", "-out"]).arg(out.path()).arg(idl_file(line));
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

/// Compares the IDL of one line with the known definitions, one at a time so that a failure names it.
fn check(line: &str, file: &str) -> TestResult {
    let facts = repository(&format!("tests/data/thrift-api-{file}.json"));
    let facts: Value = serde_json::from_str(&fs::read_to_string(facts)?)?;
    let idl = Parser::new(&fs::read_to_string(idl_file(line))?)?.document()?;

    assert_eq!(idl["version"], facts[line]["version"], "{line}: VERSION");
    for section in ["enums", "structs", "exceptions", "methods"] {
        let expected = facts[line][section].as_object().ok_or("a section of the facts is not an object")?;
        let found = idl[section].as_object().ok_or("a section of the document is not an object")?;
        for name in expected.keys() {
            let definition = definition(&facts, line, section, name);
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
