//! Scripts of cassandra-cli, and what they leave.
//!
//! The files in `cassandra_cli/` have cases, divided by lines of `===`. Each is a script, a line of `---`, and what it
//! leaves: its error, the column families that it has defined, and all rows.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use base::schema::CfDef;
use double::testing::Server as InProcess;
use serde_json::Value as Json;

use super::{Double, done};

/// Returns a name or value of a dump: as text, or in hexadecimal digits after `0x`.
fn bytes(json: &Json) -> String {
    match json.as_str() {
        Some(text) => text.to_owned(),
        None => format!("0x{}", json["hex"].as_str().unwrap()),
    }
}

fn definition(cf: &CfDef) -> String {
    let short = |class: &str| class.replace("org.apache.cassandra.db.marshal.", "");
    let mut line = format!("{}.{}: {}", cf.keyspace, cf.name, short(cf.comparator.class_name()));
    if let Some(inner) = cf.subcomparator() {
        write!(line, "/{}", short(inner.class_name())).unwrap();
    }
    if let Some(of_key) = &cf.key_validator {
        write!(line, ", keys {}", short(of_key.class_name())).unwrap();
    }
    write!(line, ", values {}", short(cf.default_validator.class_name())).unwrap();
    for column in cf.column_metadata.values() {
        let index = if column.index.is_some() { " indexed" } else { "" };
        let name = cf.subcomparator().unwrap_or(&cf.comparator).to_text(&column.name);
        write!(line, ", {name} {}{index}", short(column.validator.class_name())).unwrap();
    }
    line
}

/// Returns what a server has, besides the keyspaces of its configuration.
fn left(server: &InProcess) -> String {
    let mut lines = String::new();
    let catalog = server.control().database().catalog();
    let is_own = |cf: &CfDef| {
        !catalog.keyspace(&cf.keyspace).unwrap().is_configured && !cf.keyspace.starts_with("system")
    };
    let families: Vec<_> = catalog.column_families().filter(|cf| is_own(cf)).cloned().collect();
    drop(catalog);
    for cf in families {
        writeln!(lines, "{}", definition(&cf)).unwrap();
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let data = serde_json::to_value(runtime.block_on(server.control().dump()).unwrap()).unwrap();
    for family in data["column_families"].as_array().unwrap() {
        if family["keyspace"].as_str().unwrap().starts_with("system") {
            continue;
        }
        let mut rows = Vec::new();
        for row in family["rows"].as_array().unwrap() {
            let mut line = format!("{}[{}]:", family["name"].as_str().unwrap(), bytes(&row["key"]));
            if row.get("deletion").is_some() {
                line.push_str(" deleted");
            }
            for deleted in row["deleted_super_columns"].as_array().into_iter().flatten() {
                write!(line, " [{}] deleted", bytes(&deleted["name"])).unwrap();
            }
            for cell in row["cells"].as_array().unwrap() {
                let place =
                    cell.get("super_column").map_or(String::new(), |name| format!("[{}]", bytes(name)));
                let what = match (cell.get("value"), cell.get("counter")) {
                    (Some(value), _) => format!("= {}", bytes(value)),
                    (None, Some(count)) => format!("counts {count}"),
                    (None, None) => "deleted".to_owned(),
                };
                let ttl = cell.get("ttl_s").map_or(String::new(), |ttl| format!(" for {ttl} s"));
                write!(line, " {place}[{}] {what}{ttl}", bytes(&cell["name"])).unwrap();
            }
            rows.push(line);
        }
        rows.sort();
        writeln!(lines, "{}", rows.join("\n")).unwrap();
    }
    lines
}

#[test]
fn scripts_leave_what_their_files_say() {
    let server = InProcess::start().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/server/control/cassandra_cli");
    let mut cases = 0;
    let mut differences = String::new();
    for file in fs::read_dir(folder).unwrap() {
        let file = file.unwrap().path();
        for case in fs::read_to_string(&file).unwrap().split("\n===\n") {
            let (script, expected) = case.split_once("\n---\n").unwrap();
            server.reset().unwrap();
            let error = match server.cassandra_cli(script) {
                Ok(()) => String::new(),
                Err(error) => format!("error: {error}\n"),
            };
            let found = error + &left(&server);
            if found.trim_end() != expected.trim_end() {
                writeln!(differences, "{}:\n{script}\n---\n{found}", file.display()).unwrap();
            }
            cases += 1;
        }
    }
    assert!(differences.is_empty(), "other than expected:\n{differences}");
    assert!(cases >= 10, "{cases}");
}

#[test]
fn new_identifiers_are_made_and_rows_are_read_by_clients() {
    let server = InProcess::start().unwrap();
    server
        .cassandra_cli(
            "create keyspace ks; use ks; create column family F with comparator = TimeUUIDType;
             set F['k'][timeuuid()] = 'a'; set F['k'][timeuuid()] = 'b'; set F[lexicaluuid()][timeuuid()] = bytes();",
        )
        .unwrap();
    let left = left(&server);
    let cells = left.lines().filter(|line| line.starts_with("F[k]")).map(|line| line.matches('=').count());
    assert_eq!(cells.collect::<Vec<_>>(), [2], "{left}");
    assert_eq!(left.lines().filter(|line| line.starts_with("F[0x")).count(), 1, "{left}");
}

#[test]
fn scripts_are_loaded_over_http_and_at_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("users.txt");
    let script = "use Keyspace1;\nset Standard2['ada']['email'] = 'ada@example.com';\n";
    fs::write(&file, script).unwrap();
    let double = Double::with("", &["--load", &file.display().to_string()]);
    let mut control = double.client().with_header("Content-Type", "text/x-cassandra-cli");
    let loaded = done(&mut control, "POST", "/load", &script.replace("'ada'", "'ben'"));
    assert_eq!(loaded["statements"], 2);
    let dump = double.send("GET", "/dump", "");
    let rows = dump["column_families"][0]["rows"].as_array().unwrap().len();
    assert_eq!((&dump["column_families"][0]["name"], rows), (&"Standard2".into(), 2));
    double.send("POST", "/reset", r#"{"what": "everything"}"#);
    let rows = double.send("GET", "/dump", "")["column_families"][0]["rows"].as_array().unwrap().len();
    assert_eq!(rows, 1, "the file of --load belongs to the start-up state");
    let error = super::refused(&mut control, "POST", "/load", "use Keyspace1;\nset x");
    assert_eq!(error.0, 400);
    assert!(error.1.starts_with("line 2, column 6: the end of the script is not allowed here"), "{error:?}");
    double.server.stop();
}
