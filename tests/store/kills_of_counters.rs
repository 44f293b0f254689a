//! Sixteen connections add to the same two counters while the server is killed again and again. Each counter must
//! contain every acknowledged increment exactly once, and may contain unacknowledged ones.

use std::thread;
use std::time::Duration;

use crate::support;
use support::Chance;
use support::calls::*;
use support::client::{Client, Style};
use support::server::{Server, storage_conf};
use support::value::{Value, fields, map, structs, text};
use wire::thrift::TType;

const KS: &str = "Counted";
const CONNECTIONS: usize = 16;
const KILLS: usize = 5;
const ADDS: usize = 100_000;

/// A counter: its column family, and the super column that it is in.
const PLACES: [(&str, Option<&[u8]>); 2] = [("Hits", None), ("Seen", Some(b"pages"))];

/// The value of each counter.
type Totals = [i64; PLACES.len()];

/// The increments of one connection.
#[derive(Default)]
struct Tally {
    calls: usize,
    acknowledged: Totals,
    /// The increment without an answer, which was added or not.
    under_way: Totals,
}

#[test]
fn counters_survive_kills_without_lost_or_double_increments() {
    let seed = Chance::seed_from("CRASH_SEED");
    println!("CRASH_SEED={seed}");
    let mut chance = Chance::new(seed);
    let directory = tempfile::tempdir().unwrap();
    let mut server = Server::start(directory.path(), &storage_conf(""), &[]);
    make_schema(&mut server.client(Style::FRAMED));
    let (mut known, mut calls) = (Totals::default(), 0);
    for _ in 0..KILLS {
        let running = add_from_all(&server, ADDS);
        // The server is killed at a random time.
        thread::sleep(Duration::from_millis(100 + chance.below(1000) as u64));
        server.kill();
        server = Server::start_again(directory.path(), &[]);
        let mut most = known;
        for tally in running.into_iter().map(|thread| thread.join().unwrap()) {
            calls += tally.calls;
            add(&mut known, tally.acknowledged);
            add(&mut most, tally.acknowledged);
            add(&mut most, tally.under_way);
        }
        let found = totals(&mut server.client(Style::FRAMED));
        for ((found, known), most) in found.into_iter().zip(known).zip(most) {
            assert!((known..=most).contains(&found), "{found} is not from {known} to {most}");
        }
        // An increment without an answer that is not there now cannot appear later.
        known = found;
    }
    let left = ADDS.saturating_sub(calls) / CONNECTIONS + 1;
    for thread in add_from_all(&server, left) {
        let tally = thread.join().unwrap();
        assert_eq!((tally.calls, tally.under_way), (left, Totals::default()));
        add(&mut known, tally.acknowledged);
    }
    assert_eq!(totals(&mut server.client(Style::FRAMED)), known);
    server.stop();
    let server = Server::start_again(directory.path(), &[]);
    assert_eq!(totals(&mut server.client(Style::FRAMED)), known);
}

fn add(totals: &mut Totals, more: Totals) {
    for (total, count) in totals.iter_mut().zip(more) {
        *total += count;
    }
}

fn make_schema(client: &mut Client) {
    let family = |name: &str, kind: &str| {
        fields([
            (1, text(KS)),
            (2, text(name)),
            (3, text(kind)),
            (5, text("UTF8Type")),
            (15, text("CounterColumnType")),
        ])
    };
    let keyspace = fields([
        (1, text(KS)),
        (2, text("SimpleStrategy")),
        (3, map(TType::String, vec![("replication_factor", text("1"))])),
        (5, structs(vec![family("Hits", "Standard"), family("Seen", "Super")])),
    ]);
    client.call("system_add_keyspace", &fields([(1, keyspace)])).value();
}

/// Starts the connections. Each adds `each` times, or until the connection ends.
fn add_from_all(server: &Server, each: usize) -> Vec<thread::JoinHandle<Tally>> {
    let start = |number: usize| {
        let mut client = server.client(Style::FRAMED);
        client.call("set_keyspace", &fields([(1, text(KS))])).void();
        thread::spawn(move || add_until_the_end(client, number, each))
    };
    (0..CONNECTIONS).map(start).collect()
}

fn add_until_the_end(mut client: Client, number: usize, most: usize) -> Tally {
    let mut tally = Tally::default();
    while tally.calls < most {
        let at = (tally.calls + number) % PLACES.len();
        let delta = 1 + (tally.calls % 3) as i64;
        let (family, super_column) = PLACES[at];
        let counter = fields([(1, text("hits")), (2, Value::I64(delta))]);
        let args =
            fields([(1, text("all")), (2, parent(family, super_column)), (3, counter), (4, Value::I32(ONE))]);
        match client.try_call("add", &args) {
            Ok(reply) => {
                reply.void();
                tally.acknowledged[at] += delta;
                tally.calls += 1;
            }
            Err(_) => {
                tally.under_way[at] = delta;
                break;
            }
        }
    }
    tally
}

/// Returns the value of each counter, 0 if it does not exist.
fn totals(client: &mut Client) -> Totals {
    client.call("set_keyspace", &fields([(1, text(KS))])).void();
    PLACES.map(|(family, super_column)| {
        let args = fields([
            (1, text("all")),
            (2, parent(family, super_column)),
            (3, everything()),
            (4, Value::I32(ONE)),
        ]);
        let found = client.call("get_slice", &args);
        found.value().items().iter().map(|column| column.field(3).field(2).int()).sum()
    })
}
