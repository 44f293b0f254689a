//! The memory that a server takes for each byte of a large message, by method and kind of statement. Each kind is
//! measured on a server of its own: the largest physical memory of the process, less that before the message, without and
//! with the memtables.
//!
//! Keys and names are UUIDs, or numbers of eight digits. `MESSAGE_MB` sets the size of messages whose length has no
//! other limit. With `--nocapture` the test prints the tables of docs/notes/limits.md.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on should stop")]

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::skip::skip;
use crate::support;
use support::calls::*;
use support::client::{Client, Reply, Style};
use support::native::{Answer, NativeClient, Packing, opcode};
use support::native_body::{Asked, Body, Bound, int};
use support::server::{Server, status_bytes, storage_conf};
use support::value::{Value, fields, map, structs, text, texts};
use wire::thrift::{MessageKind, TType};

const KS: &str = "Keyspace1";
const MB: usize = 1_000_000;
/// The most bytes of memory for each byte of a message.
const FACTOR_MAX: f64 = 10.0;
/// Memory that is not counted: a process with its first large request takes new pages for code and threads, too.
const BASE: u64 = 4 * MB as u64;
/// The largest number of values of IN, and of statements of a batch.
const VALUES: usize = 65_535;
/// The largest number of terms of a statement, less those of the key.
const TERMS: usize = 524_000;
/// Bytes of a value in batches.
const VALUE: usize = 100;

/// A kind of message, and how a client sends one of about `bytes` bytes. Returns the length of the message.
struct Kind {
    name: &'static str,
    send: fn(&mut Server, usize) -> usize,
}

fn call(server: &Server, style: Style, method: &str, args: &Value) -> usize {
    let length = style.message(method, args, MessageKind::Call, 1).len();
    let reply: Reply = Client::connect(server.address, style).call(method, args);
    assert!(matches!(reply, Reply::Result(_)), "{method} was not answered: {reply:?}");
    length
}

fn cells(count: usize, value: &[u8]) -> Vec<Value> {
    (0..count).map(|number| write(column(format!("c{number:08}").as_bytes(), value, 1))).collect()
}

fn batch(server: &Server, rows_of: Vec<(&str, Vec<Value>)>) -> usize {
    let of_row = |(key, cells)| (key, vec![("Standard1", cells)]);
    let args = batch_mutate_args(KS, rows(rows_of.into_iter().map(of_row).collect()), ONE);
    call(server, Style::FRAMED, "batch_mutate", &args)
}

fn keys(count: usize) -> Vec<String> {
    (0..count).map(uuid).collect()
}

fn insert_value(server: &Server, style: Style, bytes: usize) -> usize {
    let place = path("Standard1", None, Some(b"value"));
    call(server, style, "insert", &insert_args(KS, b"row", place, (&vec![b'v'; bytes], 1), ONE))
}

/// Returns a list of texts of 100 characters.
fn long_texts(count: usize) -> String {
    (0..count).map(|number| format!("'{number:0100}'")).collect::<Vec<_>>().join(", ")
}

/// Returns different numbers of eight digits, in ten bytes each.
fn numbers(count: usize) -> String {
    (0..count).map(digits).collect::<Vec<_>>().join(", ")
}

fn digits(number: usize) -> String {
    format!("{}", 10_000_000 + number)
}

fn uuid(number: usize) -> String {
    format!("b3a76c6b-7c7f-4af6-964f-{number:012}")
}

fn connect(server: &mut Server, version: u8, packing: Packing) -> NativeClient {
    let mut client = NativeClient::packed(server.native_address(), version, packing);
    client.run("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    client.run("CREATE TABLE ks.w (p text, c text, v blob, PRIMARY KEY (p, c))");
    client.run(
        "CREATE TABLE ks.n (p int, c int, v int, l list<int>, s set<int>, m map<int, int>, PRIMARY KEY (p, c))",
    );
    client.run(
        "CREATE TABLE ks.t (p uuid, c uuid, v blob, l list<text>, s set<text>, m map<uuid, text>, PRIMARY KEY (p, c))",
    );
    client
}

fn answered(answer: &Answer) {
    assert!(answer.opcode != opcode::ERROR, "{}", answer.why());
}

fn statement(server: &mut Server, text: &str) -> usize {
    answered(&connect(server, 4, Packing::None).query(text));
    text.len()
}

/// Sends a large bound value.
fn bound(server: &mut Server, version: u8, packing: Packing, bytes: usize) -> usize {
    let mut client = connect(server, version, packing);
    let values = Asked::values([Bound::Value(vec![7; bytes])]);
    answered(&client.query_with("INSERT INTO ks.t (p, c, v) VALUES (uuid(), uuid(), ?)", &values));
    bytes
}

fn prepared_batch(server: &mut Server, bytes: usize) -> usize {
    let mut client = connect(server, 4, Packing::None);
    let insert = client.prepare("INSERT INTO ks.t (p, c, v) VALUES (?, ?, ?)");
    let count = (bytes / (VALUE + 64)).min(VALUES);
    let mut body = Body::new().u8(1).u16(count);
    for number in 0..count {
        let id = |number: usize| Bound::Value((number as u128).to_be_bytes().to_vec());
        let values = [id(number % 100), id(number), Bound::Value(vec![7; VALUE])];
        body = body.u8(1).short_bytes(&insert.id).values(&values);
    }
    let body = body.u16(1).u8(0);
    let length = body.0.len();
    answered(&client.call(opcode::BATCH, body));
    length
}

fn prepared_batch_of_numbers(server: &mut Server, bytes: usize) -> usize {
    let mut client = connect(server, 4, Packing::None);
    let insert = client.prepare("INSERT INTO ks.n (p, c, v) VALUES (?, ?, ?)");
    let count = (bytes / 45).min(VALUES);
    let mut body = Body::new().u8(1).u16(count);
    for number in 0..count {
        let number = i32::try_from(number).unwrap();
        body = body.u8(1).short_bytes(&insert.id).values(&[int(number % 100), int(number), int(number)]);
    }
    let body = body.u16(1).u8(0);
    let length = body.0.len();
    answered(&client.call(opcode::BATCH, body));
    length
}

/// Sends a bound list of numbers.
fn bound_list(server: &mut Server, text: &str, count: usize) -> usize {
    let mut client = connect(server, 4, Packing::None);
    let mut list = Body::new().i32(i32::try_from(count).unwrap());
    for number in 0..count {
        list = list.bytes(&(10_000_000 + u32::try_from(number).unwrap()).to_be_bytes());
    }
    let length = list.0.len();
    answered(&client.query_with(text, &Asked::values([Bound::Value(list.0)])));
    length
}

/// Messages of long elements. Each takes at most `FACTOR_MAX`.
const KINDS: &[Kind] = &[
    Kind { name: "`insert` of one value", send: |server, bytes| insert_value(server, Style::FRAMED, bytes) },
    Kind { name: "the same, unframed", send: |server, bytes| insert_value(server, Style::UNFRAMED, bytes) },
    Kind {
        name: "`batch_mutate` of one row, values of 100 bytes",
        send: |server, bytes| batch(server, vec![("row", cells(bytes / 140, &[b'v'; VALUE]))]),
    },
    Kind {
        name: "`batch_mutate` of one row, values of 1 byte",
        send: |server, bytes| batch(server, vec![("row", cells(bytes / 45, b"v"))]),
    },
    Kind {
        name: "`batch_mutate` of many rows, values of 100 bytes",
        send: |server, bytes| {
            let keys = keys(bytes / 210);
            batch(server, keys.iter().map(|key| (&key[..], cells(1, &[b'v'; VALUE]))).collect())
        },
    },
    Kind {
        name: "`batch_mutate` of super columns, values of 100 bytes",
        send: |server, bytes| {
            let of_super = |number: usize| {
                let columns =
                    (0..10).map(|n| column(format!("c{n}").as_bytes(), &[b'v'; VALUE], 1)).collect();
                write_super(format!("s{number:08}").as_bytes(), columns)
            };
            let supers = structs((0..bytes / 1400).map(of_super).collect());
            let families = map(TType::List, vec![("Super1", supers)]);
            let args = batch_mutate_args(KS, map(TType::Map, vec![("row", families)]), ONE);
            call(server, Style::FRAMED, "batch_mutate", &args)
        },
    },
    Kind {
        name: "`multiget_slice` of many keys",
        send: |server, bytes| {
            let keys = keys(bytes / 40);
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let args = multiget_slice_args(KS, &keys, parent("Standard1", None), everything());
            call(server, Style::FRAMED, "multiget_slice", &args)
        },
    },
    Kind {
        name: "`get_slice` of many names",
        send: |server, bytes| {
            let names = fields([(1, texts(&keys(bytes / 40)))]);
            let args = get_slice_args(KS, b"row", parent("Standard1", None), names, ONE);
            call(server, Style::FRAMED, "get_slice", &args)
        },
    },
    Kind {
        name: "`get_range_slices` of many names",
        send: |server, bytes| {
            let names = fields([(1, texts(&keys(bytes / 40)))]);
            let range = key_range("", "", 10);
            let args = range_slices_args(KS, parent("Standard1", None), names, range, ONE);
            call(server, Style::FRAMED, "get_range_slices", &args)
        },
    },
    Kind {
        name: "`execute_cql3_query` of a SELECT with IN, values of 100 bytes",
        send: |server, bytes| {
            connect(server, 4, Packing::None);
            let query = format!("SELECT v FROM ks.w WHERE p IN ({})", long_texts((bytes / 104).min(VALUES)));
            let args = fields([(1, text(&query)), (2, Value::I32(2)), (3, Value::I32(ONE))]);
            call(server, Style::FRAMED, "execute_cql3_query", &args)
        },
    },
    Kind {
        name: "SELECT with IN on the partition key, values of 100 bytes",
        send: |server, bytes| {
            statement(
                server,
                &format!("SELECT v FROM ks.w WHERE p IN ({})", long_texts((bytes / 104).min(VALUES))),
            )
        },
    },
    Kind {
        name: "SELECT with IN on a clustering column, values of 100 bytes",
        send: |server, bytes| {
            statement(
                server,
                &format!(
                    "SELECT v FROM ks.w WHERE p = 'one' AND c IN ({})",
                    long_texts((bytes / 104).min(VALUES))
                ),
            )
        },
    },
    Kind {
        name: "INSERT of a list, elements of 100 bytes",
        send: |server, bytes| {
            let list = long_texts((bytes / 104).min(VALUES));
            statement(server, &format!("INSERT INTO ks.t (p, c, l) VALUES (uuid(), uuid(), [{list}])"))
        },
    },
    Kind {
        name: "INSERT of a set, elements of 100 bytes",
        send: |server, bytes| {
            let set = long_texts((bytes / 104).min(VALUES));
            statement(server, &format!("INSERT INTO ks.t (p, c, s) VALUES (uuid(), uuid(), {{{set}}})"))
        },
    },
    Kind {
        name: "INSERT of a map",
        send: |server, bytes| {
            let entry = |number: usize| format!("{}: 'a value of some length'", uuid(number));
            let entries: Vec<String> = (0..bytes / 64).map(entry).collect();
            let map = entries.join(", ");
            statement(server, &format!("INSERT INTO ks.t (p, c, m) VALUES (uuid(), uuid(), {{{map}}})"))
        },
    },
    Kind {
        name: "INSERT of one constant",
        send: |server, bytes| {
            statement(
                server,
                &format!("INSERT INTO ks.t (p, c, v) VALUES (uuid(), uuid(), 0x{})", "ab".repeat(bytes / 2)),
            )
        },
    },
    Kind {
        name: "BATCH as a text, values of 100 bytes",
        send: |server, bytes| {
            let value = "ab".repeat(VALUE);
            let insert = |number: usize| {
                let (p, c) = (uuid(number % 100), uuid(number));
                format!("INSERT INTO ks.t (p, c, v) VALUES ({p}, {c}, 0x{value});")
            };
            let inserts: String = (0..(bytes / 320).min(VALUES)).map(insert).collect();
            statement(server, &format!("BEGIN UNLOGGED BATCH {inserts} APPLY BATCH"))
        },
    },
    Kind { name: "BATCH of prepared statements, values of 100 bytes", send: prepared_batch },
    Kind { name: "QUERY with a bound value", send: |server, bytes| bound(server, 4, Packing::None, bytes) },
    Kind { name: "the same in version 5", send: |server, bytes| bound(server, 5, Packing::None, bytes) },
    Kind {
        name: "the same, compressed to a hundredth (for each decompressed byte)",
        send: |server, bytes| bound(server, 4, Packing::Lz4, bytes),
    },
];

/// The most bytes of memory for each byte of a message of `SHORT_KINDS`. Some take nearly ten, and runs differ by half a byte.
const SHORT_FACTOR_MAX: f64 = 11.0;

/// Messages of numbers of eight digits.
const SHORT_KINDS: &[Kind] = &[
    Kind {
        name: "`batch_mutate` of many rows",
        send: |server, bytes| {
            let keys: Vec<String> = (0..bytes / 85).map(digits).collect();
            batch(server, keys.iter().map(|key| (&key[..], cells(1, b"v"))).collect())
        },
    },
    Kind {
        name: "`multiget_slice` of many keys",
        send: |server, bytes| {
            let keys: Vec<String> = (0..bytes / 12).map(digits).collect();
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let args = multiget_slice_args(KS, &keys, parent("Standard1", None), everything());
            call(server, Style::FRAMED, "multiget_slice", &args)
        },
    },
    Kind {
        name: "`get_slice` of many names",
        send: |server, bytes| {
            let names: Vec<String> = (0..bytes / 12).map(digits).collect();
            let names = fields([(1, texts(&names))]);
            let args = get_slice_args(KS, b"row", parent("Standard1", None), names, ONE);
            call(server, Style::FRAMED, "get_slice", &args)
        },
    },
    Kind {
        name: "SELECT with IN on the partition key",
        send: |server, bytes| {
            let numbers = numbers((bytes / 10).min(VALUES));
            statement(server, &format!("SELECT v FROM ks.n WHERE p IN ({numbers})"))
        },
    },
    Kind {
        name: "SELECT with IN on a clustering column",
        send: |server, bytes| {
            let numbers = numbers((bytes / 10).min(VALUES));
            statement(server, &format!("SELECT v FROM ks.n WHERE p = 1 AND c IN ({numbers})"))
        },
    },
    Kind {
        name: "SELECT with IN on a clustering column, bound",
        send: |server, bytes| {
            bound_list(server, "SELECT v FROM ks.n WHERE p = 1 AND c IN ?", (bytes / 8).min(VALUES))
        },
    },
    Kind {
        name: "DELETE with IN on the partition key",
        send: |server, bytes| {
            let numbers = numbers((bytes / 10).min(VALUES));
            statement(server, &format!("DELETE FROM ks.n WHERE p IN ({numbers})"))
        },
    },
    Kind {
        name: "INSERT of a list",
        send: |server, bytes| {
            let numbers = numbers((bytes / 10).min(TERMS));
            statement(server, &format!("INSERT INTO ks.n (p, c, l) VALUES (1, 1, [{numbers}])"))
        },
    },
    Kind {
        name: "INSERT of a set",
        send: |server, bytes| {
            let numbers = numbers((bytes / 10).min(TERMS));
            statement(server, &format!("INSERT INTO ks.n (p, c, s) VALUES (1, 1, {{{numbers}}})"))
        },
    },
    Kind {
        name: "INSERT of a map",
        send: |server, bytes| {
            let entry = |number: usize| format!("{0}: {0}", digits(number));
            let entries: Vec<String> = (0..(bytes / 20).min(TERMS / 2)).map(entry).collect();
            let map = entries.join(", ");
            statement(server, &format!("INSERT INTO ks.n (p, c, m) VALUES (1, 1, {{{map}}})"))
        },
    },
    Kind {
        name: "INSERT of a list, bound",
        send: |server, bytes| bound_list(server, "INSERT INTO ks.n (p, c, l) VALUES (1, 1, ?)", bytes / 8),
    },
    Kind {
        name: "BATCH as a text",
        send: |server, bytes| {
            let insert = |number: usize| {
                let (p, c) = (digits(number % 100), digits(number));
                format!("INSERT INTO ks.n (p, c, v) VALUES ({p}, {c}, {c});")
            };
            let inserts: String = (0..(bytes / 66).min(VALUES)).map(insert).collect();
            statement(server, &format!("BEGIN UNLOGGED BATCH {inserts} APPLY BATCH"))
        },
    },
    Kind { name: "BATCH of prepared statements", send: prepared_batch_of_numbers },
];

/// Returns the bytes of a server's memtables.
fn memtable_bytes(server: &mut Server) -> u64 {
    let mut stream = TcpStream::connect(server.admin_address()).unwrap();
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix("thriftstore_memtable_bytes "));
    value.unwrap_or_else(|| panic!("no memtables: {text}")).parse::<f64>().unwrap() as u64
}

/// The only kind that is stored in parts.
const IN_PARTS: &str = "DELETE with IN on the partition key";

/// The peak of a process's memory so far, and the length of its commit log, in bytes.
#[derive(Clone, Copy)]
struct Moment {
    peak: u64,
    log: u64,
}

impl Moment {
    fn of(process: u32, log: &Path) -> Option<Moment> {
        let lengths = fs::read_dir(log).ok()?.flatten().filter_map(|file| Some(file.metadata().ok()?.len()));
        Some(Moment { log: lengths.sum(), peak: status_bytes(process, "VmHWM:")? })
    }
}

/// Sends a message. Returns its length, and the memory every few hundred microseconds until it is answered.
fn watched(server: &mut Server, log: &Path, send: impl Fn(&mut Server) -> usize) -> (usize, Vec<Moment>) {
    let process = server.id();
    let is_answered = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut moments = Vec::new();
            while !is_answered.load(Ordering::Relaxed) {
                moments.extend(Moment::of(process, log));
                thread::sleep(Duration::from_micros(200));
            }
            moments.extend(Moment::of(process, log));
            moments
        });
        let length = send(server);
        is_answered.store(true, Ordering::Relaxed);
        (length, watching.join().unwrap())
    })
}

/// Returns the peak of memory without the memtables, which have a limit of their own. They get the data of a message when
/// the log has it, and all of the message is in memory until then.
fn peak_without_memtables(name: &str, moments: &[Moment], memtables: u64) -> u64 {
    let last = moments.iter().map(|moment| moment.peak).max().unwrap();
    let log = moments.iter().map(|moment| moment.log).max().unwrap();
    if name == IN_PARTS {
        return last - memtables;
    }
    let grown = log - moments[0].log;
    moments
        .iter()
        .find(|moment| grown > 2 * MB as u64 && moment.log + grown / 4 >= log)
        .map_or(last, |logged| logged.peak)
}

/// Sends a message of each kind. Returns for each how many bytes of memory a byte of it takes, and prints the rows of
/// the table.
fn factors(kinds: &[Kind], test: &str) -> Option<Vec<f64>> {
    let bytes = std::env::var("MESSAGE_MB").map_or(6, |text| text.parse::<usize>().unwrap()) * MB;
    println!("| what | size | memory for each byte | with the memtables | test |\n|---|---|---|---|---|");
    let mut factors = Vec::new();
    for kind in kinds {
        let directory = tempfile::tempdir().unwrap();
        // What is stored in parts may not be flushed in between.
        let cache = if kind.name == IN_PARTS { "256" } else { "16" };
        let more = ["--cache-mb", cache, "--cql", "127.0.0.1:0", "--admin", "127.0.0.1:0"];
        let mut server = Server::start(directory.path(), &storage_conf(""), &more);
        check_alive(&mut server.client(Style::FRAMED));
        let before = server.peak_bytes()?;
        let log = directory.path().join("data/log");
        let (length, moments) = watched(&mut server, &log, |server| (kind.send)(server, bytes));
        let memtables = memtable_bytes(&mut server);
        let of_bytes = |peak: u64| peak.saturating_sub(before).saturating_sub(BASE) as f64 / length as f64;
        let factor = of_bytes(peak_without_memtables(kind.name, &moments, memtables));
        let all = of_bytes(moments.last()?.peak);
        println!(
            "| {} | {:.1} MB | {factor:.1} | {all:.1} | `{test}` |",
            kind.name,
            length as f64 / MB as f64
        );
        factors.push(factor);
        server.stop();
    }
    Some(factors)
}

#[test]
fn a_message_takes_at_most_ten_times_its_bytes() {
    let Some(factors) = factors(KINDS, "a_message_takes_at_most_ten_times_its_bytes") else {
        skip!("there is no /proc to read the memory from")
    };
    assert!(factors.iter().all(|factor| *factor <= FACTOR_MAX), "{factors:?}");
}

#[test]
fn short_elements_take_more_memory_for_each_byte() {
    let Some(factors) = factors(SHORT_KINDS, "short_elements_take_more_memory_for_each_byte") else {
        skip!("there is no /proc to read the memory from")
    };
    assert!(factors.iter().all(|factor| *factor <= SHORT_FACTOR_MAX), "{factors:?}");
}
