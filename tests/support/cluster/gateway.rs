//! Gateways of the ring as separate processes, and clients of them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]
#![allow(dead_code, reason = "every test binary uses its own part of it")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use wire::thrift::TType;

use crate::support::calls::{self, parent};
use crate::support::client::{Client, Reply, Style};
use crate::support::server::Server;
use crate::support::value::{Value, fields, map, structs, text};

/// Returns a configuration without keyspaces. `more` are elements of `<Cluster>`.
pub fn config(nodes: &[String], more: &str) -> String {
    let points: String = nodes.iter().map(|node| format!("<ContactPoint>{node}</ContactPoint>")).collect();
    format!(
        "<Storage><ClusterName>Test Cluster</ClusterName><Keyspaces/>
         <Cluster><ContactPoints>{points}</ContactPoints>{more}</Cluster>
         <StartNativeTransport>false</StartNativeTransport></Storage>"
    )
}

/// Starts a gateway and waits until it serves.
pub fn start(directory: &Path, nodes: &[String], more: &str) -> Server {
    // Without a cluster the command line would choose a data directory.
    Server::start(directory, &config(nodes, more), &["--cluster", &nodes.join(",")])
}

/// Runs a command of the script `tests/cluster/ring`, and prints the time that it took.
pub fn ring(words: &[&str]) {
    let began = Instant::now();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster/ring");
    let status = Command::new(script).args(words).stdin(Stdio::null()).status().unwrap();
    assert!(status.success(), "ring {words:?}: {status}");
    println!("ring {} took {:.1} s", words.join(" "), began.elapsed().as_secs_f64());
}

/// A client of 0.6, whose calls have a keyspace argument.
pub struct Old {
    pub client: Client,
    pub keyspace: String,
}

impl Old {
    pub fn connect(gateway: &Server, keyspace: &str) -> Old {
        Old { client: gateway.client(Style::UNFRAMED), keyspace: keyspace.to_owned() }
    }

    pub fn insert(
        &mut self,
        family: &str,
        (key, name): (&str, &str),
        value: &str,
        stamp: i64,
        level: i32,
    ) -> Reply {
        let path = calls::path(family, None, Some(name.as_bytes()));
        let args = calls::insert_args(&self.keyspace, key.as_bytes(), path, (value.as_bytes(), stamp), level);
        self.client.call("insert", &args)
    }

    pub fn get(&mut self, family: &str, (key, name): (&str, &str), level: i32) -> Reply {
        let path = calls::path(family, None, Some(name.as_bytes()));
        self.client.call("get", &calls::get_args(&self.keyspace, key.as_bytes(), path, level))
    }
}

/// A client of 2.1, whose session has a keyspace.
pub struct Modern {
    pub client: Client,
}

impl Modern {
    /// Connects a client without a keyspace.
    pub fn idle(gateway: &Server) -> Modern {
        let mut client = gateway.client(Style::FRAMED);
        client.call("describe_version", &fields([])).value();
        Modern { client }
    }

    pub fn connect(gateway: &Server, keyspace: &str) -> Modern {
        let mut client = gateway.client(Style::FRAMED);
        client.call("set_keyspace", &fields([(1, text(keyspace))])).void();
        Modern { client }
    }

    pub fn insert(
        &mut self,
        family: &str,
        (key, name): (&str, &str),
        value: &str,
        stamp: i64,
        level: i32,
    ) -> Reply {
        let column = calls::column(name.as_bytes(), value.as_bytes(), stamp);
        let args = fields([(1, text(key)), (2, parent(family, None)), (3, column), (4, Value::I32(level))]);
        self.client.call("insert", &args)
    }

    pub fn get(&mut self, family: &str, (key, name): (&str, &str), level: i32) -> Reply {
        let path = calls::path(family, None, Some(name.as_bytes()));
        self.client.call("get", &fields([(1, text(key)), (2, path), (3, Value::I32(level))]))
    }

    pub fn slice(&mut self, family: &str, key: &str, count: i32, level: i32) -> Reply {
        let predicate = calls::slice(b"", b"", false, count);
        let args =
            fields([(1, text(key)), (2, parent(family, None)), (3, predicate), (4, Value::I32(level))]);
        self.client.call("get_slice", &args)
    }

    pub fn add(&mut self, family: &str, (key, name): (&str, &str), level: i32) -> Reply {
        let column = fields([(1, text(name)), (2, Value::I64(1))]);
        let args = fields([(1, text(key)), (2, parent(family, None)), (3, column), (4, Value::I32(level))]);
        self.client.call("add", &args)
    }

    /// Sends a call with one argument, such as a schema change.
    pub fn call(&mut self, method: &str, argument: Value) -> Reply {
        self.client.call(method, &fields([(1, argument)]))
    }
}

/// Returns a KsDef with three replicas.
pub fn ks_def(name: &str, families: Vec<Value>) -> Value {
    let options = map(TType::String, vec![("replication_factor", text("3"))]);
    fields([
        (1, text(name)),
        (2, text("org.apache.cassandra.locator.SimpleStrategy")),
        (3, options),
        (5, structs(families)),
    ])
}

/// Returns a CfDef whose names are texts.
pub fn cf_def(keyspace: &str, name: &str) -> Value {
    fields([(1, text(keyspace)), (2, text(name)), (5, text("UTF8Type"))])
}

/// Returns a CfDef of counters.
pub fn counters_def(keyspace: &str, name: &str) -> Value {
    fields([(1, text(keyspace)), (2, text(name)), (5, text("UTF8Type")), (15, text("CounterColumnType"))])
}

/// Returns the field of a reply that has an exception; `None` if the call succeeded.
pub fn exception(reply: &Reply) -> Option<i16> {
    match reply {
        Reply::Result(fields) => fields.keys().copied().find(|field| *field != 0),
        Reply::Exception { kind, text } => panic!("application exception {kind}: {text}"),
    }
}

/// Returns the value of the column in an answer of `get`; `None` if the column does not exist.
pub fn value(reply: &Reply) -> Option<String> {
    match exception(reply) {
        // NotFoundException
        Some(2) => None,
        _ => Some(reply.value().field(1).field(2).str().to_owned()),
    }
}

/// Returns the sorted names of a keyspace's column families, as a gateway describes them.
pub fn families(client: &mut Modern, keyspace: &str) -> Vec<String> {
    let described = client.call("describe_keyspace", text(keyspace));
    let families = described.value().field(5).items();
    let mut names: Vec<String> = families.iter().map(|cf| cf.field(2).str().to_owned()).collect();
    names.sort();
    names
}

/// Calls a function until it returns a value. Panics after `patience`.
pub fn eventually<T>(what: &str, patience: Duration, mut ask: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = ask() {
            println!("{what} after {:.1} s", began.elapsed().as_secs_f64());
            return found;
        }
        assert!(began.elapsed() < patience, "not within {patience:?}: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
