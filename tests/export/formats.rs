//! Python's csv, json and sqlite3 read what the server has.

use std::fs;
use std::path::Path;

use crate::copy_support::{conf, cql, open, runtime};
use crate::data::{python, source, succeed};
use crate::skip::skip;
use ::cql::Outcome;

/// Exports everything in a format into a directory of its name.
fn export(directory: &Path, format: &str) -> String {
    succeed(directory, &["export", "--from", "data:from", "--to", format, "--format", format])
}

#[test]
fn other_programs_read_the_values_that_the_server_returns() {
    let directory = source();
    let directory = directory.path();
    for format in ["csv", "json", "sqlite"] {
        export(directory, format);
    }
    // The rows of JSON are those of SELECT JSON.
    let returned: Vec<String> = runtime().block_on(async {
        let side = open(&directory.join("from"), &conf("Murmur3Partitioner")).await;
        let mut lines = Vec::new();
        for table in ["everything", "books", "people", "counted", "hits"] {
            let Outcome::Rows(found) = cql(&side, &format!("SELECT JSON * FROM {table}")).await else {
                panic!("no rows of {table}")
            };
            lines.extend(found.rows.iter().map(|row| {
                format!("{table} {}", String::from_utf8(row[0].as_ref().unwrap().to_vec()).unwrap())
            }));
        }
        side.close().await.unwrap();
        lines
    });
    fs::write(directory.join("returned.txt"), returned.join("\n")).unwrap();
    let compare_rows = r#"
import json
rows = {}
for line in open("returned.txt", encoding="utf-8"):
    table, row = line.split(" ", 1)
    rows.setdefault(table, []).append(json.loads(row))
for table, expected in rows.items():
    found = [json.loads(line)["row"] for line in open(f"json/made.{table}.jsonl", encoding="utf-8")]
    for row in found:
        if row.pop("other_columns", None) is not None: raise Exception(row)
    assert found == expected, (table, [pair for pair in zip(found, expected) if pair[0] != pair[1]][:1])
print(sum(map(len, rows.values())), "rows")
"#;
    let Some(text) = python(directory, compare_rows, &[]) else { skip!("no Python here") };
    // 8 of everything, 49 of books, 50 of people, 51 of counted, 2 of hits.
    assert_eq!(text.trim(), "160 rows");
    let text = python(directory, include_str!("check.py"), &[]).unwrap();
    assert_eq!(text.trim(), "763 values");
}

#[test]
fn null_and_empty_are_different_in_csv() {
    let directory = source();
    export(directory.path(), "csv");
    let text = fs::read_to_string(directory.path().join("csv/made.everything.csv")).unwrap();
    let header = "k,c,s,ad,b,bl,bo,da,dbl,de,du,f,i,l,m,n,se,si,t,ti,tp,ts,tu,ty,u,v";
    assert_eq!(text.lines().next(), Some(header));
    let line = text.lines().find(|line| line.starts_with("a,3,")).unwrap();
    let expected = "a,3,static,,-9223372036854775808,,false,,NaN,,,-Infinity,,,,,,,\"\",,,,,,,";
    assert_eq!(line, expected);
    assert!(text.contains("\"a \"\"quote\"\", and a comma\""), "{text}");
    assert!(text.ends_with("\r\n"));
}

#[test]
fn families_of_thrift_are_written_cell_by_cell() {
    let directory = source();
    let said = export(directory.path(), "csv");
    assert!(said.contains("K.Supers.csv") && said.contains("cell by cell"), "{said}");
    let text = |name: &str| fs::read_to_string(directory.path().join("csv").join(name)).unwrap();
    let supers = text("K.Supers.csv");
    assert!(supers.starts_with("key,super_column,column,value,timestamp,ttl_s,expires_at_s\r\n"), "{supers}");
    for line in ["row,first,-3,x,1500000000000000,,\r\n", "row,second,2,newer,1500000000000001,,\r\n"] {
        assert!(supers.contains(line), "{line}: {supers}");
    }
    assert!(!supers.contains("hidden") && !supers.contains("third"), "{supers}");
    let cells = text("K.Cells.csv");
    assert!(cells.contains("\r\nplain,b,\"\",1500000000000001,,\r\n"), "{cells}");
    assert!(cells.contains("\r\nexpiring,a,v,1500000000000000,100000,"), "{cells}");
    // What has expired, is deleted, or is covered by a tombstone is not there.
    for gone in ["expiring,b", "gone", "deleted,old", "runs,b5", "tombstones,b"] {
        assert!(!cells.contains(&format!("\r\n{gone}")), "{gone}");
    }
    let all = succeed(
        directory.path(),
        &["export", "--from", "data:from", "--to", "all", "--cells", "--table", "Cells"],
    );
    assert!(all.contains(" entries, "), "{all}");
    let cells = fs::read_to_string(directory.path().join("all/K.Cells.csv")).unwrap();
    for kind in ["deleted row", "deleted range", "deleted cell", "expiring cell"] {
        assert!(cells.contains(&format!(",{kind},")), "{kind}: {cells}");
    }
}
