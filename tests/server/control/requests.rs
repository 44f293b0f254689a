//! The list of requests: who asked, and what was asked.

use serde_json::{Value as Json, json};

use super::{Double, KEYSPACE};
use crate::support;
use support::calls::{ONE, insert_args, parent, path};
use support::client::{Reply, Style};
use support::value::{Value, fields, text};

/// Returns the arguments of an `insert` of 0.7 and later.
fn new_insert(key: &[u8]) -> Value {
    let column = fields([(1, text("c")), (2, text("v")), (3, Value::I64(1))]);
    fields([(1, text(key)), (2, parent("Standard1", None)), (3, column), (4, Value::I32(ONE))])
}

/// Returns the arguments of an `insert` of 0.4 to 0.6.
fn old_insert(key: &[u8]) -> Value {
    insert_args("Keyspace1", key, path("Standard1", None, Some(b"c")), (b"v", 1), ONE)
}

impl Double {
    /// Returns the last requests that meet a condition.
    fn found(&self, find: Json) -> Vec<Json> {
        let found = self.send("POST", "/requests/find", &find.to_string());
        found["requests"].as_array().unwrap().clone()
    }
}

#[test]
fn conditions_ask_for_generation_and_connection() {
    let double = Double::start();
    let (mut old, mut new) = (double.server.client(Style::UNFRAMED), double.thrift());
    let mut native = double.native();
    new.call("set_keyspace", &fields([(1, text("Keyspace1"))])).void();
    old.call("insert", &old_insert(b"old")).void();
    new.call("insert", &new_insert(b"new")).void();
    native.run(KEYSPACE);

    let of = |generation: &str| double.found(json!({"when": {"generation": generation}}));
    let (with_keyspace, after) = (of("with_keyspace"), of("after_set_keyspace"));
    assert_eq!(with_keyspace.len(), 1, "{with_keyspace:?}");
    assert_eq!(with_keyspace[0]["rows"][0]["key"], "old");
    assert_eq!(after.len(), 2, "{after:?}");
    assert_eq!(after[0]["client"], new.stream.local_addr().unwrap().to_string());
    let (number, other) = (&after[0]["connection"], &with_keyspace[0]["connection"]);
    assert_eq!(after[1]["connection"], *number);
    assert_ne!(number, other);
    let cql = &double.found(json!({"when": {"protocol": "native"}}))[0];
    assert_eq!(cql["client"], native.stream.local_addr().unwrap().to_string());
    assert!(cql["connection"].is_u64() && cql.get("generation").is_none(), "{cql}");

    // Only calls of 0.4 to 0.6 fail.
    let error = |when: Json| json!({"when": when, "error": "timed_out"}).to_string();
    double.send("PUT", "/faults/a", &error(json!({"generation": "with_keyspace"})));
    new.call("insert", &new_insert(b"k")).void();
    assert_ne!(old.call("insert", &old_insert(b"k")), Reply::Result([].into()));
    // Only one of two connections of the same kind fails.
    let mut second = double.thrift();
    second.call("set_keyspace", &fields([(1, text("Keyspace1"))])).void();
    double.send("PUT", "/faults/a", &error(json!({"connection": number, "method": "insert"})));
    second.call("insert", &new_insert(b"k")).void();
    assert_ne!(new.call("insert", &new_insert(b"k")), Reply::Result([].into()));
    // A request of the native protocol without rows meets the condition, too.
    double.send("PUT", "/faults/a", &error(json!({"connection": cql["connection"]})));
    native.query("USE ks").error();
    double.native().run("USE ks");
    double.server.stop();
}
