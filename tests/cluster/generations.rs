//! Two gateways of a ring, as processes, with clients of two API generations on each; and a gateway under overload.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::thread;
use std::time::Instant;

use crate::{cluster_support, gateway, support};
use cluster_support::{own_name, ring, runtime, tables};
use gateway::{Modern, Old, cf_def, counters_def, exception, families, ks_def, value};
use support::calls::{self, ONE, QUORUM};
use support::client::{Client, Reply, Style};
use support::server::Server;
use support::value::{Value, fields, text, texts};

/// The number of column families that each gateway creates at the same time as the other.
const AT_ONCE: usize = 3;

/// The number of clients, of requests that each sends before it reads answers, and of such rounds; and the length of
/// values in bytes.
const CLIENTS: usize = 96;
const UNREAD: usize = 8;
const ROUNDS: usize = 4;
const VALUE: usize = 32 * 1024;
/// The most additional memory of the gateway, in bytes.
const MEMORY: u64 = 192 * 1024 * 1024;

/// Clients of both generations on one gateway.
struct Side {
    old: Old,
    modern: Modern,
}

impl Side {
    fn of(gateway: &Server, keyspace: &str) -> Side {
        Side { old: Old::connect(gateway, keyspace), modern: Modern::connect(gateway, keyspace) }
    }

    /// Returns the value of a column that each of the two clients reads.
    fn found(&mut self, family: &str, at: (&str, &str)) -> [Option<String>; 2] {
        [value(&self.old.get(family, at, QUORUM)), value(&self.modern.get(family, at, QUORUM))]
    }
}

fn is_invalid(reply: &Reply) -> bool {
    exception(reply) == Some(1)
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn writes_and_schema_changes_through_one_gateway_are_visible_through_the_other() {
    let (directory, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (one, other) =
        (gateway::start(directory.path(), &ring(), ""), gateway::start(second.path(), &ring(), ""));
    let name = own_name("Generations");
    let defs = vec![cf_def(&name, "Cf"), counters_def(&name, "Counts")];
    Modern::idle(&one).call("system_add_keyspace", ks_def(&name, defs)).value();
    let mut sides = [Side::of(&one, &name), Side::of(&other, &name)];
    write_through_each(&mut sides);
    change_the_schema(&mut sides, &name);
    change_at_the_same_time(&mut sides, &name);
    empty_and_drop(&mut sides, &name);
    one.stop();
    other.stop();
}

fn write_through_each(sides: &mut [Side; 2]) {
    for writer in 0..4 {
        let at = (&*format!("row{writer}"), "name");
        for (stamp, text) in [(1, "first"), (2, "second")] {
            let side = &mut sides[writer / 2];
            let wrote = match writer % 2 {
                0 => side.old.insert("Cf", at, text, stamp, QUORUM),
                _ => side.modern.insert("Cf", at, text, stamp, QUORUM),
            };
            assert_eq!(exception(&wrote), None);
            for side in &mut *sides {
                assert_eq!(side.found("Cf", at), [Some(text.to_owned()), Some(text.to_owned())]);
            }
        }
    }
    for side in &mut *sides {
        assert_eq!(exception(&side.modern.add("Counts", ("row", "name"), QUORUM)), None);
    }
    for side in &mut *sides {
        let counter = side.modern.get("Counts", ("row", "name"), QUORUM);
        assert_eq!(counter.value().field(3).field(2).int(), 2);
    }
}

/// Checks that a gateway serves each schema change through the other as soon as that call has returned.
fn change_the_schema([one, other]: &mut [Side; 2], name: &str) {
    let at = ("row", "name");
    one.modern.call("system_add_column_family", cf_def(name, "Later")).value();
    assert_eq!(exception(&other.old.insert("Later", at, "value", 1, QUORUM)), None);
    let Value::Struct(mut changed) = cf_def(name, "Later") else { unreachable!() };
    changed.extend([(8, text("changed")), (14, Value::I32(77))]);
    other.modern.call("system_update_column_family", Value::Struct(changed)).value();
    let described = one.modern.call("describe_keyspace", text(name));
    let later = described.value().field(5).items().iter().find(|cf| cf.field(2).str() == "Later").unwrap();
    assert_eq!((later.field(8).str(), later.field(14)), ("changed", &Value::I32(77)));

    let Value::Struct(mut changed) = ks_def(name, Vec::new()) else { unreachable!() };
    changed.insert(6, Value::Bool(false));
    one.modern.call("system_update_keyspace", Value::Struct(changed)).value();
    let described = other.modern.call("describe_keyspace", text(name));
    assert_eq!(described.value().field(6), &Value::Bool(false));

    other.modern.call("system_drop_column_family", text("Later")).value();
    assert!(is_invalid(&one.old.get("Later", at, QUORUM)));
    assert!(is_invalid(&one.modern.insert("Later", at, "value", 2, QUORUM)));
    // Another of the same name, which has nothing of the first.
    one.modern.call("system_add_column_family", cf_def(name, "Later")).value();
    assert_eq!(other.found("Later", at), [None, None]);
    assert_eq!(exception(&other.modern.insert("Later", at, "again", 1, QUORUM)), None);
    assert_eq!(one.found("Later", at), [Some("again".to_owned()), Some("again".to_owned())]);
}

/// Both gateways make and drop column families at the same time, and one of the same name.
fn change_at_the_same_time(sides: &mut [Side; 2], name: &str) {
    let began = Instant::now();
    let made: Vec<Vec<Reply>> = thread::scope(|scope| {
        let making: Vec<_> = sides
            .iter_mut()
            .enumerate()
            .map(|(number, side)| {
                let add = "system_add_column_family";
                scope.spawn(move || {
                    for at in 0..AT_ONCE {
                        side.modern.call(add, cf_def(name, &format!("Made{number}{at}"))).value();
                    }
                    vec![side.modern.call(add, cf_def(name, "Both"))]
                })
            })
            .collect();
        making.into_iter().map(|side| side.join().unwrap()).collect()
    });
    let outcomes: Vec<Option<i16>> = made.iter().flatten().map(exception).collect();
    assert!(outcomes.contains(&None) && outcomes.contains(&Some(1)), "{outcomes:?}");
    let mut expected = vec!["Both".to_owned(), "Cf".to_owned(), "Counts".to_owned(), "Later".to_owned()];
    expected.extend((0..2).flat_map(|side| (0..AT_ONCE).map(move |at| format!("Made{side}{at}"))));
    for side in &mut *sides {
        assert_eq!(families(&mut side.modern, name), expected);
        for family in expected.iter().filter(|family| *family != "Counts") {
            assert_eq!(exception(&side.old.insert(family, ("all", "name"), "value", 1, QUORUM)), None);
        }
    }
    thread::scope(|scope| {
        for (number, side) in sides.iter_mut().enumerate() {
            scope.spawn(move || {
                for at in 0..AT_ONCE {
                    let other = format!("Made{}{at}", 1 - number);
                    side.modern.call("system_drop_column_family", text(other)).value();
                }
            });
        }
    });
    expected.retain(|family| !family.starts_with("Made"));
    for side in &mut *sides {
        assert_eq!(families(&mut side.modern, name), expected);
    }
    assert_eq!(runtime().block_on(tables(name)), expected, "tables on the ring");
    println!("changes at the same time took {:.1} s", began.elapsed().as_secs_f64());
}

fn empty_and_drop([one, other]: &mut [Side; 2], name: &str) {
    let at = ("row0", "name");
    assert!(other.found("Cf", at)[0].is_some());
    one.modern.call("truncate", text("Cf")).void();
    assert_eq!(other.found("Cf", at), [None, None]);
    assert_eq!(exception(&other.old.insert("Cf", at, "anew", 1, QUORUM)), None);
    assert_eq!(one.found("Cf", at), [Some("anew".to_owned()), Some("anew".to_owned())]);
    other.modern.call("system_drop_keyspace", text(name)).value();
    assert!(is_invalid(&one.old.get("Cf", at, QUORUM)));
    assert!(is_invalid(&one.modern.call("set_keyspace", text(name))));
}

/// Writes of one client. Each round of requests is sent before its answers are read. Returns the keys of the
/// acknowledged writes, and the number of refused ones.
fn flood(mut client: Client, keyspace: &str, number: usize) -> (Vec<String>, usize) {
    let value = vec![b'v'; VALUE];
    let (mut done, mut refused) = (Vec::new(), 0);
    for round in 0..ROUNDS {
        let keys: Vec<String> = (0..UNREAD).map(|at| format!("{number} {round} {at}")).collect();
        for key in &keys {
            let path = calls::path("Cf", None, Some(b"name"));
            let args = calls::insert_args(keyspace, key.as_bytes(), path, (&value, 1), QUORUM);
            client.begin("insert", &args).unwrap();
        }
        for key in keys {
            let (_, _, reply) = client.reply();
            match exception(&reply) {
                None => done.push(key),
                Some(2) => refused += 1,
                // TimedOutException: the write may have been applied or not.
                Some(3) => {}
                Some(_) => panic!("{reply:?}"),
            }
        }
    }
    (done, refused)
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn an_overloaded_gateway_refuses_some_requests_and_serves_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let gateway = gateway::start(directory.path(), &ring(), "<MaxRequests>4</MaxRequests>");
    let name = own_name("Flood");
    let mut modern = Modern::idle(&gateway);
    modern.call("system_add_keyspace", ks_def(&name, vec![cf_def(&name, "Cf")])).value();
    let before = gateway.resident_bytes();
    let outcomes: Vec<(Vec<String>, usize)> = thread::scope(|scope| {
        let name = &*name;
        let clients: Vec<_> = (0..CLIENTS)
            .map(|number| {
                let client = gateway.client(Style::UNFRAMED);
                scope.spawn(move || flood(client, name, number))
            })
            .collect();
        clients.into_iter().map(|client| client.join().unwrap()).collect()
    });
    let grown = before.zip(gateway.resident_bytes()).map(|(before, after)| after.saturating_sub(before));
    let done: Vec<&String> = outcomes.iter().flat_map(|(done, _)| done).collect();
    let refused: usize = outcomes.iter().map(|(_, refused)| refused).sum();
    println!("{} done, {refused} refused, {grown:?} bytes more", done.len());
    assert!(done.len() > 8 && refused > 0, "{} done, {refused} refused", done.len());
    assert!(grown.is_none_or(|grown| grown < MEMORY), "{grown:?}");

    // Acknowledged writes exist, and the gateway has capacity again, also for one request of many rows.
    modern.call("set_keyspace", text(&name)).void();
    for keys in done.chunks(50) {
        let args = fields([
            (1, texts(keys)),
            (2, calls::parent("Cf", None)),
            (3, calls::names(&["name"])),
            (4, Value::I32(QUORUM)),
        ]);
        let rows = modern.client.call("multiget_slice", &args);
        let filled = rows.value().pairs().iter().filter(|(_, columns)| columns.items().len() == 1).count();
        assert_eq!(filled, keys.len());
    }
    let mut old = Old::connect(&gateway, &name);
    assert_eq!(exception(&old.insert("Cf", ("last", "name"), "value", 1, ONE)), None);
    modern.call("system_drop_keyspace", text(&name)).value();
    gateway.stop();
}
