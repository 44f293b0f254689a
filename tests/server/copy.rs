//! `thriftstore copy` from data directories and Thrift servers to data directories.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::path::Path;
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::{copy_support, support};
use base::model::{CellKind, Change, Mutation};
use base::util::Clock;
use copy_support::{
    T, apply, bare_conf, bytes, conf, copy, cql, dumped, families, family, fill, fill_made, live, open,
    run_copy, runtime, started,
};
use cql::Outcome;
use rustix::process::{Pid, Signal, kill_process};
use support::client::PATIENCE;
use support::server::Server;
use tempfile::TempDir;

/// Returns a directory with a source in `from`, and configurations.
fn source(with_made: bool) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let conf = conf("RandomPartitioner");
    fs::write(directory.path().join("storage-conf.xml"), &conf).unwrap();
    fs::write(directory.path().join("murmur.xml"), bare_conf("Murmur3Partitioner")).unwrap();
    runtime().block_on(async {
        let side = open(&directory.path().join("from"), &conf).await;
        fill(&side).await;
        if with_made {
            fill_made(&side).await;
        }
        side.close().await.unwrap();
    });
    directory
}

/// Checks that two data directories have the same column families with the same cells and tombstones.
fn assert_same(directory: &Path, from: &str, to: &str, configuration: &str) {
    runtime().block_on(async {
        let from = open(&directory.join(from), configuration).await;
        let to = open(&directory.join(to), configuration).await;
        let defined = families(from.database.as_ref().unwrap());
        assert_eq!(defined, families(to.database.as_ref().unwrap()));
        for (keyspace, name) in defined {
            let one = dumped(&from, &family(&from, &keyspace, &name)).await;
            let other = dumped(&to, &family(&to, &keyspace, &name)).await;
            assert!(!one.is_empty(), "{keyspace}.{name} is empty");
            assert_eq!(one, other, "{keyspace}.{name}");
        }
        from.close().await.unwrap();
        to.close().await.unwrap();
    });
}

#[test]
fn a_copy_of_a_data_directory_equals_its_source() {
    let directory = source(true);
    let text = copy(directory.path(), &["--from", "data:from", "--to", "data:to", "--verify"]);
    assert!(text.contains("copied: 6 column families") && text.contains("compared: 6"), "{text}");
    assert_same(directory.path(), "from", "to", &conf("RandomPartitioner"));
    runtime().block_on(async {
        let to = open(&directory.path().join("to"), &conf("RandomPartitioner")).await;
        // The index works, although its rows are not copied: the target builds it.
        let Outcome::Rows(found) = cql(&to, "SELECT k FROM people WHERE city = 'Ulm'").await else {
            panic!("no rows")
        };
        assert_eq!(found.rows.len(), 10);
        to.close().await.unwrap();
    });
}

#[test]
fn a_comparison_finds_what_differs() {
    let directory = source(false);
    let places = ["--from", "data:from", "--to", "data:to"];
    copy(directory.path(), &places);
    let compare = [&places[..], &["--verify-only"]].concat();
    copy(directory.path(), &compare);
    runtime().block_on(async {
        let to = open(&directory.path().join("to"), &conf("RandomPartitioner")).await;
        let cells = family(&to, "K", "Cells");
        let of = |key: &str, changes| Mutation::of(bytes(key), cells.clone(), changes);
        let rows = vec![
            of("plain", vec![live("b", "other", T + 1), live("c", "3", -6)]),
            of("only here", vec![live("a", "1", T)]),
            of("wide", vec![live("000000x", "", T)]),
            of("tombstones", vec![live("b", "alive again", T + 9)]),
        ];
        apply(&to, rows).await;
        to.close().await.unwrap();
    });
    let (succeeded, text) = run_copy(directory.path(), &compare);
    assert!(!succeeded && text.contains("the sides differ: 5 differences"), "{text}");
    for line in [
        "K.Cells row plain column 62: another value",
        "K.Cells row plain column 63: another timestamp",
        "K.Cells row only here column 61: only in the target",
        "K.Cells row wide column 30303030303078: only in the target",
        "K.Cells row tombstones column 62: another time of deletion",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
}

#[test]
fn a_copy_may_have_another_partitioner() {
    let directory = source(true);
    let places = ["--from", "data:from", "--to", "data:to", "--to-config", "murmur.xml"];
    copy(directory.path(), &[&places[..], &["--verify"]].concat());
    runtime().block_on(async {
        // Column families that the configuration of the source defines become client-defined in the target.
        let to = open(&directory.path().join("to"), &bare_conf("Murmur3Partitioner")).await;
        let cells = family(&to, "K", "Cells");
        apply(&to, vec![Mutation::of(bytes("plain"), cells.clone(), vec![live("a", "9", T + 1)])]).await;
        apply(&to, vec![Mutation::of(bytes("here"), cells, vec![live("a", "9", T + 1)])]).await;
        to.close().await.unwrap();
    });
    let (succeeded, text) = run_copy(directory.path(), &[&places[..], &["--verify-only"]].concat());
    assert!(!succeeded && text.contains("the sides differ: 2 differences"), "{text}");
    assert!(text.contains("row plain column 61: another value"), "{text}");
    assert!(text.contains("row here column 61: only in the target"), "{text}");
}

/// Starts a copy and waits until its progress file has a position after `beyond`. Returns that position.
fn start_until_in_the_middle(
    directory: &Path,
    words: &[&str],
    beyond: &str,
) -> (std::process::Child, String) {
    let mut child = started(directory, words);
    let start = Instant::now();
    loop {
        let recorded = fs::read_to_string(directory.join("progress.json")).unwrap_or_default();
        let place =
            recorded.split_once("\"place\": \"").map_or("", |(_, rest)| rest.split('"').next().unwrap());
        if place > beyond {
            return (child, place.to_owned());
        }
        assert!(child.try_wait().unwrap().is_none(), "the copy has ended before the test could stop it");
        assert!(start.elapsed() < PATIENCE, "the copy records no progress: {recorded}");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_stopped_or_killed_copy_resumes() {
    let directory = source(true);
    let in_it = directory.path();
    runtime().block_on(async {
        let side = open(&in_it.join("from"), &conf("RandomPartitioner")).await;
        let cells = family(&side, "K", "Cells");
        for part in 0..100 {
            let row = |row| {
                let value = "v".repeat(200);
                let changes = (0..20).map(|column| live(&format!("c{column}"), &value, T)).collect();
                Mutation::of(bytes(&format!("row {part} {row}")), cells.clone(), changes)
            };
            apply(&side, (0..50).map(row).collect()).await;
        }
        side.close().await.unwrap();
    });
    let words =
        ["--from", "data:from", "--to", "data:to", "--progress-file", "progress.json", "--parallel", "2"];
    let (mut child, place) = start_until_in_the_middle(in_it, &words, "");
    kill_process(Pid::from_raw(child.id().try_into().unwrap()).unwrap(), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let log = fs::read_to_string(in_it.join("copy.log")).unwrap();
    assert!(log.contains("stopped: K.Cells is copied only in part"), "{log}");

    let (mut child, _) = start_until_in_the_middle(in_it, &words, &place);
    child.kill().unwrap();
    child.wait().unwrap();

    copy(in_it, &words);
    assert_same(in_it, "from", "to", &conf("RandomPartitioner"));
    let text = copy(in_it, &words);
    assert!(text.contains("K.Cells was copied before") && text.contains("made.counted was copied"), "{text}");
    // Without the progress file, everything is written again. That changes nothing, not even counters.
    copy(in_it, &words[..4]);
    assert_same(in_it, "from", "to", &conf("RandomPartitioner"));

    let other = ["--from", "data:from", "--to", "data:elsewhere", "--progress-file", "progress.json"];
    let (succeeded, text) = run_copy(in_it, &other);
    assert!(!succeeded && text.contains("use another file"), "{text}");
}

#[test]
fn incompatible_sources_and_targets_are_refused() {
    let directory = source(false);
    let in_it = directory.path();
    let other = conf("RandomPartitioner").replace("\"TimeUUIDType\"", "\"UTF8Type\"");
    fs::write(in_it.join("other.xml"), other).unwrap();
    for (words, why) in [
        (&["--from", "data:from", "--to", "data:from"][..], "is both the source and the target"),
        (&["--from", "data:nowhere", "--to", "data:to"], "the directory does not exist"),
        (&["--from", "data:from", "--to", "thrift:127.0.0.1:1"], "cannot connect"),
        (&["--from", "data:from", "--to", "data:to", "--keyspace", "Q"], "no column family in a keyspace Q"),
        (
            &["--from", "data:from", "--to", "data:to2", "--to-config", "other.xml"],
            "its comparator is org.apache.cassandra.db.marshal.TimeUUIDType in the source",
        ),
        (
            &["--from", "data:from", "--to", "data:to3", "--to-config", "murmur.xml", "--verify-only"],
            "the directory does not exist",
        ),
        (&["--from", "data:from", "--to", "data:to", "--config", "murmur.xml"], "RandomPartitioner"),
    ] {
        let (succeeded, text) = run_copy(in_it, words);
        assert!(!succeeded && text.contains(why), "{words:?}: {text}");
    }
}

/// Without a login no call before the descriptions shows the generation of the client: the replies have the results of
/// both, and their order depends on the transport.
#[test]
fn a_thrift_server_without_logins_is_read_in_each_generation_and_transport() {
    let directory = source(true);
    let in_it = directory.path();
    fs::create_dir(in_it.join("server")).unwrap();
    fs::rename(in_it.join("from"), in_it.join("server/data")).unwrap();
    let server = Server::start(&in_it.join("server"), &conf("RandomPartitioner"), &["--cql", "off"]);
    for options in ["", "?unframed", "?version=0.6", "?framed&version=0.6"] {
        let from = format!("thrift:{}{options}", server.address);
        let to = format!("data:copy{}", options.len());
        let places = ["--from", &from, "--to", &to, "--to-config", "murmur.xml", "--keyspace", "K"];
        let text = copy(in_it, &places);
        assert!(text.contains("copied: 3 column families"), "{options}: {text}");
    }
    server.stop();
}

#[test]
fn a_copy_of_a_thrift_server_has_its_live_columns() {
    let directory = source(true);
    let in_it = directory.path();
    let login = "<Authenticator>org.apache.cassandra.auth.SimpleAuthenticator</Authenticator>
        <Authority>org.apache.cassandra.auth.AllowAllAuthority</Authority></Storage>";
    let conf = conf("RandomPartitioner").replace("</Storage>", login);
    fs::create_dir(in_it.join("server")).unwrap();
    fs::rename(in_it.join("from"), in_it.join("server/data")).unwrap();
    fs::write(in_it.join("server/passwd"), "theo=secret\n").unwrap();
    fs::write(in_it.join("password"), "secret\n").unwrap();
    let server = Server::start(&in_it.join("server"), &conf, &["--cql", "off", "--passwd", "passwd"]);
    let old = format!("thrift:{}?version=0.6&user=theo&password-file=password", server.address);
    let new = format!("thrift:{}?user=theo&password-file=password", server.address);
    let nobody = format!("thrift:{}", server.address);
    let (succeeded, text) =
        run_copy(in_it, &["--from", &nobody, "--to", "data:none", "--to-config", "murmur.xml"]);
    assert!(!succeeded && text.contains("was refused"), "{text}");
    for (from, to) in [(&old, "data:old"), (&new, "data:new")] {
        let made = ["--to-config", "murmur.xml"];
        let places = ["--from", from, "--to", to, "--keyspace", "K"];
        let text = copy(in_it, &[&places[..], &made, &["--verify", "--rows-at-a-time", "2"]].concat());
        assert!(text.contains("only returns live columns"), "{text}");
        assert!(text.contains("copied: 3 column families"), "{text}");
    }
    // Tables of CQL, indexes and counters are created from the server's description of them.
    let places = ["--from", &new, "--to", "data:new", "--keyspace", "made", "--to-config", "murmur.xml"];
    let text = copy(in_it, &[&places[..], &["--verify"]].concat());
    assert!(text.contains("copied: 3 column families"), "{text}");
    server.stop();
    runtime().block_on(async {
        let to = open(&in_it.join("new"), &bare_conf("Murmur3Partitioner")).await;
        let Outcome::Rows(found) = cql(&to, "SELECT k FROM people WHERE city = 'Ulm'").await else {
            panic!("no rows")
        };
        assert_eq!(found.rows.len(), 10);
        let cells = family(&to, "K", "Cells");
        let rows = dumped(&to, &cells).await;
        let row =
            |key: &str| rows.iter().find(|row| row.key == key).unwrap_or_else(|| panic!("no row {key}"));
        assert_eq!(row("wide").changes.len(), 3000);
        assert_eq!(row("plain").changes, [live("a", "1", T), live("b", "", T + 1), live("c", "3", -7)]);
        let [Change::Cell { cell, .. }, _] = &row("expiring").changes[..] else {
            panic!("{:?}", row("expiring"))
        };
        let now_s = Clock::system().now_s();
        // Thrift does not return when a column expires, so the copy gives it its full time to live again.
        let CellKind::Expiring { ttl_s, expires_at_s } = cell.kind else { panic!("{cell:?}") };
        assert!(ttl_s == 100_000 && (now_s + 99_000..=now_s + 100_001).contains(&expires_at_s), "{cell:?}");
        assert!(rows.iter().all(|row| row.key != "gone" && row.key != "only a tombstone"));
        to.close().await.unwrap();
    });
}
