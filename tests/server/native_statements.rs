//! Statements over the native protocol: requests, results and errors in each version.

use std::collections::BTreeSet;
use std::net::SocketAddr;

use crate::support;
use support::native::opcode::*;
use support::native::{NativeClient, Packing, VERSIONS};
use support::native_body::{Asked, Body, Bound, int, text};
use support::server::Server;
use tempfile::TempDir;

const PROTOCOL: i32 = 0x0a;
const UNAVAILABLE: i32 = 0x1000;
const SYNTAX: i32 = 0x2000;
const UNAUTHORIZED: i32 = 0x2100;
const INVALID: i32 = 0x2200;
const CONFIGURATION: i32 = 0x2300;
const ALREADY_EXISTS: i32 = 0x2400;
const UNPREPARED: i32 = 0x2500;
const KEYSPACE: &str =
    "CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}";

/// Starts a server with the table `ks.t`, and opens a connection of version 4.
fn start() -> (Server, SocketAddr, NativeClient, TempDir) {
    let (mut server, directory) = Server::ephemeral(&[]);
    let address = server.native_address();
    let mut client = NativeClient::ready(address, 4);
    client.run(KEYSPACE);
    client.run("CREATE TABLE ks.t (k int, c int, v text, l list<int>, PRIMARY KEY (k, c))");
    (server, address, client, directory)
}

fn some(bytes: &[u8]) -> Option<Vec<u8>> {
    Some(bytes.to_vec())
}

#[test]
fn values_are_bound_by_position_and_by_name() {
    let (server, address, _first, _directory) = start();
    for version in &VERSIONS[1..] {
        let mut client = NativeClient::ready(address, *version);
        let k = i32::from(*version);
        let insert = "INSERT INTO ks.t (k, c, v) VALUES (?, ?, ?)";
        client.query_with(insert, &Asked::values([int(k), int(1), text("a")])).void();
        let rows =
            client.query_with("SELECT v FROM ks.t WHERE k = ? AND c = ?", &Asked::values([int(k), int(1)]));
        assert_eq!(rows.rows().rows, [[some(b"a")]]);
        let why = client.query_with(insert, &Asked::values([int(k)])).refused(INVALID);
        assert_eq!(why, "Invalid amount of bind variables");
        if *version >= 3 {
            let names = vec!["c", "v", "k"];
            let asked = Asked { names, ..Asked::values([int(2), text("b"), int(k)]) };
            client.query_with(insert, &asked).void();
            let renamed = Asked { names: vec!["row", "key"], ..Asked::values([int(2), int(k)]) };
            let rows = client.query_with("SELECT v FROM ks.t WHERE k = :key AND c = :row", &renamed);
            assert_eq!(rows.rows().rows, [[some(b"b")]]);
        }
        // Null deletes the value. Version 4 and later also have "unset", which leaves it unchanged.
        let asked = Asked { timestamp: (*version >= 3).then_some(i64::MAX), ..Asked::values([]) };
        let unset = if *version >= 4 { Bound::Unset } else { Bound::Null };
        client.query_with(insert, &Asked { values: vec![int(k), int(1), unset], ..asked.clone() }).void();
        let left = client.rows(&format!("SELECT v FROM ks.t WHERE k = {k} AND c = 1")).rows;
        assert_eq!(left, [[if *version >= 4 { some(b"a") } else { None }]]);
        client.query_with(insert, &Asked { values: vec![int(k), int(1), Bound::Null], ..asked }).void();
        assert_eq!(client.rows(&format!("SELECT v FROM ks.t WHERE k = {k} AND c = 1")).rows, [[None]]);
    }
    server.stop();
}

#[test]
fn a_timestamp_of_the_client_is_used() {
    let (server, address, _first, _directory) = start();
    for version in 3..=5 {
        let mut client = NativeClient::ready(address, version);
        let asked = Asked { timestamp: Some(77), serial: Some(9), ..Asked::values([]) };
        client.query_with("INSERT INTO ks.t (k, c, v) VALUES (1, 1, 'x')", &asked).void();
        let rows = client.rows("SELECT writetime(v) FROM ks.t WHERE k = 1");
        assert_eq!(rows.rows, [[some(&77i64.to_be_bytes())]]);
        let asked = Asked { timestamp: Some(i64::MIN), ..asked };
        let why = client.query_with("DELETE FROM ks.t WHERE k = 1", &asked).refused(PROTOCOL);
        assert!(why.starts_with("Out of bound timestamp, must be in ["), "{why}");
    }
    server.stop();
}

#[test]
fn version_1_has_no_conditional_updates() {
    let (server, address, _first, _directory) = start();
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        let insert = format!("INSERT INTO ks.t (k, c) VALUES ({version}, 1) IF NOT EXISTS");
        let reply = client.query_with(&insert, &Asked::values([]));
        if version == 1 {
            assert_eq!(
                reply.refused(INVALID),
                "Conditional updates are not supported by the protocol version in use. You need to upgrade to a driver \
                 using the native protocol v2."
            );
        } else {
            assert_eq!(reply.rows().rows, [[some(&[1])]]);
        }
    }
    server.stop();
}

#[test]
fn prepared_statements_describe_markers_and_results() {
    let (server, address, mut first, _directory) = start();
    first.run(
        "CREATE KEYSPACE key_space_test WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
    );
    first.run(
        "CREATE TABLE key_space_test.testtable (pkey1 text, pkey2 text, skey int, cvalue map<text, text>, value text, \
         PRIMARY KEY ((pkey1, pkey2), skey)) WITH CLUSTERING ORDER BY (skey DESC)",
    );
    let select = "SELECT pkey1, skey, value FROM key_space_test.testtable WHERE pkey1=? AND pkey2=?";
    let mut result_ids = BTreeSet::new();
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        let prepared = client.prepare(select);
        let id: String = prepared.id.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(id, "ce74e42902c5cebd135b2787713b8cec");
        assert_eq!(prepared.key_places, if version >= 4 { vec![0, 1] } else { vec![] });
        let of_markers = |name: &str| prepared.markers.iter().any(|marker| marker.name == name);
        assert!(prepared.markers.len() == 2 && of_markers("pkey1") && of_markers("pkey2"));
        assert!(prepared.markers.iter().all(|marker| marker.table == "key_space_test.testtable"));
        match &prepared.result {
            Some(result) => assert_eq!((result.flags, result.types()), (1, vec!["d", "9", "d"])),
            None => assert_eq!(version, 1),
        }
        assert_eq!(prepared.result_id.len(), if version >= 5 { 16 } else { 0 });
        result_ids.insert(prepared.result_id.clone());
        let asked = Asked::values([text("a"), text("b")]);
        assert_eq!(client.execute(&prepared, &asked).rows().metadata.types(), ["d", "9", "d"]);
        if version >= 2 {
            let skipped = client.execute(&prepared, &Asked { skips_metadata: true, ..asked.clone() }).rows();
            assert_eq!((skipped.metadata.flags, skipped.metadata.count), (4, 3));
        }
        let why = client.execute(&prepared, &Asked::values([text("a")])).refused(INVALID);
        assert_eq!(why, "there were 2 markers(?) in CQL but 1 bound variables");
        // A partition key whose values are not all plain markers has no marker positions.
        for partly in ["pkey1 = ? AND pkey2 IN ?", "pkey1 = 'a' AND pkey2 = ?"] {
            let text = format!("SELECT value FROM key_space_test.testtable WHERE {partly}");
            assert_eq!(client.prepare(&text).key_places, [] as [u16; 0]);
        }
        // A statement without a result.
        let insert = client.prepare("INSERT INTO ks.t (k, c) VALUES (?, ?)");
        if let Some(result) = &insert.result {
            assert_eq!((result.flags, result.count), (4, 0));
        }
        client.execute(&insert, &Asked::values([int(1), int(1)])).void();
    }
    assert_eq!(result_ids.len(), 2);
    server.stop();
}

#[test]
fn an_unknown_statement_is_reported_with_its_id() {
    let (server, address, mut first, _directory) = start();
    let known = first.prepare("SELECT k FROM ks.t");
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        for id in [vec![7; 16], vec![7; 5], vec![]] {
            let unknown = support::native_body::PreparedAnswer { id: id.clone(), ..known.clone() };
            let (code, text, more) = client.execute(&unknown, &Asked::values([])).error();
            assert_eq!((code, more), (UNPREPARED, Body::new().short_bytes(&id).0));
            assert!(text.starts_with("Prepared query with ID "), "{text}");
            if version > 1 {
                let body = Body::new().u8(1).u16(1).u8(1).short_bytes(&id).u16(0).u16(1).raw(&[0; 4]);
                assert_eq!(client.call(BATCH, body).error().0, UNPREPARED);
            }
        }
    }
    server.stop();
}

#[test]
fn changed_columns_are_described_even_if_the_client_skips_metadata() {
    let (server, address, mut first, _directory) = start();
    first.run("CREATE TABLE ks.w (k int PRIMARY KEY, v int)");
    first.run("INSERT INTO ks.w (k, v) VALUES (1, 2)");
    let mut clients: Vec<NativeClient> =
        (2..=5).map(|version| NativeClient::ready(address, version)).collect();
    let prepared: Vec<_> = clients.iter_mut().map(|client| client.prepare("SELECT * FROM ks.w")).collect();
    for (client, prepared) in clients.iter_mut().zip(&prepared) {
        let metadata = client.executed_metadata(prepared);
        assert_eq!((metadata.flags, metadata.count), (4, 2), "{}", client.version);
    }
    first.run("ALTER TABLE ks.w ADD added text");
    for (client, prepared) in clients.iter_mut().zip(&prepared) {
        // The second answer has them too, because the client has not prepared the statement again.
        for _ in 0..2 {
            let metadata = client.executed_metadata(prepared);
            assert_eq!(metadata.types(), ["9", "d", "9"], "{}", client.version);
            assert_eq!(metadata.new_id.is_some(), client.version >= 5);
        }
    }
    // A client that sends the id of the new result metadata does not get the metadata.
    let mut last = clients.pop().unwrap();
    let mut old = prepared[3].clone();
    old.result_id = last.executed_metadata(&old).new_id.unwrap();
    assert_eq!(last.executed_metadata(&old).flags, 4);
    assert_eq!(last.prepare("SELECT * FROM ks.w").result_id, old.result_id);
    server.stop();
}

#[test]
fn results_of_conditional_updates_always_have_metadata() {
    let (server, address, _first, _directory) = start();
    for version in VERSIONS.into_iter().filter(|version| *version > 1) {
        let mut client = NativeClient::ready(address, version);
        let insert = client.prepare("INSERT INTO ks.t (k, c) VALUES (100, ?) IF NOT EXISTS");
        let asked = Asked { skips_metadata: true, ..Asked::values([int(version.into())]) };
        let applied = client.execute(&insert, &asked).rows();
        assert_eq!((applied.metadata.types(), &applied.metadata.new_id), (vec!["4"], &None));
        assert_eq!(applied.rows, [[some(&[1])]]);
        let refused = client.execute(&insert, &asked).rows();
        assert!(refused.metadata.columns.len() > 1);
        assert_eq!(refused.rows[0][0], some(&[0]));
    }
    server.stop();
}

#[test]
fn results_come_in_pages() {
    let (server, address, mut first, _directory) = start();
    let insert = first.prepare("INSERT INTO ks.t (k, c) VALUES (1, ?)");
    for c in 0..25 {
        first.execute(&insert, &Asked::values([int(c)])).void();
    }
    for (version, packing) in [(2, Packing::None), (3, Packing::None), (4, Packing::Lz4), (5, Packing::Lz4)] {
        let mut client = NativeClient::packed(address, version, packing);
        let select = client.prepare("SELECT c FROM ks.t WHERE k = 1");
        for is_prepared in [false, true] {
            let mut asked = Asked { page_size: Some(10), skips_metadata: is_prepared, ..Asked::values([]) };
            let (mut pages, mut found) = (0, Vec::new());
            loop {
                let answer = match is_prepared {
                    true => client.execute(&select, &asked),
                    false => client.query_with("SELECT c FROM ks.t WHERE k = 1", &asked),
                };
                let rows = answer.rows();
                found.extend(rows.ints());
                pages += 1;
                assert_eq!(rows.metadata.flags & 2 != 0, rows.metadata.paging_state.is_some());
                asked.paging_state = rows.metadata.paging_state;
                if asked.paging_state.is_none() {
                    break;
                }
            }
            assert_eq!((pages, found), (3, (0..25).collect::<Vec<i32>>()));
        }
        for size in [0, -1, i32::MAX] {
            let rows = client
                .query_with("SELECT c FROM ks.t", &Asked { page_size: Some(size), ..Asked::values([]) });
            assert_eq!(rows.rows().rows.len(), 25);
        }
        for garbage in [&b"garbage"[..], &[0xff; 40], &[0, 4, 0, 0, 0, 1]] {
            let paging_state = Some(garbage.to_vec());
            let asked = Asked { page_size: Some(10), paging_state, ..Asked::values([]) };
            let why = client.query_with("SELECT c FROM ks.t WHERE k = 1", &asked).refused(PROTOCOL);
            assert_eq!(why, "Invalid value for the paging state");
        }
    }
    server.stop();
}

#[test]
fn batches_mix_texts_and_prepared_statements() {
    let (server, address, mut first, _directory) = start();
    first.run("CREATE TABLE ks.n (k int PRIMARY KEY, n counter)");
    let insert = first.prepare("INSERT INTO ks.t (k, c, v) VALUES (?, ?, ?)");
    let add = first.prepare("UPDATE ks.n SET n = n + 5 WHERE k = ?");
    for version in 2..=5u8 {
        let mut client = NativeClient::ready(address, version);
        let k = 10 + i32::from(version);
        let end = |body: Body, level: usize| match version {
            2 => body.u16(level),
            _ => body.u16(level).flags(version, 0x20).i64(1234),
        };
        for kind in [0, 1] {
            let c = i32::from(kind);
            let body = Body::new().u8(kind).u16(2);
            let body = body.u8(0).long_string(&format!("INSERT INTO ks.t (k, c, v) VALUES ({k}, ?, 'text')"));
            let body = body.values(&[int(c)]);
            let body = body.u8(1).short_bytes(&insert.id).values(&[int(k), int(c + 10), text("prepared")]);
            client.call(BATCH, end(body, 1)).void();
        }
        let rows = client.rows(&format!("SELECT c, writetime(v) FROM ks.t WHERE k = {k}"));
        assert_eq!(rows.ints(), [0, 1, 10, 11]);
        if version > 2 {
            assert!(rows.rows.iter().all(|row| row[1] == some(&1234i64.to_be_bytes())));
        }
        let counters = Body::new().u8(2).u16(2);
        let counters = counters.u8(1).short_bytes(&add.id).values(&[int(k)]);
        let counters = counters.u8(1).short_bytes(&add.id).values(&[int(k)]);
        client
            .call(
                BATCH,
                counters.u16(1).raw(if version == 2 { &[] } else { &[0; 4][..1] }).raw(match version {
                    5 => &[0; 3],
                    _ => &[],
                }),
            )
            .void();
        let counted = client.rows(&format!("SELECT n FROM ks.n WHERE k = {k}"));
        assert_eq!(counted.rows, [[some(&10i64.to_be_bytes())]]);
        client.call(BATCH, Body::new().u8(0).u16(0).u16(1).raw(&[0; 4])).void();
        let select =
            Body::new().u8(0).u16(1).u8(0).long_string("SELECT * FROM ks.t").u16(0).u16(1).raw(&[0; 4]);
        let why = client.call(BATCH, select).refused(INVALID);
        assert!(why.starts_with("Invalid statement in batch"), "{why}");
        // The values of a statement are counted before the next one is read.
        let wrong =
            Body::new().u8(0).u16(2).u8(0).long_string("DELETE FROM ks.t WHERE k = 1").values(&[int(k)]);
        let wrong = wrong.u8(0).long_string("DELETE").u16(0).u16(1).raw(&[0; 4]);
        let why = client.call(BATCH, wrong).refused(INVALID);
        assert_eq!(why, "There were 0 markers(?) in CQL but 1 bound variables");
        let why = client.call(BATCH, Body::new().u8(3).u16(0).u16(1).raw(&[0; 4])).refused(PROTOCOL);
        assert_eq!(why, "Invalid BATCH message type 3");
        let why = client.call(BATCH, Body::new().u8(0).u16(1).u8(9)).refused(PROTOCOL);
        assert_eq!(why, "Invalid query kind in BATCH messages. Must be 0 or 1 but got 9");
    }
    let mut old = NativeClient::ready(address, 1);
    let why = old.call(BATCH, Body::new().u8(0).u16(0).u16(1)).refused(PROTOCOL);
    assert_eq!(why, "BATCH messages are not support in version 1 of the protocol");
    server.stop();
}

#[test]
fn collections_have_the_length_fields_of_the_version() {
    let (server, address, _first, _directory) = start();
    let short = [0, 2, 0, 4, 0, 0, 0, 7, 0, 4, 0, 0, 0, 8];
    let long = [0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 7, 0, 0, 0, 4, 0, 0, 0, 8];
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        let list: &[u8] = if version < 3 { &short } else { &long };
        let insert = client.prepare("INSERT INTO ks.t (k, c, l) VALUES (?, 1, ?)");
        let (k, value) = (20 + i32::from(version), Bound::Value(list.to_vec()));
        client.execute(&insert, &Asked::values([int(k), value])).void();
        let rows = client.rows(&format!("SELECT l FROM ks.t WHERE k = {k}"));
        assert_eq!((rows.metadata.types(), &rows.rows), (vec!["list<9>"], &vec![vec![some(list)]]));
        // The encoding of the other versions is refused.
        let other: &[u8] = if version < 3 { &long } else { &short };
        client.execute(&insert, &Asked::values([int(k), Bound::Value(other.to_vec())])).refused(INVALID);
    }
    server.stop();
}

#[test]
fn types_that_a_version_lacks_are_class_names() {
    let (server, address, mut first, _directory) = start();
    first.run("CREATE TYPE ks.pair (a int, b text)");
    first.run("CREATE TABLE ks.u (k int PRIMARY KEY, p frozen<pair>, u frozen<tuple<int, text>>)");
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        let metadata = client.rows("SELECT p, u FROM ks.u").metadata;
        let types = metadata.types();
        if version < 3 {
            assert!(
                types[0].starts_with("org.apache.cassandra.db.marshal.UserType(ks,70616972,"),
                "{types:?}"
            );
            assert!(types[1].starts_with("org.apache.cassandra.db.marshal.TupleType("), "{types:?}");
        } else {
            assert_eq!(types, ["ks.pair a 9 b d", "tuple 9 d"]);
        }
    }
    server.stop();
}

#[test]
fn a_request_may_override_the_keyspace_of_the_connection() {
    let (server, address, mut first, _directory) = start();
    first
        .run("CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}");
    first.run("CREATE TABLE other.t (other_key int PRIMARY KEY)");
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        let why = client.query("SELECT * FROM t").refused(INVALID);
        assert!(why.starts_with("No keyspace has been specified"), "{why}");
        let answer = client.query("USE ks");
        assert_eq!(answer.parts().0, Body::new().i32(3).string("ks").0);
        assert_eq!(client.rows("SELECT k FROM t").metadata.columns[0].table, "ks.t");
        client.query("USE nowhere").refused(INVALID);
        assert_eq!(client.rows("SELECT k FROM t").metadata.columns[0].table, "ks.t");
        if version == 5 {
            let asked = Asked { keyspace: Some("other"), now: Some(5), ..Asked::values([]) };
            let rows = client.query_with("SELECT * FROM t", &asked).rows();
            assert_eq!(rows.metadata.columns[0].table, "other.t");
            let body = Body::new().long_string("SELECT * FROM t").i32(1).string("other");
            let prepared = client.call(PREPARE, body).parts().prepared(5);
            assert_eq!(
                client.execute(&prepared, &Asked::values([])).rows().metadata.columns[0].name,
                "other_key"
            );
            assert_ne!(client.prepare("SELECT * FROM t").id, prepared.id);
            let batch =
                Body::new().u8(0).u16(1).u8(0).long_string("INSERT INTO t (other_key) VALUES (3)").u16(0);
            client.call(BATCH, batch.u16(1).i32(0x80).string("other")).void();
            assert_eq!(client.rows("SELECT other_key FROM other.t").ints(), [3]);
        }
    }
    server.stop();
}

#[test]
fn each_kind_of_error_has_its_code() {
    let (server, address, _first, _directory) = start();
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        let why = client.query("SELEC").refused(SYNTAX);
        assert!(why.starts_with("line 1:0"), "{why}");
        client.query("").refused(SYNTAX);
        client.query("SELECT * FROM ks.nothing").refused(INVALID);
        client.query("CREATE KEYSPACE x WITH replication = {'class': 'Nonsense'}").refused(CONFIGURATION);
        client.query("INSERT INTO system.local (key) VALUES ('x')").refused(UNAUTHORIZED);
        let (code, _, more) = client.query(KEYSPACE).error();
        assert_eq!((code, more), (ALREADY_EXISTS, Body::new().string("ks").string("").0));
        let (code, _, more) = client.query("CREATE TABLE ks.t (k int PRIMARY KEY)").error();
        assert_eq!((code, more), (ALREADY_EXISTS, Body::new().string("ks").string("t").0));
        // TWO and an unknown level, with one replica.
        let asked = Asked { consistency: 2, ..Asked::values([]) };
        let (code, text, more) = client.query_with("SELECT * FROM ks.t", &asked).error();
        assert_eq!((code, more), (UNAVAILABLE, Body::new().u16(2).i32(2).i32(1).0), "{text}");
        let asked = Asked { consistency: 11, ..Asked::values([]) };
        client.query_with("SELECT * FROM ks.t", &asked).refused(PROTOCOL);
        // The connection still works.
        assert_eq!(client.rows("SELECT key FROM system.local").rows.len(), 1);
    }
    server.stop();
}

#[test]
fn a_connection_runs_a_thousand_requests_at_a_time() {
    let (server, address, mut first, _directory) = start();
    let insert = first.prepare("INSERT INTO ks.t (k, c, v) VALUES (?, ?, 'v')");
    let select = first.prepare("SELECT c FROM ks.t WHERE k = ?");
    for (version, packing) in [
        (2u8, Packing::None),
        (4, Packing::None),
        (4, Packing::Snappy),
        (5, Packing::None),
        (5, Packing::Lz4),
    ] {
        let mut client = NativeClient::packed(address, version, packing);
        let count: i16 = if version < 3 { 128 } else { 1000 };
        let mut known = insert.clone();
        known.result_id = vec![0; 16];
        for number in 0..count {
            let body =
                client.execute_body(&known, &Asked::values([int(number.into()), int(i32::from(number) * 2)]));
            client.send(number, EXECUTE, &body.0);
        }
        let mut streams: Vec<i16> =
            (0..count).map(|_| client.receive()).inspect(|a| a.void()).map(|a| a.stream).collect();
        streams.sort_unstable();
        assert_eq!(streams, (0..count).collect::<Vec<_>>());
        // Each answer has the stream of its request.
        let mut known = select.clone();
        known.result_id = vec![0; 16];
        let one = |client: &NativeClient, number: i16| {
            let body = client.execute_body(&known, &Asked::values([int(number.into())]));
            NativeClient::frame(version, 0, number, EXECUTE, &body.0)
        };
        let all: Vec<u8> = (0..count).flat_map(|number| one(&client, number)).collect();
        client.send_frames(&all);
        for _ in 0..count {
            let answer = client.receive();
            assert_eq!(answer.rows().ints(), [i32::from(answer.stream) * 2]);
        }
    }
    server.stop();
}

#[test]
fn answers_have_the_stream_of_the_request() {
    let (server, address, _first, _directory) = start();
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        let widest = if version < 3 { 127 } else { i16::MAX };
        for stream in [0, 1, widest, -1, -widest - 1] {
            client.send(stream, OPTIONS, &[]);
            assert_eq!(client.receive().stream, stream);
            client.send(
                stream,
                QUERY,
                &client.query_body("SELECT key FROM system.local", &Asked::values([])).0,
            );
            assert_eq!(client.receive().stream, stream);
        }
    }
    server.stop();
}

#[test]
fn warnings_come_with_the_answer() {
    let (server, address, _first, _directory) = start();
    let cases = VERSIONS
        .map(|version| (version, Packing::None))
        .into_iter()
        .chain([(4, Packing::Lz4), (5, Packing::Lz4)]);
    for (version, packing) in cases {
        let mut client = NativeClient::packed(address, version, packing);
        let warned = |warning: &str| if version < 4 { vec![] } else { vec![warning.to_owned()] };
        let count = client.query("SELECT count(*) FROM ks.t");
        assert_eq!(count.warnings, warned("Aggregation query used without partition key"));
        assert_eq!(count.rows().rows.len(), 1);
        let count = client.query("SELECT count(*) FROM ks.t WHERE k IN (1, 2)");
        assert_eq!(
            count.warnings,
            warned("Aggregation query used on multiple partition keys (IN restriction)")
        );
        assert_eq!(client.query("SELECT count(*) FROM ks.t WHERE k = 1").warnings, [""; 0]);
        let prepared = client.prepare("SELECT count(*) FROM ks.t");
        let count = client.execute(&prepared, &Asked::values([]));
        assert_eq!(count.warnings, warned("Aggregation query used without partition key"));
        let batch = |kind: &str, partitions: i32| {
            let inserts =
                (0..partitions * 2).map(|at| format!("INSERT INTO ks.t (k, c) VALUES ({}, {at}); ", at / 2));
            format!("BEGIN {kind} BATCH {} APPLY BATCH", inserts.collect::<String>())
        };
        let expected = "Unlogged batch covering 11 partitions detected against table [ks.t]. You should use a logged \
                        batch for atomicity, or asynchronous writes for performance.";
        assert_eq!(client.query(&batch("UNLOGGED", 10)).warnings, [""; 0]);
        assert_eq!(client.query(&batch("UNLOGGED", 11)).warnings, warned(expected));
        assert_eq!(client.query(&batch("", 11)).warnings, [""; 0]);
        if version > 1 {
            let mut body = Body::new().u8(1).u16(11);
            for k in 0..11 {
                body = body.u8(0).long_string("INSERT INTO ks.t (k, c) VALUES (?, 1)").values(&[int(k)]);
            }
            client.send_flagged(2, 1, BATCH, &body.u16(1).raw(&[0; 4]).0);
            let answer = client.receive();
            assert_eq!((&answer.warnings, answer.trace.is_some()), (&warned(expected), true));
            answer.void();
        }
    }
    server.stop();
}

#[test]
fn custom_payloads_are_ignored_and_traces_have_ids() {
    let (server, address, _first, _directory) = start();
    for version in VERSIONS {
        let mut client = NativeClient::ready(address, version);
        let query = client.query_body("SELECT key FROM system.local", &Asked::values([])).0;
        let payload = Body::new().u16(2).string("a").bytes(b"x").string("b").i32(-1).raw(&query);
        client.send_flagged(4, 1, QUERY, &payload.0);
        let answer = client.receive();
        if version < 4 {
            answer.refused(PROTOCOL);
        } else {
            assert_eq!(answer.rows().rows.len(), 1);
        }
        for is_wrong in [false, true] {
            let query =
                if is_wrong { client.query_body("SELEC", &Asked::values([])).0 } else { query.clone() };
            client.send_flagged(2, 1, QUERY, &query);
            let answer = client.receive();
            assert_eq!((answer.flags & 2, answer.opcode == ERROR), (2, is_wrong));
            let trace = answer.trace.unwrap();
            assert_eq!(trace[6] >> 4, 1, "a time-based uuid");
        }
    }
    server.stop();
}
