//! Selections, limits, stops and refusals of `thriftstore export`.

use std::fs;

use crate::data::{run, source, succeed};

#[test]
fn columns_and_lines_are_selected() {
    let directory = source();
    let directory = directory.path();
    let words = ["export", "--from", "data:from", "--keyspace", "made", "--columns", "title", "--limit", "3"];
    let said = succeed(directory, &[&words[..], &["--to", "out"]].concat());
    let text = fs::read_to_string(directory.join("out/made.books.csv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("author,year,title"));
    assert_eq!(lines.count(), 3);
    assert!(said.contains("made.books.csv: there are more lines: --limit"), "{said}");
    assert!(said.contains("left out: made.hits: it has none of the columns of --columns"), "{said}");
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(directory.join("out/export.json")).unwrap()).unwrap();
    assert_eq!(manifest["is_complete"], true);
    assert_eq!(manifest["tables"][0]["lines"], 3);
    assert_eq!(manifest["tables"][0]["columns"][1]["type"], "int");
}

#[test]
fn an_export_goes_on_after_the_last_complete_table() {
    let directory = source();
    let directory = directory.path();
    let words = ["export", "--from", "data:from", "--to", "out"];
    succeed(directory, &words);
    let complete = fs::read_to_string(directory.join("out/made.hits.csv")).unwrap();
    let (succeeded, said) = run(directory, &words);
    assert!(!succeeded && said.contains("has a complete export"), "{said}");
    // As a killed export leaves it.
    let path = directory.join("out/export.json");
    let mut manifest: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    manifest["is_complete"] = false.into();
    manifest["tables"].as_array_mut().unwrap().pop();
    fs::write(&path, manifest.to_string()).unwrap();
    fs::rename(directory.join("out/made.people.csv"), directory.join("out/made.people.csv.part")).unwrap();
    fs::write(directory.join("out/made.hits.csv"), "kept").unwrap();
    let (succeeded, said) = run(directory, &[&words[..], &["--cells"]].concat());
    assert!(!succeeded && said.contains("another source or with other options"), "{said}");
    let said = succeed(directory, &words);
    assert!(said.contains("made.hits was written before"), "{said}");
    assert_eq!(fs::read_to_string(directory.join("out/made.hits.csv")).unwrap(), "kept");
    assert_ne!(complete, "kept");
    let people = fs::read_to_string(directory.join("out/made.people.csv")).unwrap();
    assert_eq!(people.lines().count(), 51);
    assert!(!directory.join("out/made.people.csv.part").exists());
}

#[test]
fn what_cannot_be_exported_is_refused() {
    let directory = source();
    let directory = directory.path();
    for (words, expected) in [
        (&["--from", "data:from", "--to", "from"][..], "is not empty"),
        (
            &["--from", "data:from", "--to", "storage-conf.xml"],
            "it is a file: --to takes a new or empty directory",
        ),
        (&["--from", "data:nowhere", "--to", "out"], "does not exist"),
        (&["--from", "data:from", "--to", "out", "--table", "boks"], "no column family boks"),
        (&["--from", "data:from", "--to", "out", "--format", "xml"], "use one of csv, json, sqlite"),
        (&["--from", "data:from", "--to", "out", "--skip-damaged"], "is for the files of old servers"),
    ] {
        let (succeeded, said) = run(directory, &[&["export"][..], words].concat());
        assert!(!succeeded && said.contains(expected), "{words:?}: {said}");
        assert!(!directory.join("out").exists(), "{words:?}");
    }
}
