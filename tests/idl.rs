//! The files in `idl/` say what each line's clients send and expect, down to the last field id.
//!
//! Each file is parsed into the shape of `data/thrift-api-0.4-0.6.json` and compared with it, definition by
//! definition. Where the Thrift compiler is installed, it has to accept the files too.

mod support;

use std::fs;
use std::io::ErrorKind;
use std::process::Command;

use serde_json::Value;
use support::idl::{Parser, TestResult, idl_file, repository};

#[test]
fn idl_0_4() -> TestResult {
    check("0.4")
}

#[test]
fn idl_0_5() -> TestResult {
    check("0.5")
}

#[test]
fn idl_0_6() -> TestResult {
    check("0.6")
}

#[test]
fn compiler_accepts() -> TestResult {
    let out = tempfile::tempdir()?;
    for line in ["0.4", "0.5", "0.6"] {
        let mut thrift = Command::new("thrift");
        thrift.args(["-strict", "--gen", "py", "-out"]).arg(out.path()).arg(idl_file(line));
        match thrift.output() {
            Ok(run) => assert!(run.status.success(), "{line}: {}", String::from_utf8_lossy(&run.stderr)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                println!("skipped: no Thrift compiler on the PATH");
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Compares the IDL of one line with the facts, one definition at a time so that a failure names it.
fn check(line: &str) -> TestResult {
    let facts: Value =
        serde_json::from_str(&fs::read_to_string(repository("tests/data/thrift-api-0.4-0.6.json"))?)?;
    let facts = &facts[line];
    let idl = Parser::new(&fs::read_to_string(idl_file(line))?)?.document()?;

    assert_eq!(idl["version"], facts["version"], "{line}: VERSION");
    for section in ["enums", "structs", "exceptions", "methods"] {
        let expected = facts[section].as_object().ok_or("a section of the facts is not an object")?;
        let found = idl[section].as_object().ok_or("a section of the document is not an object")?;
        for (name, definition) in expected {
            assert_eq!(found.get(name), Some(definition), "{line}: {section}: {name}");
        }
        let unknown: Vec<_> = found.keys().filter(|name| !expected.contains_key(*name)).collect();
        assert!(unknown.is_empty(), "{line}: {section}: {line} has no {unknown:?}");
    }
    Ok(())
}
