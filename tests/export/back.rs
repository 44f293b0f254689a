//! `import --from json:` reads back what `export --format json` has written.

use std::fs;
use std::path::Path;

use crate::copy_support::{bare_conf, conf, dumped, families, family, open, runtime};
use crate::data::{run, source, succeed};

/// Checks that two data directories have the same column families with the same cells and tombstones.
fn assert_same(directory: &Path, one: &str, other: &str) {
    runtime().block_on(async {
        let one = open(&directory.join(one), &conf("Murmur3Partitioner")).await;
        let other = open(&directory.join(other), &bare_conf("Murmur3Partitioner")).await;
        let defined = families(one.database.as_ref().unwrap());
        assert_eq!(defined, families(other.database.as_ref().unwrap()));
        for (keyspace, name) in defined {
            let expected = dumped(&one, &family(&one, &keyspace, &name)).await;
            let found = dumped(&other, &family(&other, &keyspace, &name)).await;
            assert!(!expected.is_empty(), "{keyspace}.{name} is empty");
            assert_eq!(expected, found, "{keyspace}.{name}");
        }
        one.close().await.unwrap();
        other.close().await.unwrap();
    });
}

#[test]
fn everything_that_is_stored_comes_back() {
    let directory = source();
    let directory = directory.path();
    succeed(directory, &["export", "--from", "data:from", "--to", "out", "--format", "json", "--cells"]);
    fs::write(directory.join("bare.xml"), bare_conf("Murmur3Partitioner")).unwrap();
    let said =
        succeed(directory, &["import", "--from", "json:out", "--to", "data:to", "--config", "bare.xml"]);
    assert!(said.contains("imported: 8 tables"), "{said}");
    assert_same(directory, "from", "to");
    // A second time changes nothing, also not counters.
    succeed(directory, &["import", "--from", "json:out", "--to", "data:to", "--config", "bare.xml"]);
    assert_same(directory, "from", "to");
}

#[test]
fn live_rows_come_back_with_timestamps_and_times_to_live() {
    let directory = source();
    let directory = directory.path();
    let json = ["--format", "json"];
    succeed(directory, &[&["export", "--from", "data:from", "--to", "out"][..], &json].concat());
    fs::write(directory.join("bare.xml"), bare_conf("Murmur3Partitioner")).unwrap();
    succeed(directory, &["import", "--from", "json:out", "--to", "data:to", "--config", "bare.xml"]);
    let again = ["export", "--from", "data:to", "--to", "again", "--config", "bare.xml"];
    succeed(directory, &[&again[..], &json].concat());
    let mut files = 0;
    for entry in fs::read_dir(directory.join("out")).unwrap() {
        let name = entry.unwrap().file_name();
        if name != "export.json" {
            let read = |of: &str| fs::read_to_string(directory.join(of).join(&name)).unwrap();
            assert_eq!(lines(&read("out")), lines(&read("again")), "{}", name.display());
            files += 1;
        }
    }
    assert_eq!(files, 8);
}

/// Returns the cells of lines. A wide row may be cut elsewhere.
fn lines(text: &str) -> Vec<String> {
    let cells = |line: &str| -> Vec<String> {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let cells = line["cells"].as_array().unwrap();
        cells.iter().map(|cell| format!("{} {} {cell}", line["key"], line["row"])).collect()
    };
    text.lines().flat_map(cells).collect()
}

#[test]
fn a_damaged_line_is_named() {
    let directory = source();
    let directory = directory.path();
    let export = ["export", "--from", "data:from", "--to", "out", "--format", "json", "--table", "hits"];
    succeed(directory, &export);
    let file = directory.join("out/made.hits.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    let import = ["import", "--from", "json:out", "--to", "data:to"];
    for (line, expected) in [("{\"key\": 5}", "a key, name or value is"), ("{", "EOF"), ("", "EOF")] {
        fs::write(&file, format!("{text}{line}\n")).unwrap();
        let (succeeded, said) = run(directory, &import);
        assert!(!succeeded && said.contains("line 3") && said.contains(expected), "{line}: {said}");
    }
    fs::write(&file, text.lines().next().unwrap()).unwrap();
    let (succeeded, said) = run(directory, &import);
    assert!(!succeeded && said.contains("it has 1 lines, and 2 by export.json"), "{said}");
    let path = directory.join("out/export.json");
    let manifest = fs::read_to_string(&path).unwrap();
    fs::write(&path, manifest.replace("\"made.hits.jsonl\"", "\"../out/made.hits.jsonl\"")).unwrap();
    let (succeeded, said) = run(directory, &import);
    assert!(!succeeded && said.contains("is not the name of a file"), "{said}");
    let (succeeded, said) = run(directory, &[&import[..], &["--snapshot", "one"]].concat());
    assert!(
        !succeeded && said.contains("--snapshot is for the files of old servers, not for an export"),
        "{said}"
    );
    let (succeeded, said) = run(directory, &["import", "--from", "json:from", "--to", "data:to"]);
    assert!(!succeeded && said.contains("it has no export.json"), "{said}");
}
