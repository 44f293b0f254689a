//! `thriftstore control`.

use std::fs;
use std::process::Command;

use serde_json::Value as Json;

use super::{Double, KEYSPACE};

/// Runs the program, and returns its JSON; an error is its text.
fn control(address: &str, words: &[&str]) -> Result<Json, String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_thriftstore"));
    let output = command.args(["control", address]).args(words).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    match output.status.success() {
        true => Ok(serde_json::from_str(&text(output.stdout)).unwrap()),
        false => Err(text(output.stderr)),
    }
}

#[test]
fn the_command_sends_each_request() {
    let double = Double::start();
    let address = double.control.to_string();
    let run = |line: &str| control(&address, &line.split(' ').collect::<Vec<_>>());
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = directory.path().join(name);
        fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let script = file(
        "a.cql",
        &format!("{KEYSPACE}; CREATE TABLE ks.t (k int PRIMARY KEY); INSERT INTO ks.t (k) VALUES (1)"),
    );
    assert_eq!(run(&format!("load {script}")).unwrap()["statements"], 3);
    assert_eq!(run("snapshot full").unwrap()["name"], "full");
    let dump = run("dump").unwrap();
    assert_eq!(dump["column_families"][0]["name"], "t");
    assert_eq!(run("reset data").unwrap()["reset"], "data");
    assert!(double.native().rows("SELECT k FROM ks.t").rows.is_empty());
    let rows = file("rows.json", &dump.to_string());
    assert_eq!(run(&format!("load {rows}")).unwrap()["rows"], 1);
    assert_eq!(run("reset").unwrap()["reset"], "everything");
    run(&format!("load {rows}")).unwrap_err();
    assert_eq!(run("restore full").unwrap()["name"], "full");
    assert_eq!(double.native().rows("SELECT k FROM ks.t").ints(), [1]);
    assert_eq!(run("snapshots").unwrap()["snapshots"][0]["name"], "full");

    let sandbox = run("open-sandbox one --from full").unwrap();
    assert_eq!(run("sandboxes").unwrap()["sandboxes"][0], sandbox);
    assert_eq!(run("--sandbox one reset data").unwrap()["reset"], "data");
    assert_eq!(run("--sandbox one dump").unwrap()["column_families"], serde_json::json!([]));
    assert_eq!(run("dump").unwrap(), dump);
    assert_eq!(run("delete full").unwrap()["deleted"], "full");
    assert_eq!(run("delete-sandbox one").unwrap()["deleted"], "one");
    assert!(run("--sandbox one dump").unwrap_err().contains("404: there is no sandbox \"one\""));

    assert_eq!(run("clock freeze").unwrap()["frozen"], true);
    assert_eq!(run("clock set 2012-01-01T00:00:00Z").unwrap()["now_ms"].as_i64(), Some(1_325_376_000_000));
    assert_eq!(run("clock advance -1000").unwrap()["now"], "2011-12-31T23:59:59.000Z");
    assert_eq!(run("clock unfreeze").unwrap()["frozen"], false);
    assert_eq!(run("clock follow").unwrap()["offset_ms"].as_i64(), Some(0));
    assert_eq!(run("clock").unwrap()["frozen"], false);

    let error = run("restore full").unwrap_err();
    assert!(error.contains(&format!("{address} answers 404: there is no snapshot \"full\"")), "{error}");
    assert!(run("snapshot a/b").unwrap_err().contains("\"a/b\" is no name: use letters"));
    double.server.stop();
    let error = run("reset").unwrap_err();
    assert!(error.contains(&format!("start a server with --ephemeral --control {address}")), "{error}");
}
