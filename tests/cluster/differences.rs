//! Differences of a gateway that docs/cluster.md lists and that no recording of an old server shows.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::{cluster_support, support};
use base::marshal::Types;
use base::partitioner::Murmur3Partitioner;
use base::schema::CfDef;
use base::util::Clock;
use cluster::ClusterOptions;
use cluster_support::{SchemaCalls, catalog, cql, options, own_name, runtime, store};
use db::{Database, DatabaseParts};
use server::thrift::{Compat, Service};
use support::client::{Client, Reply};
use support::in_process::{self, InProcess};
use support::value::{Value, fields, map, structs, text};
use wire::thrift::TType;

const ONE: i32 = 1;
const QUORUM: i32 = 2;

/// A gateway on the ring, with a keyspace of a Standard and a counter column family.
struct Gateway {
    runtime: tokio::runtime::Runtime,
    service: Service,
    keyspace: String,
}

impl Gateway {
    fn new(what: &str) -> Gateway {
        let runtime = runtime();
        let keyspace = own_name(what);
        let counter = Types::builtin().parse("CounterColumnType").unwrap();
        let counters = CfDef { default_validator: counter, ..CfDef::new(&keyspace, "Counters") };
        let schema = catalog(&keyspace, [CfDef::new(&keyspace, "Plain"), counters]);
        let once = [("class", "SimpleStrategy"), ("replication_factor", "1")];
        let replication = once.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let options = ClusterOptions { replication: Some(replication), ..options() };
        let store = runtime.block_on(store(&options));
        runtime.block_on(store.alter(schema.clone())).unwrap();
        let parts = DatabaseParts::new(
            schema,
            Arc::new(store),
            Arc::new(Murmur3Partitioner),
            Arc::new(Clock::system()),
        );
        let service = Service::new(Arc::new(Database::new(parts)), Compat::default());
        Gateway { runtime, service, keyspace }
    }

    fn client(&self) -> Client<InProcess> {
        let mut client = in_process::client(&self.service, &self.runtime);
        client.call("set_keyspace", &fields([(1, text(&self.keyspace))])).void();
        client
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        runtime().block_on(cql(&format!("DROP KEYSPACE \"{}\"", self.keyspace)));
    }
}

fn parent(family: &str) -> Value {
    fields([(3, text(family))])
}

fn path(family: &str, column: &str) -> Value {
    fields([(3, text(family)), (5, text(column))])
}

fn get(client: &mut Client<InProcess>, family: &str, column: &str) -> Reply {
    let args = fields([(1, text("row")), (2, path(family, column)), (3, Value::I32(QUORUM))]);
    client.call("get", &args)
}

fn insert(client: &mut Client<InProcess>, column: Value) -> Reply {
    let args = fields([(1, text("row")), (2, parent("Plain")), (3, column), (4, Value::I32(QUORUM))]);
    client.call("insert", &args)
}

fn add(client: &mut Client<InProcess>, column: &str, delta: i64) {
    let counter = fields([(1, text(column)), (2, Value::I64(delta))]);
    let args = fields([(1, text("row")), (2, parent("Counters")), (3, counter), (4, Value::I32(QUORUM))]);
    client.call("add", &args).void();
}

/// Returns whether the reply is the NotFoundException of `get`.
fn is_not_found(reply: &Reply) -> bool {
    matches!(reply, Reply::Result(fields) if fields.contains_key(&2))
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn reads_return_the_remaining_ttl() {
    let gateway = Gateway::new("ttl_left");
    let mut client = gateway.client();
    let column = fields([(1, text("a")), (2, text("v")), (3, Value::I64(7)), (4, Value::I32(1000))]);
    insert(&mut client, column).void();
    thread::sleep(Duration::from_millis(2100));
    let found = get(&mut client, "Plain", "a").value().clone();
    let column = found.field(1);
    assert_eq!((column.field(2).str(), column.field(3).int()), ("v", 7));
    assert!((900..=998).contains(&column.field(4).int()), "{column:?}");
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn the_smallest_timestamp_is_refused() {
    let gateway = Gateway::new("smallest_timestamp");
    let mut client = gateway.client();
    let column = |timestamp| fields([(1, text("a")), (2, text("v")), (3, Value::I64(timestamp))]);
    let refusal = insert(&mut client, column(i64::MIN));
    assert!(refusal.why().contains("Out of bound timestamp"), "{refusal:?}");
    insert(&mut client, column(i64::MIN + 1)).void();
    assert_eq!(get(&mut client, "Plain", "a").value().field(1).field(3).int(), i64::MIN + 1);
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn a_removed_counter_stays_removed() {
    let gateway = Gateway::new("removed_counter");
    let mut client = gateway.client();
    add(&mut client, "one", 10);
    add(&mut client, "other", 3);
    let args = fields([(1, text("row")), (2, path("Counters", "one")), (3, Value::I32(QUORUM))]);
    client.call("remove_counter", &args).void();
    add(&mut client, "one", 5);
    assert!(is_not_found(&get(&mut client, "Counters", "one")));
    assert_eq!(get(&mut client, "Counters", "other").value().field(3).field(2).int(), 3);
}

#[test]
#[ignore = "needs a ring: tests/cluster/run"]
fn a_large_logged_batch_is_refused_by_the_cluster() {
    let gateway = Gateway::new("large_batch");
    let mut client = gateway.client();
    let column = fields([(1, text("a")), (2, text("x".repeat(2000))), (3, Value::I64(1))]);
    let write = || structs(vec![fields([(1, fields([(1, column.clone())]))])]);
    let keys: Vec<String> = (0..60).map(|row| format!("row{row}")).collect();
    let rows = keys.iter().map(|key| (&key[..], map(TType::List, vec![("Plain", write())]))).collect();
    let args = fields([(1, map(TType::Map, rows)), (2, Value::I32(ONE))]);
    let refusal = client.call("atomic_batch_mutate", &args);
    assert!(refusal.why().contains("batch_size_fail_threshold"), "{refusal:?}");
    client.call("batch_mutate", &args).void();
}
