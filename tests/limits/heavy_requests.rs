//! Valid but very large requests of both protocols, from many clients at once, to a server with little memory. Each
//! request is answered, or refused with the exception of its API generation. A client with small requests is served all
//! the time, and the server stays within its memory limit.
//!
//! Environment: `HEAVY_SECONDS` is the duration, `HEAVY_DATA_MB` the size of the store, `HEAVY_CLIENTS` the number of
//! heavy clients, `HEAVY_PIPELINE` the number of requests that some of them send at once, `HEAVY_LIMIT_MB` the limit of the
//! server's data, and `HEAVY_SEED` repeats a choice of requests.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on should stop")]

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::support;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use parking_lot::Mutex;
use support::Chance;
use support::calls::*;
use support::client::{Client, PATIENCE, Style};
use support::native::{NativeClient, Packing, opcode};
use support::native_body::{Asked, Body, Bound, int};
use support::server::{MemoryLimit, Server, storage_conf};
use support::value::{Value, fields, map, structs, text, texts};
use wire::thrift::{MessageKind, TType};

const KS: &str = "Keyspace1";
const MIB: usize = 1024 * 1024;
/// The default number of heavy clients.
const CLIENTS: usize = 8;
/// Length of the values in the stored rows, and the number of columns in such a row.
const VALUE_BYTES: usize = 2048;
const COLUMNS: usize = 10;
/// Number of columns of the wide row.
const WIDE_COLUMNS: usize = 100_000;
/// Rows of the CQL table.
const TABLE_ROWS: usize = 20_000;
/// The most heavy requests of each client that a small request may wait for.
const WAITS_FOR_MAX: usize = 10;
/// Error codes with which a native request may be refused: unavailable, overloaded, time-outs, syntax, invalid.
const REFUSALS: [i32; 6] = [0x1000, 0x1001, 0x1100, 0x1200, 0x2000, 0x2200];

/// A number from the environment.
fn setting(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}

/// Counts of all clients together.
#[derive(Default)]
struct Tally {
    is_over: AtomicBool,
    /// The number of heavy requests that have been answered or refused.
    finished: AtomicUsize,
    /// The number of outcomes by kind of request and message.
    outcomes: Mutex<BTreeMap<(&'static str, String), usize>>,
    /// Failures of the test.
    wrong: Mutex<Vec<String>>,
}

impl Tally {
    fn note(&self, kind: &'static str, outcome: io::Result<Outcome>) {
        self.finished.fetch_add(1, Ordering::Relaxed);
        let words = match outcome {
            Ok(Outcome::Answered) => "answered".to_owned(),
            Ok(Outcome::Refused(why)) => without_numbers(&why),
            Err(error) => {
                self.wrong.lock().push(format!("{kind}: {error}"));
                return;
            }
        };
        *self.outcomes.lock().entry((kind, words)).or_default() += 1;
    }
}

/// Replaces each number in a message by one letter, so that similar messages are counted together.
fn without_numbers(sentence: &str) -> String {
    let mut short: String =
        sentence.chars().take(160).map(|c| if c.is_ascii_digit() { 'N' } else { c }).collect();
    while short.contains("NN") {
        short = short.replace("NN", "N");
    }
    short
}

enum Outcome {
    Answered,
    Refused(String),
}

/// Returns a random size, often the smallest or the largest.
fn size(chance: &mut Chance, most: usize) -> usize {
    match chance.below(4) {
        0 => most,
        1 => chance.below(most),
        2 => most / 10,
        _ => chance.below(most.min(100)),
    }
}

fn count(chance: &mut Chance) -> i32 {
    *chance.pick(&[1, 100, 10_000, 1_000_000, i32::MAX])
}

/// Returns a random Thrift call that reads or writes much.
fn thrift_call(chance: &mut Chance) -> (&'static str, Value) {
    let everything = slice(b"", b"", chance.below(2) == 0, count(chance));
    let parent = parent("Standard1", None);
    match chance.below(8) {
        0 | 1 => {
            let range = key_range("", "", count(chance));
            ("get_range_slices", range_slices_args(KS, parent, everything, range, ONE))
        }
        2 => ("get_slice", get_slice_args(KS, b"wide", parent, everything, ONE)),
        3 => {
            let keys: Vec<String> =
                (0..size(chance, 100_000)).map(|number| format!("row{number:08}")).collect();
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            ("multiget_slice", multiget_slice_args(KS, &keys, parent, everything))
        }
        4 => ("get_count", fields([(1, text(KS)), (2, text("wide")), (3, parent), (4, Value::I32(ONE))])),
        5 => {
            let names: Vec<String> =
                (0..size(chance, 100_000)).map(|number| format!("c{number:08}")).collect();
            ("get_slice", get_slice_args(KS, b"wide", parent, names_of(&names), ONE))
        }
        6 => ("execute_cql3_query", bomb(chance)),
        _ => ("batch_mutate", batch_mutate_args(KS, heavy_batch(chance), ONE)),
    }
}

fn names_of(all: &[String]) -> Value {
    fields([(1, texts(all))])
}

/// Returns the arguments of a statement that is compressed to a thousandth.
fn bomb(chance: &mut Chance) -> Value {
    let statement = format!("SELECT v FROM ks.t WHERE p = 1{}", " ".repeat(size(chance, 40 * MIB)));
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(statement.as_bytes()).unwrap();
    let compressed = text(encoder.finish().unwrap());
    fields([(1, compressed), (2, Value::I32(1)), (3, Value::I32(ONE))])
}

/// Returns the mutations of a batch for one of a few rows: one large value, or many small ones.
fn heavy_batch(chance: &mut Chance) -> Value {
    let (cells, bytes) = *chance.pick(&[(1, 16 * MIB), (100_000, 10), (1000, 10_000), (60_000, 1000)]);
    let value = vec![b'v'; size(chance, bytes)];
    let mutation = |number: usize| write(column(format!("h{number}").as_bytes(), &value, 1));
    let mutations = (0..size(chance, cells)).map(mutation).collect();
    let key = format!("heavy{}", chance.below(4));
    map(TType::Map, vec![(&key, map(TType::List, vec![("Standard2", structs(mutations))]))])
}

/// A connection that reads replies without keeping them.
struct Raw(TcpStream);

impl Raw {
    fn connect(address: SocketAddr) -> io::Result<Raw> {
        let stream = TcpStream::connect(address)?;
        Raw::over(stream)
    }

    /// Sets the time limits. They grow with the number of clients, because a heavy request waits for those of the
    /// others.
    fn over(stream: TcpStream) -> io::Result<Raw> {
        let patience = PATIENCE * u32::try_from(setting("HEAVY_CLIENTS", CLIENTS).div_ceil(CLIENTS)).unwrap();
        stream.set_read_timeout(Some(patience))?;
        stream.set_write_timeout(Some(patience))?;
        Ok(Raw(stream))
    }

    /// Reads `length` bytes and returns the first of them.
    fn skim(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut kept = vec![0; length.min(1024)];
        self.0.read_exact(&mut kept)?;
        io::copy(&mut (&mut self.0).take((length - kept.len()) as u64), &mut io::sink())?;
        Ok(kept)
    }

    /// Reads the reply to a framed call.
    fn thrift_reply(&mut self, method: &str) -> io::Result<Outcome> {
        let mut length = [0; 4];
        self.0.read_exact(&mut length)?;
        let begin = self.skim(u32::from_be_bytes(length) as usize)?;
        // The header has version and kind, name and sequence number. The result begins with a field's type and id, or
        // is empty.
        let result = begin.get(12 + method.len()..).unwrap_or_default();
        match (begin.get(3), result) {
            (Some(2), [0, ..] | [_, 0, 0, ..]) => Ok(Outcome::Answered),
            (Some(2), [12, 0, 1..=3, ..]) => Ok(Outcome::Refused(printable(result))),
            // There is no memory for the message: it was not read.
            (Some(3), _) if printable(result).contains("try again later") => {
                Ok(Outcome::Refused(printable(result)))
            }
            _ => Err(io::Error::other(format!("no declared exception: {}", printable(&begin)))),
        }
    }

    /// Reads the answer to a request of version 4 of the native protocol.
    fn native_reply(&mut self) -> io::Result<Outcome> {
        let mut header = [0; 9];
        self.0.read_exact(&mut header)?;
        let body = self.skim(u32::from_be_bytes(*header.last_chunk().unwrap()) as usize)?;
        if header[4] != opcode::ERROR {
            return Ok(Outcome::Answered);
        }
        let code = body.first_chunk().map_or(0, |code| i32::from_be_bytes(*code));
        let why = printable(body.get(6..).unwrap_or_default());
        if REFUSALS.contains(&code) {
            Ok(Outcome::Refused(why))
        } else {
            Err(io::Error::other(format!("error {code:#x}: {why}")))
        }
    }
}

fn printable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).chars().filter(|c| !c.is_control() && *c != '\u{fffd}').collect()
}

/// Sends heavy Thrift calls until the time is over: one or several at once, and sometimes without reading the replies.
fn be_heavy_by_thrift(address: SocketAddr, mut chance: Chance, tally: &Tally) {
    let pipeline = setting("HEAVY_PIPELINE", 3);
    while !tally.is_over.load(Ordering::Relaxed) {
        let calls: Vec<_> =
            (0..*chance.pick(&[1, 1, 1, pipeline])).map(|_| thrift_call(&mut chance)).collect();
        let leaves = chance.below(10) == 0;
        let kind = calls[0].0;
        let ask = || {
            let mut raw = Raw::connect(address)?;
            let mut sender = raw.0.try_clone()?;
            let messages: Vec<_> = calls
                .iter()
                .map(|(name, args)| Style::FRAMED.message(name, args, MessageKind::Call, 1))
                .collect();
            // The first replies are read while the last calls are sent.
            thread::scope(|scope| {
                scope.spawn(move || messages.iter().try_for_each(|message| sender.write_all(message)));
                for (name, _) in calls.iter().filter(|_| !leaves) {
                    tally.note(name, raw.thrift_reply(name));
                }
            });
            Ok(())
        };
        if let Err(error) = ask() {
            tally.note(kind, Err(error));
        }
    }
}

/// Returns a random statement that reads or writes much.
fn statement(chance: &mut Chance) -> (&'static str, String) {
    let list =
        |count: usize, each: &dyn Fn(usize) -> String| (0..count).map(each).collect::<Vec<_>>().join(", ");
    match chance.below(10) {
        0 => ("SELECT *", "SELECT * FROM ks.t".to_owned()),
        1 => ("SELECT count", "SELECT count(*) FROM ks.t".to_owned()),
        2 => (
            "SELECT v, v",
            format!("SELECT {} FROM ks.t", list(1 + size(chance, 50_000), &|_| "v".to_owned())),
        ),
        3 => {
            let keys = list(1 + size(chance, 900_000), &|number| number.to_string());
            ("SELECT IN", format!("SELECT * FROM ks.t WHERE p IN ({keys})"))
        }
        7 => {
            let some = list(1 + size(chance, 300), &|number| number.to_string());
            ("SELECT IN, IN", format!("SELECT * FROM ks.t WHERE p IN ({some}) AND c IN ({some})"))
        }
        8 => {
            let tuples = list(1 + size(chance, 400_000), &|number| format!("({number})"));
            ("SELECT (c) IN", format!("SELECT * FROM ks.t WHERE p = 1 AND (c) IN ({tuples})"))
        }
        9 => {
            let lists = list(1 + size(chance, 60_000), &|number| format!("[[[{number}]]]"));
            ("INSERT deep", format!("INSERT INTO ks.t (p, c, deep) VALUES (-3, 0, [{lists}])"))
        }
        4 => {
            let elements = list(1 + size(chance, 60_000), &|number| number.to_string());
            ("INSERT list", format!("INSERT INTO ks.t (p, c, l) VALUES (-1, 0, [{elements}])"))
        }
        5 => {
            let elements = list(1 + size(chance, 60_000), &|number| (number * 2).to_string());
            ("UPDATE list", format!("UPDATE ks.t SET l = l - [{elements}] WHERE p = -1 AND c = 0"))
        }
        _ => {
            let insert = |number| format!("INSERT INTO ks.t (p, c, v) VALUES (-2, {number}, 'v');");
            let inserts: String = (0..1 + size(chance, 20_000)).map(insert).collect();
            ("BATCH", format!("BEGIN UNLOGGED BATCH {inserts} APPLY BATCH"))
        }
    }
}

/// Returns a random heavy frame for a connection with this compression.
fn frame(chance: &mut Chance, packing: Packing, insert: &[u8]) -> (&'static str, Vec<u8>) {
    match chance.below(12) {
        0 => {
            let mut batch = Body::new().u8(1).u16(65_535);
            let value = Bound::Value(vec![7; *chance.pick(&[1, 100, 1000])]);
            for number in 0..65_535 {
                batch = batch.u8(1).short_bytes(insert).values(&[int(-4), int(number), value.clone()]);
            }
            ("prepared BATCH", NativeClient::frame(4, 0, 1, opcode::BATCH, &batch.u16(1).u8(0).0))
        }
        1 => {
            let text = format!(
                "SELECT v FROM ks.t WHERE p = {} LIMIT {}",
                chance.below(1000),
                1 + chance.below(1000)
            );
            let text = format!("{text}{}", " ".repeat(size(chance, MIB)));
            ("PREPARE", NativeClient::frame(4, 0, 1, opcode::PREPARE, &Body::new().long_string(&text).0))
        }
        2 if packing != Packing::None => {
            let bomb = vec![0; 1 + size(chance, 250 * MIB)];
            let values = Asked::values([int(-5), Bound::Value(bomb)]);
            let body =
                Body::new().long_string("INSERT INTO ks.t (p, c, v) VALUES (?, 0, ?)").parameters(4, &values);
            ("decompression", NativeClient::frame(4, 1, 1, opcode::QUERY, &packing.pack(&body.0)))
        }
        _ => {
            let (kind, text) = statement(chance);
            let body = Body::new().long_string(&text).u16(1).u8(0).0;
            (kind, NativeClient::frame(4, 0, 1, opcode::QUERY, &body))
        }
    }
}

/// Sends heavy statements over the native protocol until the time is over.
fn be_heavy_by_cql(address: SocketAddr, mut chance: Chance, tally: &Tally) {
    while !tally.is_over.load(Ordering::Relaxed) {
        let packing = *chance.pick(&[Packing::None, Packing::Lz4, Packing::Snappy]);
        let mut client = NativeClient::packed(address, 4, packing);
        let insert = client.prepare("INSERT INTO ks.t (p, c, v) VALUES (?, ?, ?)").id;
        let mut raw = Raw::over(client.stream).unwrap();
        for _ in 0..10 {
            let (kind, frame) = frame(&mut chance, packing, &insert);
            let outcome = raw.0.write_all(&frame).and_then(|()| raw.native_reply());
            let goes_on = outcome.is_ok();
            tally.note(kind, outcome);
            if !goes_on || tally.is_over.load(Ordering::Relaxed) {
                break;
            }
        }
    }
}

/// Writes and reads one column after another. Returns the number of calls, and the most heavy requests that finished
/// while one of these calls waited.
fn be_well_behaved(address: SocketAddr, tally: &Tally) -> (usize, usize) {
    let mut client = Client::connect(address, Style::FRAMED);
    let (mut calls, mut worst) = (0, 0);
    while !tally.is_over.load(Ordering::Relaxed) {
        let before = tally.finished.load(Ordering::Relaxed);
        check_alive(&mut client);
        worst = worst.max(tally.finished.load(Ordering::Relaxed) - before);
        calls += 1;
        thread::sleep(Duration::from_millis(1));
    }
    (calls, worst)
}

/// Fills a store with rows of 20 KB, one wide row, and a table.
fn fill(server: &mut Server, data_mb: usize) {
    let mut client = server.client(Style::FRAMED);
    let value = vec![b'x'; VALUE_BYTES];
    let cells: Vec<Value> =
        (0..COLUMNS).map(|number| write(column(format!("c{number:08}").as_bytes(), &value, 1))).collect();
    let rows_in_all = data_mb * MIB / (VALUE_BYTES * COLUMNS);
    for first in (0..rows_in_all).step_by(50) {
        let keys: Vec<String> =
            (first..(first + 50).min(rows_in_all)).map(|n| format!("row{n:08}")).collect();
        let batch = keys.iter().map(|key| (&key[..], vec![("Standard1", cells.clone())])).collect();
        client.call("batch_mutate", &batch_mutate_args(KS, rows(batch), ONE)).void();
    }
    for first in (0..WIDE_COLUMNS).step_by(1000) {
        let cells = (first..first + 1000)
            .map(|n| write(column(format!("c{n:08}").as_bytes(), b"small", 1)))
            .collect();
        let batch = rows(vec![("wide", vec![("Standard1", cells)])]);
        client.call("batch_mutate", &batch_mutate_args(KS, batch, ONE)).void();
    }
    let mut cql = NativeClient::ready(server.native_address(), 4);
    cql.run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    cql.run(
        "CREATE TABLE ks.t (p int, c int, v text, l list<int>, \
         deep list<frozen<list<frozen<list<frozen<list<int>>>>>>>, PRIMARY KEY (p, c))",
    );
    let long = "x".repeat(500);
    for first in (0..TABLE_ROWS).step_by(100) {
        let insert = |n: usize| format!("INSERT INTO ks.t (p, c, v) VALUES ({}, {n}, '{long}');", n / 10);
        let inserts: String = (first..first + 100).map(insert).collect();
        cql.run(&format!("BEGIN UNLOGGED BATCH {inserts} APPLY BATCH"));
    }
}

#[test]
fn heavy_requests_do_not_stop_small_ones() {
    let seed = Chance::seed_from("HEAVY_SEED");
    println!("HEAVY_SEED={seed}");
    let clients = setting("HEAVY_CLIENTS", CLIENTS);
    let time = Duration::from_secs(setting("HEAVY_SECONDS", 60) as u64);
    let directory = tempfile::tempdir().unwrap();
    let mut server = Server::start(directory.path(), &storage_conf(""), &["--cache-mb", "32"]);
    fill(&mut server, setting("HEAVY_DATA_MB", 48));
    server.stop();

    let limit_kib = (setting("HEAVY_LIMIT_MB", 512) * 1024) as u64;
    let limit = MemoryLimit::DataKib(limit_kib);
    let mut server = Server::start_within(directory.path(), limit, &storage_conf(""), &["--cache-mb", "32"]);
    let (thrift, native) = (server.address, server.native_address());
    let tally = Tally::default();
    let mut chance = Chance::new(seed);
    let (calls, worst) = thread::scope(|scope| {
        let small = scope.spawn(|| be_well_behaved(thrift, &tally));
        for number in 0..clients {
            let (chance, tally) = (Chance::new(chance.next()), &tally);
            scope.spawn(move || match number % 2 {
                0 => be_heavy_by_thrift(thrift, chance, tally),
                _ => be_heavy_by_cql(native, chance, tally),
            });
        }
        let begin = Instant::now();
        while begin.elapsed() < time && !small.is_finished() && tally.wrong.lock().is_empty() {
            thread::sleep(Duration::from_millis(50));
        }
        tally.is_over.store(true, Ordering::Relaxed);
        small.join().expect("the well-behaved client is served")
    });

    let outcomes = tally.outcomes.into_inner();
    for ((kind, words), count) in &outcomes {
        println!("{count:6} {kind}: {words}");
    }
    println!("{calls} small requests; one waited while {worst} heavy ones ended");
    println!(
        "{} heavy requests; at most {} MiB of physical memory with a limit of data of {} MiB",
        tally.finished.load(Ordering::Relaxed),
        server.peak_bytes().unwrap_or_default() / MIB as u64,
        limit_kib / 1024
    );
    assert_eq!(tally.wrong.into_inner(), Vec::<String>::new());
    assert!(
        outcomes.keys().any(|(_, words)| words == "answered") && outcomes.len() > 10,
        "too little was asked"
    );
    assert!(
        outcomes.keys().any(|(_, words)| words != "answered"),
        "nothing was too large: the test shows nothing"
    );
    assert!(worst <= WAITS_FOR_MAX * clients, "a small request waited for {worst} heavy ones");
    check_alive(&mut server.client(Style::UNFRAMED));
    server.stop();
}
