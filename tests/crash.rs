//! The server is killed under load, again and again, on one directory: every write that was acknowledged is there
//! afterwards. One that was under way may be there or not.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod support;

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use support::Chance;
use support::calls::*;
use support::client::{Client, Style};
use support::server::{Server, storage_conf};
use support::value::Value;

const KS: &str = "Keyspace1";
const ROUNDS: usize = 10;
const WRITERS: usize = 4;
/// Memtables are flushed at a quarter of this, so that some crashes meet a flush.
const SMALL_MEMORY: &[&str] = &["--cache-mb", "4"];
/// Columns of each row, so that most writes replace or remove something.
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

/// A column by the numbers of its row and itself.
type Place = (usize, usize);

/// What columns hold.
type Columns = BTreeMap<Place, Option<Vec<u8>>>;

/// One connection's worth of writes to rows that are its own.
struct Writer {
    number: usize,
    chance: Chance,
    timestamp: i64,
    /// What was acknowledged.
    known: Columns,
    /// What was not answered: all of it is there, or nothing, for it is of one row.
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
    for _ in 0..ROUNDS {
        let running: Vec<_> = writers
            .into_iter()
            .map(|writer| {
                let style = Style::ALL[writer.number % Style::ALL.len()];
                let client = server.client(style);
                thread::spawn(move || writer.write_until_the_end(client))
            })
            .collect();
        // The moment of the crash is what is being tested; nothing waits for it.
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
    assert!(acknowledged > ROUNDS * WRITERS, "only {acknowledged} writes were acknowledged");
    server.stop();
    let server = Server::start_again(directory.path(), &[]);
    let mut client = server.client(Style::UNFRAMED);
    writers.iter_mut().for_each(|writer| writer.check(&mut client));
}

impl Writer {
    fn key(&self, row: usize) -> String {
        format!("writer{} row{row}", self.number)
    }

    /// Writes until the server is gone; how many writes it acknowledged.
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

    /// Some write, and what each column holds after it.
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
                let args = insert_args(KS, key.as_bytes(), column_path(), &value, timestamp, ONE);
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

    /// Every column holds what was acknowledged, and either all or nothing of what was under way is there.
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

    /// What every column holds now.
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

fn name(at: usize) -> String {
    format!("column{at:02}")
}

/// The start of a value, which tells the write that it is of.
fn head(value: &Option<Vec<u8>>) -> Option<String> {
    value.as_ref().map(|value| String::from_utf8_lossy(&value[..value.len().min(20)]).into_owned())
}
