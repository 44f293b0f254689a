//! The judge is judged: a proxy between the replay and a server changes one reply in three, and each change is reported.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a failure should stop the test")]

use std::net::SocketAddr;
use std::path::Path;

use bytes::Bytes;
use traffic::call::{NativeReply, ReplyContent};
use traffic::record::now_us;
use traffic::replay::{CandidateServer, Replay, ReplayOptions};
use traffic::report::{Report, ReportSubject, RunKind, Summary};
use traffic::{Recording, ThriftMessage, Value as Tree};

use crate::falsifier::{Falsifier, Falsify, native, thrift};
use crate::recorder::Recorder;
use crate::support;
use double::testing::Server;
use support::calls::*;
use support::client::{Client, Style};
use support::native::NativeClient;
use support::value::{Value, fields, text, texts};

const SCHEMA: &str = "CREATE KEYSPACE k WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
     CREATE TABLE k.\"Standard1\" (key blob, column1 blob, value blob, PRIMARY KEY (key, column1)) WITH COMPACT STORAGE;
     CREATE TABLE k.t (p int, c int, v text, made timestamp, day date, PRIMARY KEY (p, c))";

fn server() -> Server {
    let server = Server::start().unwrap();
    server.cql(SCHEMA).unwrap();
    server
}

/// Records a session of Thrift calls, or of CQL.
fn recorded(address: SocketAddr, session: fn(SocketAddr)) -> Recorder {
    let mut recorder = Recorder::start(address, &[]);
    session(recorder.address);
    recorder.stop();
    recorder
}

/// Replays a recording in this process.
fn replayed(file: &Path, candidate: CandidateServer) -> Summary {
    let subject =
        ReportSubject { run: RunKind::Replay, recorded: String::new(), candidate: candidate.thrift.clone() };
    let mut report = Report::new(subject);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options = ReplayOptions::default();
        let mut replay = Replay::new(&candidate, &options, &mut report);
        for event in Recording::open(file).unwrap() {
            replay.take(event.unwrap()).await;
        }
        replay.finish().await;
    });
    report.summary()
}

/// Checks that each falsified reply of a session is reported, and that none is without falsification.
fn check(session: fn(SocketAddr), port: fn(&Server) -> SocketAddr, falsifications: &[(&str, Falsify)]) {
    let recorder = recorded(port(&server()), session);
    let all = [&[("nothing", (|_, _| None) as Falsify)], falsifications].concat();
    for (name, falsify) in all {
        let server = server();
        let falsifier = Falsifier::start(port(&server), falsify);
        let address = falsifier.address.to_string();
        let summary =
            replayed(&recorder.file, CandidateServer { thrift: address.clone(), native: Some(address) });
        let found = summary.causes.iter().map(|cause| (&cause.title, cause.calls)).collect::<Vec<_>>();
        assert_eq!(summary.calls.differences, falsifier.falsified(), "{name}: {found:?} {:?}", summary.rules);
        assert_eq!(falsifier.falsified() > 0, name != "nothing", "{name}");
    }
}

fn insert(client: &mut Client, row: &str, column: &str) {
    let column = fields([(1, text(column)), (2, text("value")), (3, Value::I64(now_us()))]);
    let parent = parent("Standard1", None);
    client.call("insert", &fields([(1, text(row)), (2, parent), (3, column), (4, Value::I32(ONE))])).void();
}

fn thrift_session(address: SocketAddr) {
    let mut client = Client::connect(address, Style::FRAMED);
    client.call("set_keyspace", &fields([(1, text("k"))])).void();
    // Its timestamps are of the server: those of the columns below are not.
    let statement = "INSERT INTO t (p, c, v, made) VALUES (1, 1, 'x', dateof(now()))";
    let query = fields([(1, text(statement)), (2, Value::I32(2)), (3, Value::I32(ONE))]);
    client.call("execute_cql3_query", &query);
    let (parent, one) = (parent("Standard1", None), Value::I32(ONE));
    for round in 0..8 {
        let row = format!("row{round}");
        ["a", "b", "c"].iter().for_each(|column| insert(&mut client, &row, column));
        let path = |column: &str| fields([(3, text("Standard1")), (5, text(column))]);
        let get = |column: &str| fields([(1, text(&row)), (2, path(column)), (3, one.clone())]);
        client.call("get", &get("a")).value();
        client.call("get", &get("missing"));
        let slice = [(1, text(&row)), (2, parent.clone()), (3, everything()), (4, one.clone())];
        client.call("get_slice", &fields(slice.clone())).value();
        client.call("get_count", &fields(slice)).value();
        let many = [(1, texts(&["row0", &row])), (2, parent.clone()), (3, everything()), (4, one.clone())];
        client.call("multiget_slice", &fields(many)).value();
        let range = fields([(1, text("")), (2, text("")), (5, Value::I32(5))]);
        let scan = [(1, parent.clone()), (2, everything()), (3, range), (4, one.clone())];
        client.call("get_range_slices", &fields(scan)).value();
        client.call("set_keyspace", &fields([(1, text("unknown"))]));
        let remove = [(1, text(&row)), (2, path("b")), (3, Value::I64(now_us())), (4, one.clone())];
        client.call("remove", &fields(remove)).void();
    }
}

/// Returns the elements of the list that a method returns.
fn list<'r>(reply: &'r mut ThriftMessage, method: &str) -> Option<&'r mut Vec<Tree>> {
    match reply.fields.get_mut(&0)? {
        Tree::List(_, items) if reply.name == method.as_bytes() && items.len() > 1 => Some(items),
        _ => None,
    }
}

/// Returns a field in a struct, by the ids on the way to it.
fn field<'v>(value: &'v mut Tree, ids: &[i16]) -> Option<&'v mut Tree> {
    ids.iter().try_fold(value, |value, id| match value {
        Tree::Struct(fields) => fields.get_mut(id),
        _ => None,
    })
}

fn alter_timestamp(column: &mut Tree) -> Option<()> {
    let Tree::I64(timestamp) = field(column, &[1, 3])? else { return None };
    *timestamp += 1;
    Some(())
}

fn alter_value(column: &mut Tree) -> Option<()> {
    *field(column, &[1, 2])? = Tree::Binary(Bytes::from_static(b"Value"));
    Some(())
}

#[test]
fn each_falsified_reply_of_thrift_is_reported() {
    let falsifications: [(&str, Falsify); 12] = [
        ("a value", |_, reply| {
            thrift(
                reply,
                |reply| {
                    if reply.name == "get" { alter_value(reply.fields.get_mut(&0)?) } else { None }
                },
            )
        }),
        ("a timestamp", |_, reply| {
            thrift(
                reply,
                |reply| {
                    if reply.name == "get" { alter_timestamp(reply.fields.get_mut(&0)?) } else { None }
                },
            )
        }),
        ("a value in a slice", |_, reply| {
            thrift(reply, |reply| alter_value(list(reply, "get_slice")?.last_mut()?))
        }),
        ("a timestamp in a slice", |_, reply| {
            thrift(reply, |reply| alter_timestamp(list(reply, "get_slice")?.last_mut()?))
        }),
        ("the order of columns", |_, reply| {
            thrift(reply, |reply| {
                list(reply, "get_slice")?.swap(0, 1);
                Some(())
            })
        }),
        ("the order of rows", |_, reply| {
            thrift(reply, |reply| {
                list(reply, "get_range_slices")?.swap(0, 1);
                Some(())
            })
        }),
        ("a missing row", |_, reply| thrift(reply, |reply| list(reply, "get_range_slices")?.pop().map(drop))),
        ("an extra row", |_, reply| {
            thrift(reply, |reply| {
                let rows = list(reply, "get_range_slices")?;
                rows.push(rows.first()?.clone());
                Some(())
            })
        }),
        ("a missing key", |_, reply| {
            thrift(reply, |reply| match reply.fields.get_mut(&0)? {
                Tree::Map(_, _, pairs) => pairs.pop().map(drop),
                _ => None,
            })
        }),
        ("a count", |_, reply| {
            thrift(reply, |reply| match reply.fields.get_mut(&0)? {
                Tree::I32(count) => {
                    *count += 1;
                    Some(())
                }
                _ => None,
            })
        }),
        ("an exception's class", |_, reply| {
            thrift(reply, |reply| {
                let refused = reply.fields.remove(&1).filter(|_| reply.name == "set_keyspace")?;
                reply.fields.insert(2, refused);
                Some(())
            })
        }),
        ("a text", |_, reply| {
            thrift(reply, |reply| {
                *field(reply.fields.get_mut(&1)?, &[1])? = Tree::Binary("another text".into());
                Some(())
            })
        }),
    ];
    check(thrift_session, Server::thrift_address, &falsifications);
}

fn cql_session(address: SocketAddr) {
    let mut client = NativeClient::ready(address, 4);
    client.run("USE k");
    client.run("INSERT INTO t (p, c, v, made, day) VALUES (0, 0, 'made', dateOf(now()), '2001-01-01')");
    for round in 0..8 {
        let at = now_us();
        for c in 1..4 {
            let day = "2013-11-09";
            let made = at / 1000;
            let values = format!("({round}, {c}, 'v', {made}, '{day}') USING TIMESTAMP {at}");
            client.run(&format!("INSERT INTO t (p, c, v, made, day) VALUES {values}"));
        }
        client.rows(&format!("SELECT v, c, day FROM t WHERE p = {round} AND c > 0"));
        client.rows(&format!("SELECT made FROM t WHERE p = {round} AND c = 1"));
        client.rows(&format!("SELECT writetime(v) FROM t WHERE p = {round} AND c = 1"));
        client.rows(&format!("SELECT count(*) FROM t WHERE p = {round}"));
        client.rows(&format!("UPDATE t SET v = 'w' WHERE p = {round} AND c = 1 IF v = 'v'"));
        client.query("SELECT unknown FROM t").error();
    }
}

/// Changes a native error.
fn error(reply: &Bytes, change: fn(&mut Vec<u8>)) -> Option<Bytes> {
    let NativeReply { mut frame, content: ReplyContent::Error { .. }, .. } = NativeReply::read(reply).ok()?
    else {
        return None;
    };
    let mut body = frame.body.to_vec();
    change(&mut body);
    frame.body = body.into();
    Some(frame.write())
}

/// Changes the last byte of the first cell.
fn alter(rows: &mut [Vec<Option<Bytes>>]) -> Option<()> {
    let cell = rows.first_mut()?.first_mut()?.as_mut()?;
    let mut bytes = cell.to_vec();
    *bytes.last_mut()? ^= 1;
    *cell = bytes.into();
    Some(())
}

#[test]
fn each_falsified_reply_of_cql_is_reported() {
    let falsifications: [(&str, Falsify); 10] = [
        ("a value", |_, reply| native(reply, "v", |rows| alter(rows))),
        ("a date that a client has sent", |_, reply| native(reply, "made", |rows| alter(rows))),
        ("a timestamp", |_, reply| native(reply, "writetime(v)", |rows| alter(rows))),
        ("a count", |_, reply| native(reply, "count", |rows| alter(rows))),
        ("[applied]", |_, reply| native(reply, "[applied]", |rows| alter(rows))),
        ("the order of rows", |_, reply| {
            native(reply, "v", |rows| {
                rows.swap(0, 1);
                Some(())
            })
        }),
        ("a missing row", |_, reply| native(reply, "v", |rows| rows.pop().map(drop))),
        ("an extra row", |_, reply| {
            native(reply, "v", |rows| {
                rows.push(rows.first()?.clone());
                Some(())
            })
        }),
        ("an exception's class", |_, reply| error(reply, |body| body[2] ^= 2)),
        ("a text", |_, reply| {
            error(reply, |body| {
                if let Some(last) = body.last_mut() {
                    *last ^= 1;
                }
            })
        }),
    ];
    check(cql_session, Server::native_address, &falsifications);
}
