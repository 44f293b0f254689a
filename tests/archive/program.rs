//! The program: a server is killed under load and its directory removed, again and again. Each time another one is
//! restored from the archive. All that was acknowledged a while before the kill is there, in the order in which it was
//! written, and nothing else.
//!
//! `ARCHIVE_ROUNDS` sets the number of rounds, `ARCHIVE_URL` an address in an object storage that is empty.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use wire::thrift::TType;

use crate::address;
use crate::support::Chance;
use crate::support::calls::{ONE, everything, parent};
use crate::support::client::{Client, Style};
use crate::support::server::{Server, storage_conf};
use crate::support::value::{Value, fields, map, structs, text};

const KS: &str = "Archived";
const WRITERS: usize = 3;
/// New writes are uploaded after a second. The rest is for a busy machine.
const LAG: Duration = Duration::from_secs(4);

/// The numbered steps that a connection has finished, and when.
#[derive(Default)]
struct Steps {
    ended: Vec<Instant>,
    /// The number of the step before the first of `ended`.
    before: u64,
}

fn thriftstore(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_thriftstore")).args(args).output().unwrap()
}

fn succeeded(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    assert!(output.status.success(), "{text}");
    text
}

fn family(name: &str, validator: &str) -> Value {
    let fields_of =
        [(1, text(KS)), (2, text(name)), (3, text("Standard")), (5, text("UTF8Type")), (15, text(validator))];
    fields(fields_of)
}

fn make_schema(client: &mut Client) {
    let families = vec![
        family("Steps", "BytesType"),
        family("Hits", "CounterColumnType"),
        family("Erased", "BytesType"),
    ];
    let keyspace = fields([
        (1, text(KS)),
        (2, text("SimpleStrategy")),
        (3, map(TType::String, vec![("replication_factor", text("1"))])),
        (5, structs(families)),
    ]);
    client.call("system_add_keyspace", &fields([(1, keyspace)])).value();
}

fn use_keyspace(client: &mut Client) {
    client.call("set_keyspace", &fields([(1, text(KS))])).void();
}

/// Takes numbered steps until the connection ends: step `n` inserts column `n`, and adds `n` to the writer's counter. The
/// first writer also writes and truncates a column family, and defines others.
fn work(mut client: Client, writer: usize, before: u64) -> Steps {
    use_keyspace(&mut client);
    let mut steps = Steps { ended: Vec::new(), before };
    let row = format!("writer{writer}");
    for number in before + 1.. {
        let name = format!("{number:08}");
        let column = fields([(1, text(&name)), (2, text("v")), (3, Value::I64(1))]);
        let insert = [(1, text(&row)), (2, parent("Steps", None)), (3, column.clone()), (4, Value::I32(ONE))];
        let delta = i64::try_from(number).unwrap();
        let counter = fields([(1, text("sum")), (2, Value::I64(delta))]);
        let add = [(1, text(&row)), (2, parent("Hits", None)), (3, counter), (4, Value::I32(ONE))];
        let mut calls = vec![("insert", fields(insert)), ("add", fields(add))];
        if writer == 0 && number % 20 == 0 {
            let erased = [(1, text("row")), (2, parent("Erased", None)), (3, column), (4, Value::I32(ONE))];
            calls.push(("truncate", fields([(1, text("Erased"))])));
            calls.push(("insert", fields(erased)));
        }
        if writer == 0 && number % 100 == 0 {
            let defined = format!("Defined{number}");
            calls.push(("system_add_column_family", fields([(1, family(&defined, "BytesType"))])));
        }
        for (method, args) in calls {
            match client.try_call(method, &args) {
                Ok(reply) => drop(reply),
                Err(_) => return steps,
            }
        }
        steps.ended.push(Instant::now());
    }
    unreachable!("the server is killed")
}

fn slice(client: &mut Client, family: &str, row: &str, count: i32) -> Vec<Value> {
    let predicate = match count {
        0 => everything(),
        count => crate::support::calls::slice(b"", b"", true, count),
    };
    let args = fields([(1, text(row)), (2, parent(family, None)), (3, predicate), (4, Value::I32(ONE))]);
    client.call("get_slice", &args).value().items().to_vec()
}

/// The last step of each writer, and what its counter lacks because of kills between a column and its increment.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    step: u64,
    lacks: i64,
}

/// Checks what a restored server has, and returns the last step of each writer.
fn check(client: &mut Client, known: &[Steps], before: [Last; WRITERS], killed: Instant) -> [Last; WRITERS] {
    use_keyspace(client);
    std::array::from_fn(|writer| {
        let row = format!("writer{writer}");
        let columns = slice(client, "Steps", &row, 1_000_000);
        let last = columns.len() as u64;
        for (at, column) in columns.iter().enumerate() {
            let name = format!("{:08}", last - at as u64);
            assert_eq!(
                column.field(1).field(1).bytes(),
                name.as_bytes(),
                "{row} has no step {name} of {last}"
            );
        }
        let steps = &known[writer];
        let safe = steps.ended.iter().filter(|ended| **ended + LAG < killed).count() as u64;
        assert!(last >= steps.before + safe, "{row}: {last} of {} + {safe}", steps.before);
        assert!(
            last <= steps.before + steps.ended.len() as u64 + 1,
            "{row}: {last} is more than was written"
        );
        // The counter of the last step may be missing, because it follows the column.
        let sum: i64 =
            slice(client, "Hits", &row, 0).iter().map(|column| column.field(3).field(2).int()).sum();
        let lacks = i64::try_from(last * (last + 1) / 2).unwrap() - sum - before[writer].lacks;
        assert!(lacks == 0 || lacks == i64::try_from(last).unwrap(), "{row}: {lacks} less than {last} steps");
        if writer == 0 {
            let erased = slice(client, "Erased", "row", 0);
            assert!(erased.len() <= 1, "a truncate was forgotten: {erased:?}");
        }
        Last { step: last, lacks: lacks + before[writer].lacks }
    })
}

/// Waits until so many runs have a full backup.
fn wait_for_runs(url: &str, count: usize) {
    let started = Instant::now();
    loop {
        let listed = thriftstore(&["restore", "--from", url, "--list"]);
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        if text.matches("full backups: ").count() >= count {
            return;
        }
        assert!(
            started.elapsed() < Duration::from_secs(60),
            "{text}{}",
            String::from_utf8_lossy(&listed.stderr)
        );
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_lost_machine_is_restored_again_and_again() {
    let seed = Chance::seed_from("ARCHIVE_SEED");
    println!("ARCHIVE_SEED={seed}");
    let mut chance = Chance::new(seed);
    let place = tempfile::tempdir().unwrap();
    let url = address(place.path(), "program");
    let data = place.path().join("data");
    let args = ["--archive", &url, "--archive-keep", "30d", "--cql", "off", "--cache-mb", "2"];
    let mut server = Server::start(place.path(), &storage_conf(""), &args);
    make_schema(&mut server.client(Style::FRAMED));
    let mut last = [Last::default(); WRITERS];
    let rounds: usize = std::env::var("ARCHIVE_ROUNDS").map_or(3, |text| text.parse().unwrap());
    for round in 1..=rounds {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let (client, before) = (server.client(Style::FRAMED), last[writer].step);
                thread::spawn(move || work(client, writer, before))
            })
            .collect();
        wait_for_runs(&url, round);
        thread::sleep(LAG + Duration::from_millis(chance.below(2_000) as u64));
        server.kill();
        let killed = Instant::now();
        let known: Vec<Steps> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        std::fs::remove_dir_all(&data).unwrap();
        let to = data.to_str().unwrap();
        let listed = succeeded(&thriftstore(&["restore", "--from", &url, "--list"]));
        assert_eq!(listed.matches("line ").count(), 2 * round - 1, "{listed}");
        let dry = succeeded(&thriftstore(&["restore", "--from", &url, "--dry-run"]));
        assert!(dry.contains("this would be restored: the state of ") && !data.exists(), "{dry}");
        let restored = succeeded(&thriftstore(&["restore", "--from", &url, "--to", to]));
        assert!(restored.contains("restored ") && restored.contains("the state of "), "{restored}");
        server = Server::start_again(place.path(), &args);
        let mut client = server.client(Style::FRAMED);
        last = check(&mut client, &known, last, killed);
    }
    wait_for_runs(&url, rounds + 1);
    server.stop();
    let verified = succeeded(&thriftstore(&["archive", "verify", &url]));
    assert_eq!(verified.matches("  line ").count(), rounds + 1, "{verified}");
}

#[test]
fn wrong_options_are_refused() {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("storage-conf.xml"), storage_conf("")).unwrap();
    let url = format!("file://{}/archive", place.path().display());
    for (args, why) in [
        (vec!["--archive", "s3://KEY:hunter2@bucket"], "set credentials in the environment"),
        (vec!["--archive", "/var/backups"], "use s3://BUCKET/PREFIX"),
        (
            vec!["--archive", &url, "--ephemeral"],
            "--archive is for a data directory, and data is stored in memory",
        ),
        (vec!["--archive", &url, "--archive-keep", "30"], "such as 30d or 12h"),
        (vec!["--archive-keep", "30d"], "--archive"),
    ] {
        let (status, output) = Server::fail(place.path(), &args);
        assert!(
            !status.success() && output.contains(why) && !output.contains("hunter2"),
            "{args:?}: {output}"
        );
    }
    let missing = thriftstore(&["restore", "--from", &url, "--list"]);
    let text = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert!(!missing.status.success() && text.contains("/archive"), "{text}");
}
