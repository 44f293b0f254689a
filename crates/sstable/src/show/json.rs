//! Rows as JSON: keys, names and values are in hex.

use serde_json::{Map, Value, json};

use crate::atom::Atom;
use crate::counter::{CounterCell, ShardKind};
use base::model::{CellKind, DeletionTime};
use base::util::hex;

pub(super) fn deletion_json(deletion: DeletionTime) -> Value {
    json!({"timestamp": deletion.marked_for_delete_at, "deleted_at": deletion.local_deletion_time})
}

pub(super) fn atom_json(atom: &Atom) -> Map<String, Value> {
    let mut found = Map::new();
    let mut put = |name: &str, value: Value| found.insert(name.to_owned(), value);
    if let Some(holder) = atom.super_column() {
        put("super_column", hex(holder).into());
    }
    match atom {
        Atom::Cell { cell, .. } => {
            put("name", hex(&cell.name).into());
            match cell.kind {
                CellKind::Deleted { local_deletion_time } => {
                    put("deleted_at", local_deletion_time.into());
                }
                CellKind::Expiring { ttl_s, expires_at_s } => {
                    put("value", hex(&cell.value).into());
                    put("ttl", ttl_s.into());
                    put("expires_at", expires_at_s.into());
                }
                CellKind::Live => {
                    put("value", hex(&cell.value).into());
                }
                // Of the server's own store; counters of files have shards.
                CellKind::Counter | CellKind::Increment => {
                    put("count", cell.count().into());
                }
            }
            put("timestamp", cell.timestamp.into());
        }
        Atom::Counter { counter, .. } => {
            put("name", hex(&counter.name).into());
            put("count", counter.total().into());
            put("shards", shards_json(counter));
            put("timestamp", counter.timestamp.into());
            if counter.last_delete > i64::MIN {
                put("last_delete", counter.last_delete.into());
            }
        }
        Atom::SuperDeletion { deletion, .. } => {
            put("deletion", deletion_json(*deletion));
        }
        Atom::Range(range) => {
            put("start", hex(&range.start).into());
            put("finish", hex(&range.finish).into());
            put("deletion", deletion_json(range.deletion));
        }
    }
    found
}

fn shards_json(counter: &CounterCell) -> Value {
    let shards = counter.shards.iter().map(|(node, shard)| {
        let kind = match shard.kind {
            ShardKind::Remote => "remote",
            ShardKind::Local => "local",
            ShardKind::Global => "global",
        };
        json!({"node": hex(node), "kind": kind, "clock": shard.clock, "count": shard.count})
    });
    shards.collect()
}
