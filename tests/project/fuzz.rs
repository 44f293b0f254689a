//! Randomly damaged messages, statements and configurations, for FUZZ_SECONDS (60) in all. FUZZ_SEED repeats a run.
//!
//! The targets are those of `fuzz/`. This mutator does not measure coverage, but starts from valid input of every kind.

#![expect(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failure should stop the test")]

use crate::support;
#[path = "../../fuzz/targets.rs"]
mod targets;

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use base::model::StatementId;
use support::calls::*;
use support::client::Style;
use support::native::opcode::*;
use support::native::{NativeClient, Packing, VERSIONS, segment};
use support::native_body::{Asked, Body, Bound, int};
use support::value::{Value, fields, map, structs, text, texts};
use support::{Chance, first};
use wire::thrift::{MessageKind, TType};

/// Returns the duration of each test.
fn duration() -> Duration {
    let seconds = std::env::var("FUZZ_SECONDS").map_or(60.0, |text| text.parse().expect("FUZZ_SECONDS"));
    Duration::from_secs_f64(seconds / 13.0)
}

/// An input that takes longer is a failure: the time of some loop grows faster than the input.
const INPUT_DURATION_MAX: Duration = Duration::from_secs(10);

/// Runs a target with inputs until the time is over. If an input causes a panic or takes too long, prints it in full.
pub fn fuzz(name: &str, mut next: impl FnMut(&mut Chance) -> Vec<u8>, target: impl Fn(&[u8]) -> usize) {
    let seed = Chance::seed_from("FUZZ_SEED");
    println!("{name}: FUZZ_SEED={seed}");
    let mut chance = Chance::new(seed);
    let (start, duration) = (Instant::now(), duration());
    let (mut inputs, mut accepted) = (0u64, 0u64);
    while start.elapsed() < duration {
        let input = next(&mut chance);
        let run = || {
            let start = Instant::now();
            (catch_unwind(AssertUnwindSafe(|| target(&input))), start.elapsed())
        };
        let (mut outcome, mut took) = run();
        if outcome.is_ok() && took >= INPUT_DURATION_MAX {
            // The machine may have been busy: try once more.
            (outcome, took) = run();
        }
        let count = match outcome {
            Ok(count) if took < INPUT_DURATION_MAX => count,
            _ => {
                let hex = input.iter().fold(String::new(), |mut hex, byte| {
                    write!(hex, "{byte:02x}").unwrap();
                    hex
                });
                let length = input.len();
                panic!("{name}: FUZZ_SEED={seed}, input {inputs}, {length} bytes, {took:?}: {hex}");
            }
        };
        inputs += 1;
        accepted += u64::from(count > 0);
    }
    println!("{name}: {inputs} inputs, {accepted} of them accepted, no failure");
    assert!(accepted > 0, "no input was accepted: the inputs do not test anything");
}

/// Damages bytes at one to six positions.
pub fn mutate(chance: &mut Chance, bytes: &mut Vec<u8>, pieces: &[&[u8]], others: &[Vec<u8>]) {
    const NUMBERS: [i32; 12] = [0, 1, -1, 2, 5, 100, 255, 65_535, 65_536, i32::MAX, i32::MIN, 1 << 24];
    for _ in 0..=chance.below(6) {
        let at = chance.below(bytes.len() + 1);
        let end = at + chance.below(bytes.len() - at + 1).min(1 + chance.below(64));
        match chance.below(9) {
            0 | 1 if at < bytes.len() => bytes[at] ^= 1 << chance.below(8),
            2 if at < bytes.len() => bytes[at] = chance.next() as u8,
            3 if at + 4 <= bytes.len() => {
                bytes[at..at + 4].copy_from_slice(&chance.pick(&NUMBERS).to_be_bytes());
            }
            4 => drop(bytes.drain(at..end)),
            5 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
            }
            6 => {
                let other = chance.pick(others);
                let from = chance.below(other.len());
                let piece = &other[from..(from + 1 + chance.below(64)).min(other.len())];
                bytes.splice(at..end, piece.iter().copied());
            }
            7 if !pieces.is_empty() => {
                bytes.splice(at..at, chance.pick(pieces).iter().copied());
            }
            8 if chance.below(4) == 0 => bytes.truncate(at),
            _ => {}
        }
    }
}

/// Returns valid calls of every kind that read and write the same columns.
fn calls() -> Vec<(&'static str, Value)> {
    const KS: &str = "Keyspace1";
    let one = || path("Standard1", None, Some(b"c"));
    let of_super = || path("Super1", Some(b"s"), Some(b"c"));
    let standard = || parent("Standard1", None);
    let level = || Value::I32(ONE);
    let mutations =
        vec![write(column(b"c", b"v", 2)), delete(&["c", "d"], 1), write(column(b"e", b"w", i64::MIN))];
    let supers = vec![write_super(b"s", vec![column(b"c", b"v", 3), column(b"d", b"", 0)])];
    let batch = rows(vec![("k", vec![("Standard1", mutations), ("Super1", supers)]), ("l", vec![])]);
    let old_batch =
        map(TType::List, vec![("Standard1", structs(vec![fields([(1, column(b"c", b"v", 5))])]))]);
    let range = || fields([(3, text("0")), (4, text("17")), (5, Value::I32(10))]);
    let name = |name: &str| fields([(1, text(name))]);
    let user = map(TType::String, vec![("username", text("u")), ("password", text("p"))]);
    vec![
        ("insert", insert_args(KS, b"k", one(), (b"value", 1), ONE)),
        ("insert", insert_args(KS, b"k", of_super(), (b"value", -1), QUORUM)),
        ("batch_mutate", batch_mutate_args(KS, batch, ONE)),
        ("batch_insert", fields([(1, text(KS)), (2, text("k")), (3, old_batch), (4, level())])),
        ("remove", remove_args(KS, b"k", one(), 7, ONE)),
        ("remove", remove_args(KS, b"k", parent("Super1", Some(b"s")), 7, ZERO)),
        ("get", get_args(KS, b"k", one(), ONE)),
        ("get", get_args(KS, b"k", of_super(), ALL)),
        ("get_slice", get_slice_args(KS, b"k", standard(), slice(b"a", b"z", false, 10), ONE)),
        ("get_slice", get_slice_args(KS, b"k", parent("Super1", Some(b"s")), names(&["c", "d"]), ONE)),
        ("get_slice", get_slice_args(KS, b"k", parent("Super1", None), slice(b"", b"", true, 3), ONE)),
        ("multiget_slice", multiget_slice_args(KS, &["k", "l", "k"], standard(), everything())),
        ("multiget", fields([(1, text(KS)), (2, texts(&["k", "l"])), (3, one()), (4, level())])),
        ("get_count", get_args(KS, b"k", standard(), ONE)),
        ("get_range_slices", range_slices_args(KS, standard(), everything(), key_range("", "", 10), ONE)),
        ("get_range_slices", range_slices_args(KS, standard(), everything(), range(), ONE)),
        ("login", fields([(1, text(KS)), (2, fields([(1, user)]))])),
        ("describe_keyspace", name(KS)),
        ("describe_keyspaces", fields([])),
        ("describe_ring", name(KS)),
        ("describe_splits", fields([(1, text("0")), (2, text("1")), (3, Value::I32(1))])),
        ("get_string_property", name("token map")),
        ("get_string_list_property", name("keyspaces")),
        ("describe_version", fields([])),
    ]
    .into_iter()
    .chain(first_calls())
    .collect()
}

/// Returns valid calls of 0.3.
fn first_calls() -> Vec<(&'static str, Value)> {
    use first::*;
    const KS: &str = "Keyspace1";
    let columns = vec![column(b"c", b"v", 5), column(b"d", b"", -1)];
    let supers = vec![fields([(1, text("s")), (2, structs(columns.clone()))])];
    vec![
        ("insert", insert_args(KS, b"k", "Standard1:c", (b"value", 1), true)),
        ("insert", insert_args(KS, b" k ", "Super1:s:c", (b"value", 1), false)),
        ("batch_insert", batch_args(KS, b"k", vec![("Standard1", columns)], true)),
        ("batch_insert_superColumn", batch_args(KS, b"k", vec![("Super1", supers)], true)),
        ("remove", remove_args(KS, b"k", "Super1:s", 7, true)),
        ("get_column", args(KS, b"k", "Super1:s:c")),
        ("get_superColumn", args(KS, b"k", "Super1:s")),
        ("get_slice", slice_args(KS, b"k", "Super1:s", 1, 5)),
        ("get_slice_super", slice_args(KS, b"k", "Super1", -1, -1)),
        ("get_slice_by_names", names_args(KS, b"k", "Standard1", &["c", "d"])),
        ("get_slice_super_by_names", names_args(KS, b"k", "Super1", &["s"])),
        ("get_columns_since", since_args(KS, b"k", "Standard1", 3)),
        ("get_column_count", args(KS, b"k", "Super1")),
        ("get_key_range", keys_args(KS, "", "", 10)),
        ("getStringProperty", about_args("version")),
        ("getStringListProperty", about_args("tables")),
        ("describeTable", about_args(KS)),
        ("executeQuery", about_args("SELECT")),
    ]
}

/// Several calls on one connection, some of them damaged.
#[test]
fn frames() {
    let calls = calls();
    let whole = |style: Style, (method, args): &(&str, Value)| {
        style.message(method, args, MessageKind::Call, 7).to_vec()
    };
    let seeds: Vec<Vec<u8>> = calls.iter().map(|call| whole(Style::UNFRAMED, call)).collect();
    let pieces: Vec<&[u8]> = vec![
        b"\x0b\0\x01",
        b"\x0c\0\x03",
        b"\x0f\0\x02\x0c",
        b"\x0d\0\x01\x0b\x0b",
        b"\0",
        b"\x08\0\x05",
        b"\xff",
    ];
    let next = |chance: &mut Chance| {
        let style = *chance.pick(&Style::ALL);
        let bare = Style { transport: Style::UNFRAMED.transport, ..style };
        let mut input = vec![chance.next() as u8];
        for _ in 0..=chance.below(4) {
            let mut message = whole(bare, chance.pick(&calls));
            if chance.below(3) > 0 {
                mutate(chance, &mut message, &pieces, &seeds);
            }
            // The frame's length is mostly correct, so that its content is parsed.
            if style.transport != bare.transport {
                let length = u32::try_from(message.len()).unwrap();
                input.extend_from_slice(&length.to_be_bytes());
            }
            input.append(&mut message);
        }
        if chance.below(8) == 0 {
            mutate(chance, &mut input, &pieces, &seeds);
        }
        input
    };
    fuzz("frames", next, targets::frames);
}

/// A conversation of the native protocol: opcodes and bodies.
type Conversation = Vec<(u8, Vec<u8>)>;

/// Returns a conversation with a request of every kind, which read and write the same rows.
fn conversation(version: u8, packing: Packing) -> Conversation {
    let asked = Asked::values([]);
    let query = |text: &str, asked: &Asked| match version {
        1 => Body::new().long_string(text).u16(1),
        _ => Body::new().long_string(text).parameters(version, asked),
    };
    let id = |text: &str| match StatementId::md5(Some("k"), text) {
        StatementId::Md5(id) => id,
        StatementId::Hash(_) => unreachable!("no MD5"),
    };
    let execute = |text: &str, asked: &Asked| {
        let body = Body::new().short_bytes(&id(text));
        match version {
            1 => body.values(&asked.values).u16(1),
            2..=4 => body.parameters(version, asked),
            _ => body.short_bytes(&[1; 16]).parameters(version, asked),
        }
    };
    let prepare = |text: &str| {
        let body = Body::new().long_string(text);
        if version < 5 { body } else { body.i32(0) }
    };
    let mut start = vec![("CQL_VERSION", "3.0.0")];
    if packing != Packing::None {
        start.push(("COMPRESSION", packing.name()));
    }
    let insert = "INSERT INTO t (k, c, l, m) VALUES (?, ?, ?, ?) USING TTL 1000";
    let select = "SELECT * FROM t WHERE k = ? AND c > ?";
    let list = match version {
        1 | 2 => vec![0, 1, 0, 4, 0, 0, 0, 7],
        _ => vec![0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7],
    };
    let values = vec![int(1), int(2), Bound::Value(list), Bound::Null];
    let paged =
        Asked { page_size: Some(1), paging_state: Some(vec![1, 0, 0, 0, 4, 0, 0, 0, 1, 0]), ..asked.clone() };
    let mut all = vec![
        (OPTIONS, Body::new()),
        (STARTUP, Body::new().string_map(&start)),
        (REGISTER, Body::new().strings(&["SCHEMA_CHANGE", "STATUS_CHANGE"])),
        (
            QUERY,
            query(
                "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
                &asked,
            ),
        ),
        (QUERY, query("USE k", &asked)),
        (
            QUERY,
            query("CREATE TABLE t (k int, c int, l list<int>, m map<text, int>, PRIMARY KEY (k, c))", &asked),
        ),
        (PREPARE, prepare(insert)),
        (EXECUTE, execute(insert, &Asked { values, ..asked.clone() })),
        (PREPARE, prepare(select)),
        (EXECUTE, execute(select, &Asked { skips_metadata: true, ..Asked::values([int(1), int(0)]) })),
        (QUERY, query("UPDATE t SET m['a'] = 1 WHERE k = 1 AND c = 3", &asked)),
        (QUERY, query("SELECT * FROM t", &paged)),
        (QUERY, query("INSERT INTO t (k, c) VALUES (1, 2) IF NOT EXISTS", &asked)),
        (QUERY, query("SELECT * FROM system.local", &asked)),
        (QUERY, query("DROP TABLE t", &asked)),
    ];
    if version > 1 {
        let batch = Body::new().u8(1).u16(2).u8(0).long_string("DELETE FROM t WHERE k = 1 AND c = 9").u16(0);
        let values = [int(4), int(5), Bound::Null, Bound::Null];
        let batch = batch.u8(1).short_bytes(&id(insert)).values(&values).u16(1);
        let batch = if version > 2 { batch.flags(version, 0x20).i64(9) } else { batch };
        all.insert(10, (BATCH, batch));
    }
    if version > 2 {
        let named = Asked {
            names: vec!["b", "a"],
            timestamp: Some(5),
            serial: Some(8),
            ..Asked::values([int(2), int(1)])
        };
        all.insert(11, (QUERY, query("INSERT INTO t (k, c) VALUES (:a, :b)", &named)));
    }
    all.into_iter().map(|(opcode, body)| (opcode, body.0)).collect()
}

/// Whole conversations of the native protocol, with some damaged requests.
#[test]
fn native() {
    let ways = VERSIONS.into_iter().flat_map(|version| {
        [Packing::None, Packing::Lz4, Packing::Snappy]
            .map(|packing| (version, packing, conversation(version, packing)))
    });
    let ways: Vec<_> =
        ways.filter(|(version, packing, _)| (*version, *packing) != (5, Packing::Snappy)).collect();
    let seeds: Vec<Vec<u8>> =
        ways.iter().flat_map(|(_, _, requests)| requests.iter().map(|(_, body)| body.clone())).collect();
    let pieces: Vec<&[u8]> = vec![
        b"\0\x01",
        b"\xff\xff",
        b"\xff\xff\xff\xff",
        b"\xff\xff\xff\xfe",
        b"\0\0\0\x04",
        b"\x7f\xff\xff\xff",
        b"\0\x10",
        b"?",
        b":a",
        b"(",
    ];
    let next = |chance: &mut Chance| {
        let (version, packing, requests) = chance.pick(&ways);
        let mut input = Vec::new();
        let mut is_started = false;
        for (opcode, body) in requests {
            let mut body = body.clone();
            let mut opcode = *opcode;
            if chance.below(6) == 0 {
                mutate(chance, &mut body, &pieces, &seeds);
            }
            if chance.below(50) == 0 {
                opcode = chance.next() as u8;
            }
            let flags = if chance.below(10) == 0 { chance.next() as u8 & !1 } else { 0 };
            let (flags, body) = match (is_started, packing) {
                (true, Packing::Lz4 | Packing::Snappy) if *version < 5 && chance.below(2) == 0 => {
                    (flags | 1, packing.pack(&body))
                }
                _ => (flags, body),
            };
            let mut frame = NativeClient::frame(*version, flags, 1, opcode, &body);
            if chance.below(50) == 0 {
                mutate(chance, &mut frame, &pieces, &seeds);
            }
            input.extend(match is_started && *version == 5 {
                true => segment(*packing == Packing::Lz4, &frame, true),
                false => frame,
            });
            is_started |= opcode == STARTUP;
        }
        if chance.below(20) == 0 {
            mutate(chance, &mut input, &pieces, &seeds);
        }
        input
    };
    for (version, packing, requests) in &ways {
        let mut input = Vec::new();
        for (at, (opcode, body)) in requests.iter().enumerate() {
            let frame = NativeClient::frame(*version, 0, 1, *opcode, body);
            let is_segmented = *version == 5 && at > 1;
            input.extend(if is_segmented { segment(*packing == Packing::Lz4, &frame, true) } else { frame });
        }
        // All requests succeed but one: in version 1 the conditional update, later the next page of another statement.
        let expected = requests.len() - 1;
        assert_eq!(targets::native(&input), expected, "version {version}, {packing:?}");
    }
    fuzz("native", next, targets::native);
}

#[test]
fn storage_conf() {
    let mut seeds = Vec::new();
    for place in ["storage-conf.xml", "tests/recordings/storage-conf.xml"] {
        seeds.push(std::fs::read(support::repository(place)).unwrap());
    }
    for entry in std::fs::read_dir(support::repository("tests/config")).unwrap() {
        seeds.push(std::fs::read(entry.unwrap().path()).unwrap());
    }
    let pieces: Vec<&[u8]> = vec![
        b"<",
        b">",
        b"&",
        b"/>",
        b"</",
        b"<!--",
        b"-->",
        b"<![CDATA[",
        b"]]>",
        b"<?xml version=\"1.0\"?>",
        b"&amp;",
        b"&#0;",
        b"&#x10FFFF;",
        b"&x;",
        b"\"",
        b"'",
        b"=",
        b"<Storage>",
        b"</Storage>",
        b"<Keyspace Name=\"K\">",
        b"<ColumnFamily Name=\"C\"/>",
        b"\xff",
        "ü".as_bytes(),
        "😀".as_bytes(),
        b"\0",
        b"\r\n",
        b"\t",
        b"-1",
        b"99999999999999999999",
        b"<!DOCTYPE x [",
    ];
    let next = |chance: &mut Chance| {
        let mut input = chance.pick(&seeds).clone();
        mutate(chance, &mut input, &pieces, &seeds);
        input
    };
    // Every input counts as accepted, because invalid files test the errors.
    fuzz("storage_conf", next, |input| 1 + usize::from(targets::storage_conf(input)));
}

/// The statements of the scripts in `tests/cql`, some of them damaged.
#[test]
fn cql() {
    let mut seeds: Vec<Vec<u8>> = Vec::new();
    for entry in std::fs::read_dir(support::repository("tests/cql")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|kind| kind != "txt") {
            continue;
        }
        let script = std::fs::read_to_string(path).unwrap();
        let lines = script.lines().filter(|line| line.ends_with(';') && line.len() < 300);
        seeds.extend(lines.map(|line| line.trim_end_matches(';').as_bytes().to_vec()));
    }
    let prepared = [
        "INSERT INTO t (k, c, d, a, s) VALUES (?, ?, ?, ?, ?) USING TTL ? AND TIMESTAMP ?",
        "UPDATE collections SET l[?] = ?, m[?] = ?, s = s + ?, l = l + ? WHERE k = ?",
        "UPDATE collections SET u = ?, p = (?, ?), f = ? WHERE k = ? IF m[?] = ? AND l[?] = ?",
        "UPDATE counters SET n = n + ? WHERE k = ?",
        "DELETE l[?], m[?] FROM collections WHERE k IN ?",
        "SELECT * FROM t WHERE k = ? AND (c, d) > (?, ?) LIMIT ?",
        "SELECT * FROM t WHERE token(k) > ? AND a = ? ALLOW FILTERING",
        "SELECT * FROM t WHERE k IN (?, ?) AND c = ? AND d IN ?",
        "SELECT * FROM wide WHERE k = ? AND k2 = ? AND c = ? AND d >= ?",
        "SELECT writetime(a), ttl(b), blobAsInt(intAsBlob(a)) FROM t WHERE k = ?",
        "BEGIN BATCH USING TIMESTAMP ? INSERT INTO dense (k, c, v) VALUES (?, ?, ?); DELETE FROM plain WHERE k = ? APPLY BATCH",
        "SELECT FIRST 2 REVERSED 'b'..'a' FROM plain USING CONSISTENCY ONE WHERE KEY IN (1, 2)",
        "SELECT a FROM plain WHERE KEY > 1 AND KEY < 3 LIMIT 2",
        "UPDATE plain USING TTL 5 SET a = 1, 'z' = ? WHERE k = ?",
    ];
    seeds.extend(prepared.iter().map(|text| text.as_bytes().to_vec()));
    let pieces: Vec<&[u8]> = vec![
        b"?",
        b":a",
        b"'",
        b"''",
        b"\"",
        b"(",
        b")",
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b";",
        b" AND ",
        b" IN ",
        b"0x",
        b"-",
        b"1e999",
        b"99999999999999999999",
        b"null",
        b"NaN",
        b"/*",
        b"*/",
        b"--",
        b"\n",
        b" IF ",
        b" TOKEN(",
        b"frozen<",
        b"list<",
        b">",
        b" ORDER BY c",
        b" LIMIT 1",
        b" ALLOW FILTERING",
        b"now()",
        b"\0",
        b"\x01",
        b"\x01\0\0\0\x05",
        b"\xff",
    ];
    let values: Vec<&[u8]> = vec![
        b"",
        b"\0\0\0\x01",
        b"a",
        b"\x7f\xff\xff\xff",
        b"\0\0\0\0\0\0\0\x05",
        b"\0\x01\0\x01a",
        b"\xff\xff",
    ];
    let next = |chance: &mut Chance| {
        let mut input = vec![chance.next() as u8];
        for _ in 0..=chance.below(4) {
            let mut statement = chance.pick(&seeds).clone();
            if chance.below(3) > 0 {
                mutate(chance, &mut statement, &pieces, &seeds);
            }
            input.append(&mut statement);
            for _ in 0..chance.below(6) {
                input.push(1);
                // The bytes 0 and 1 separate statements.
                input.extend(chance.pick(&values).iter().map(|byte| if *byte < 2 { 2 } else { *byte }));
            }
            input.push(0);
        }
        input
    };
    fuzz("cql", next, targets::cql);
}
