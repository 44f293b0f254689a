//! The server is killed under load, again and again, on one directory. Every acknowledged write must be there
//! afterwards; an interrupted write may be there or not. Truncates and drops, kills during the start, and kills during
//! merges are tested in the same way.
//!
//! `CRASH_ROUNDS=n` sets the number of rounds of each test, `CRASH_SEED=n` repeats a run.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use crate::support;
use support::Chance;
use support::calls::*;
use support::client::{Client, Style};
use support::server::{Server, storage_conf};
use support::value::{Value, fields, map, structs, text};
use tempfile::TempDir;
use wire::thrift::TType;

const KS: &str = "Keyspace1";
const ROUNDS: usize = 10;
/// Rounds of the tests that kill the server in one short operation; a round takes about a tenth of a second.
const SHORT_ROUNDS: usize = 40;
const WRITERS: usize = 4;
/// A memtable has half of this memory, so memtables are flushed often and some kills happen during a flush.
const SMALL_MEMORY: &[&str] = &["--cache-mb", "2"];
/// The number of columns of a row; so few that most writes replace or remove a column.
const COLUMNS: usize = 12;
const ROWS: usize = 5;

#[test]
fn acknowledged_writes_survive_with_periodic_sync() {
    crash_often(
        "<CommitLogSync>periodic</CommitLogSync><CommitLogSyncPeriodInMS>10000</CommitLogSyncPeriodInMS>",
        1,
    );
}

#[test]
fn acknowledged_writes_survive_with_batch_sync() {
    crash_often(
        "<CommitLogSync>batch</CommitLogSync><CommitLogSyncBatchWindowInMS>0.5</CommitLogSyncBatchWindowInMS>",
        2,
    );
}

/// A column: the numbers of its row and of its name.
type Place = (usize, usize);

/// The values of columns; `None` if a column is deleted.
type Columns = BTreeMap<Place, Option<Vec<u8>>>;

/// A connection that writes to its own rows.
struct Writer {
    number: usize,
    chance: Chance,
    timestamp: i64,
    /// The content after all acknowledged writes.
    known: Columns,
    /// The changes of the write without an answer. They are all there or none is, because they are of one row.
    under_way: Columns,
}

fn crash_often(sync: &str, kind: u64) {
    let seed = Chance::seed_from("CRASH_SEED");
    println!("CRASH_SEED={seed}");
    let mut chance = Chance::new(seed ^ kind);
    let directory = tempfile::tempdir().unwrap();
    let mut writers: Vec<Writer> = (0..WRITERS)
        .map(|number| Writer {
            number,
            chance: Chance::new(chance.next()),
            timestamp: 0,
            known: Columns::new(),
            under_way: Columns::new(),
        })
        .collect();
    let mut acknowledged = 0;
    let mut server = Server::start(directory.path(), &storage_conf(sync), SMALL_MEMORY);
    let rounds = rounds(ROUNDS);
    for _ in 0..rounds {
        let running: Vec<_> = writers
            .into_iter()
            .map(|writer| {
                let style = Style::ALL[writer.number % Style::ALL.len()];
                let client = server.client(style);
                thread::spawn(move || writer.write_until_the_end(client))
            })
            .collect();
        // The server is killed at a random time.
        thread::sleep(Duration::from_millis(50 + chance.below(1000) as u64));
        server.kill();
        writers = Vec::new();
        for writer in running {
            let (writer, count) = writer.join().unwrap();
            acknowledged += count;
            writers.push(writer);
        }
        server = Server::start_again(directory.path(), SMALL_MEMORY);
        let mut client = server.client(Style::UNFRAMED);
        writers.iter_mut().for_each(|writer| writer.check(&mut client));
    }
    assert!(acknowledged > rounds * WRITERS, "only {acknowledged} writes were acknowledged");
    server.stop();
    let server = Server::start_again(directory.path(), &[]);
    let mut client = server.client(Style::UNFRAMED);
    writers.iter_mut().for_each(|writer| writer.check(&mut client));
}

impl Writer {
    fn key(&self, row: usize) -> String {
        format!("writer{} row{row}", self.number)
    }

    /// Writes until the connection ends. Returns the number of acknowledged writes.
    fn write_until_the_end(mut self, mut client: Client) -> (Writer, usize) {
        for count in 0.. {
            let (method, args, changes) = self.next_write();
            let outcome = client.try_call(method, &args);
            match outcome {
                Ok(reply) => {
                    reply.void();
                    self.known.extend(changes);
                }
                Err(_) => {
                    self.under_way = changes;
                    return (self, count);
                }
            }
        }
        unreachable!("the server is killed")
    }

    /// Returns a random write, and the columns that it changes.
    fn next_write(&mut self) -> (&'static str, Value, Columns) {
        self.timestamp += 1;
        let timestamp = self.timestamp;
        let row = self.chance.below(ROWS);
        let at = self.chance.below(COLUMNS);
        let key = self.key(row);
        let column_path = || path("Standard1", None, Some(name(at).as_bytes()));
        match self.chance.below(8) {
            0 => {
                let args = remove_args(KS, key.as_bytes(), column_path(), timestamp, ONE);
                ("remove", args, Columns::from([((row, at), None)]))
            }
            1 => {
                let whole = path("Standard1", None, None);
                let args = remove_args(KS, key.as_bytes(), whole, timestamp, ONE);
                ("remove", args, (0..COLUMNS).map(|at| ((row, at), None)).collect())
            }
            2..=4 => {
                let value = self.value();
                let args = insert_args(KS, key.as_bytes(), column_path(), (&value, timestamp), ONE);
                ("insert", args, Columns::from([((row, at), Some(value))]))
            }
            _ => {
                let mut mutations = Vec::new();
                let mut changes = Columns::new();
                for at in 0..COLUMNS {
                    let value = (self.chance.below(3) > 0).then(|| self.value());
                    mutations.push(match &value {
                        Some(value) => write(column(name(at).as_bytes(), value, timestamp)),
                        None => delete(&[name(at)], timestamp),
                    });
                    changes.insert((row, at), value);
                }
                let batch = rows(vec![(&key, vec![("Standard1", mutations)])]);
                ("batch_mutate", batch_mutate_args(KS, batch, ONE), changes)
            }
        }
    }

    fn value(&mut self) -> Vec<u8> {
        let length = if self.chance.below(50) == 0 { 100_000 } else { self.chance.below(200) };
        [format!("{}:", self.timestamp).as_bytes(), &vec![b'v'; length]].concat()
    }

    /// Checks that all acknowledged writes are there, and the unacknowledged write completely or not at all.
    fn check(&mut self, client: &mut Client) {
        let found = self.read(client);
        let mut with_last = self.known.clone();
        with_last.append(&mut self.under_way);
        let differences = |expected: &Columns| -> Vec<String> {
            let held = |place| found.get(place).cloned().flatten();
            let wrong = expected.iter().filter(|(place, value)| held(place) != **value);
            let show =
                |(place, value)| format!("{place:?}: {:?}, expected {:?}", head(&held(place)), head(value));
            wrong.map(show).collect()
        };
        let (without, with) = (differences(&self.known), differences(&with_last));
        assert!(
            without.is_empty() || with.is_empty(),
            "writer {}:\nwithout the write under way {without:#?}\nwith it {with:#?}",
            self.number
        );
        self.known = found;
    }

    /// Reads all columns.
    fn read(&self, client: &mut Client) -> Columns {
        let mut all = Columns::new();
        for row in 0..ROWS {
            let key = self.key(row);
            let args = get_slice_args(KS, key.as_bytes(), parent("Standard1", None), everything(), ONE);
            let found = columns(client.call("get_slice", &args).value());
            let found: BTreeMap<Vec<u8>, Vec<u8>> = found.into_iter().collect();
            all.extend((0..COLUMNS).map(|at| ((row, at), found.get(name(at).as_bytes()).cloned())));
        }
        all
    }
}

fn rounds(usual: usize) -> usize {
    std::env::var("CRASH_ROUNDS").map_or(usual, |text| text.parse().unwrap())
}

fn name(at: usize) -> String {
    format!("column{at:02}")
}

/// Returns the start of a value, which identifies the write.
fn head(value: &Option<Vec<u8>>) -> Option<String> {
    value.as_ref().map(|value| String::from_utf8_lossy(&value[..value.len().min(20)]).into_owned())
}

/// A client-defined keyspace.
const MADE: &str = "Made";
/// A column family that is truncated and dropped, and one that is not.
const LARGE: &str = "Large";
const KEPT: &str = "Kept";
const LARGE_ROWS: usize = 60;
const LARGE_VALUE: usize = 60_000;

const SYNC_BATCH: &str =
    "<CommitLogSync>batch</CommitLogSync><CommitLogSyncBatchWindowInMS>0.5</CommitLogSyncBatchWindowInMS>";

/// A server with a client-defined keyspace, and the content that it must have.
struct Made {
    directory: TempDir,
    server: Option<Server>,
    chance: Chance,
    /// The number of rows that `LARGE` must have.
    large: usize,
    /// The number of columns that the row of `KEPT` must have: one for each round.
    kept: usize,
    timestamp: i64,
}

/// How the rows of a column family are removed.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Forget {
    Truncate,
    Drop,
}

impl Made {
    fn start(kind: u64) -> Made {
        let seed = Chance::seed_from("CRASH_SEED");
        println!("CRASH_SEED={seed}");
        // In memory if possible: syncs are fast there, so kills are distributed evenly over the steps of an operation.
        let directory = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let server = Server::start(directory.path(), &storage_conf(SYNC_BATCH), SMALL_MEMORY);
        let chance = Chance::new(seed ^ kind);
        let made = Made { directory, server: Some(server), chance, large: 0, kept: 0, timestamp: 0 };
        let keyspace = fields([
            (1, text(MADE)),
            (2, text("SimpleStrategy")),
            (3, map(TType::String, vec![("replication_factor", text("1"))])),
            (5, structs(vec![definition(LARGE), definition(KEPT)])),
        ]);
        let mut client = made.server().client(Style::FRAMED);
        client.call("system_add_keyspace", &fields([(1, keyspace)])).value();
        made
    }

    fn server(&self) -> &Server {
        self.server.as_ref().unwrap()
    }

    fn client(&self) -> Client {
        let mut client = self.server().client(Style::FRAMED);
        client.call("set_keyspace", &fields([(1, text(MADE))])).void();
        client
    }

    /// Writes enough to fill several memtables, and a column of the other column family.
    fn fill(&mut self) {
        let mut client = self.client();
        for row in 0..LARGE_ROWS {
            self.timestamp += 1;
            let value = self.chance.bytes(LARGE_VALUE);
            insert(&mut client, LARGE, &format!("row{row}"), ("a", &value, self.timestamp));
        }
        self.large = LARGE_ROWS;
        self.timestamp += 1;
        insert(&mut client, KEPT, "row", (&format!("{:06}", self.kept), b"value", self.timestamp));
        self.kept += 1;
    }

    fn kill(&mut self) {
        self.server.take().unwrap().kill();
    }

    fn start_again(&mut self) {
        self.server = Some(Server::start_again(self.directory.path(), SMALL_MEMORY));
    }

    /// Starts the server and kills it after at most 30 ms.
    fn start_and_kill(&mut self) {
        let mut child = Server::spawn_only(self.directory.path(), SMALL_MEMORY);
        self.sleep(30_000);
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Sleeps for a random time, after which the test kills the server.
    fn sleep(&mut self, below_us: usize) {
        thread::sleep(Duration::from_micros(self.chance.below(below_us) as u64));
    }

    /// Sends a truncate or a drop, and kills the server while it runs. Returns whether the call was acknowledged.
    fn kill_while_it_forgets(&mut self, forget: Forget) -> bool {
        let mut client = self.client();
        let running = thread::spawn(move || {
            let method = if forget == Forget::Truncate { "truncate" } else { "system_drop_column_family" };
            let Ok(reply) = client.try_call(method, &fields([(1, text(LARGE))])) else { return false };
            match forget {
                Forget::Truncate => reply.void(),
                Forget::Drop => {
                    reply.value();
                }
            }
            true
        });
        // Most of the work is done in the first milliseconds, so most kills happen early.
        let below_us = *self.chance.pick(&[2_000, 10_000, 40_000]);
        self.sleep(below_us);
        self.kill();
        running.join().unwrap()
    }

    /// Creates the column family if it does not exist. Returns whether it existed.
    fn define_again(&self) -> bool {
        let mut client = self.client();
        let described = client.call("describe_keyspace", &fields([(1, text(MADE))]));
        let is_there = described.value().field(5).items().iter().any(|family| family.field(2).str() == LARGE);
        if !is_there {
            client.call("system_add_column_family", &fields([(1, definition(LARGE))])).value();
        }
        is_there
    }

    /// Checks that `LARGE` has all acknowledged rows, or none if it was emptied. With `None` as `is_emptied` both are
    /// allowed.
    fn check(&mut self, is_emptied: Option<bool>) {
        let mut client = self.client();
        let range = fields([(1, text("")), (2, text("")), (5, Value::I32(1000))]);
        let args = fields([(1, parent(LARGE, None)), (2, everything()), (3, range), (4, Value::I32(ONE))]);
        let found = client.call("get_range_slices", &args).value().items().len();
        match is_emptied {
            Some(true) => assert_eq!(found, 0, "rows are back"),
            Some(false) => assert_eq!(found, self.large, "rows are missing"),
            None => assert!(found == 0 || found == self.large, "{found} rows of {}", self.large),
        }
        self.large = found;
        let args = fields([
            (1, text("row")),
            (2, parent(KEPT, None)),
            (3, slice(b"", b"", false, i32::MAX)),
            (4, Value::I32(ONE)),
        ]);
        let names = column_names(client.call("get_slice", &args).value());
        let expected: Vec<String> = (0..self.kept).map(|number| format!("{number:06}")).collect();
        assert_eq!(names, expected);
    }
}

fn definition(name: &str) -> Value {
    fields([(1, text(MADE)), (2, text(name)), (3, text("Standard")), (5, text("BytesType"))])
}

fn insert(client: &mut Client, family: &str, key: &str, (name, value, timestamp): (&str, &[u8], i64)) {
    let column = fields([(1, text(name)), (2, text(value)), (3, Value::I64(timestamp))]);
    let args = fields([(1, text(key)), (2, parent(family, None)), (3, column), (4, Value::I32(ONE))]);
    client.call("insert", &args).void();
}

#[test]
fn acknowledged_truncates_and_drops_survive_kills() {
    let mut made = Made::start(3);
    let mut acknowledged = 0;
    let rounds = rounds(SHORT_ROUNDS);
    for round in 0..rounds {
        made.fill();
        let forget = if round % 2 == 0 { Forget::Truncate } else { Forget::Drop };
        let is_acknowledged = made.kill_while_it_forgets(forget);
        acknowledged += usize::from(is_acknowledged);
        if made.chance.below(3) == 0 {
            made.start_and_kill();
        }
        made.start_again();
        let was_there = made.define_again();
        assert!(!(is_acknowledged && forget == Forget::Drop && was_there), "a dropped column family is back");
        let is_emptied = is_acknowledged || !was_there;
        made.check(is_emptied.then_some(true));
    }
    println!("{acknowledged} of {rounds} truncates and drops were acknowledged");
}

#[test]
fn kills_during_starts_and_compactions_lose_nothing() {
    let mut made = Made::start(4);
    for round in 0..rounds(SHORT_ROUNDS) {
        made.fill();
        // A compaction begins soon after a flush.
        made.sleep(20_000);
        made.kill();
        for _ in 0..1 + round % 3 {
            made.start_and_kill();
        }
        made.start_again();
        made.check(Some(false));
    }
}
