//! Servers of the native protocol as the source of an export.

use std::fs;

use crate::data::{run, source, succeed};
use crate::support::server::Server;

/// The rows that a server returns are those of its data directory, and come back by lines of JSON.
#[test]
fn a_native_server_is_exported_as_its_data_directory_is() {
    let directory = source();
    let directory = directory.path();
    succeed(directory, &["export", "--from", "data:from", "--to", "disk"]);
    let mut server = Server::start_again(directory, &["--data-dir", "from"]);
    let from = format!("native:{}", server.native_address());
    for (to, format) in [("csv", "csv"), ("json", "json")] {
        let (succeeded, said) = run(directory, &["export", "--from", &from, "--to", to, "--format", format]);
        assert!(!succeeded && said.contains("CQL shows no super columns"), "{said}");
    }
    let columns =
        ["--keyspace", "made", "--table", "everything", "--columns", "t", "--limit", "2", "--to", "few"];
    succeed(directory, &[&["export", "--from", &from][..], &columns].concat());
    server.stop();
    fs::write(directory.join("bare.xml"), crate::copy_support::bare_conf("Murmur3Partitioner")).unwrap();
    succeed(directory, &["import", "--from", "json:json", "--to", "data:back", "--config", "bare.xml"]);
    succeed(directory, &["export", "--from", "data:back", "--to", "again", "--config", "bare.xml"]);
    let read = |to: &str, table: &str| fs::read_to_string(directory.join(to).join(table)).unwrap();
    let mut tables = 0;
    for entry in fs::read_dir(directory.join("csv")).unwrap() {
        let table = entry.unwrap().file_name().into_string().unwrap();
        let is_of_cql =
            read("disk", &table).lines().next().is_some_and(|head| !head.contains("expires_at_s"));
        if table.ends_with(".csv") && is_of_cql {
            assert_eq!(read("csv", &table), read("disk", &table), "{table}");
            assert_eq!(read("again", &table), read("disk", &table), "{table}");
            tables += 1;
        }
    }
    assert!(tables > 1);
    assert_eq!(read("few", "made.everything.csv").lines().next(), Some("k,c,t"));
}
