//! Prints rows of an SSTable, as JSON or for people.
//!
//! ```text
//!   {"key": "6b31", "cells": [
//!     {"name": "61", "value": "0001", "timestamp": 5},
//!     {"name": "62", "timestamp": 6, "deleted_at": 1250558004}
//!   ]}
//! ```
//!
//! Keys, names and values are bytes in hex. All releases have the same form.

use std::io::{self, Write};

use bytes::Bytes;
use serde_json::{Map, Value, json};

use super::atom::{Atom, Unit};
use super::counter::{CounterCell, ShardKind};
use super::error::hex;
use crate::model::{Cell, CellKind, DeletionTime};

/// The form of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// A list of rows.
    Json,
    /// A line for each cell.
    Text,
}

/// Prints the units of a table.
#[derive(Debug)]
pub struct Shower<W> {
    out: W,
    form: Form,
    has_rows: bool,
    /// Whether the present row has cells; `None` between rows.
    row: Option<bool>,
}

impl<W: Write> Shower<W> {
    /// Begins the output.
    pub fn new(mut out: W, form: Form) -> io::Result<Shower<W>> {
        if form == Form::Json {
            out.write_all(b"[")?;
        }
        Ok(Shower { out, form, has_rows: false, row: None })
    }

    /// Prints a unit.
    pub fn show(&mut self, unit: &Unit) -> io::Result<()> {
        match self.form {
            Form::Json => self.json(unit),
            Form::Text => self.text(unit),
        }
    }

    fn json(&mut self, unit: &Unit) -> io::Result<()> {
        match unit {
            Unit::Row { key, deletion } => {
                let comma = if self.has_rows { "," } else { "" };
                write!(self.out, "{comma}\n{{\"key\": \"{}\"", hex(key))?;
                if deletion.is_deleted() {
                    write!(self.out, ", \"deletion\": {}", deletion_json(*deletion))?;
                }
                self.out.write_all(b", \"cells\": [")?;
                (self.has_rows, self.row) = (true, Some(false));
                Ok(())
            }
            Unit::Atom(atom) => {
                let comma = if self.row == Some(true) { "," } else { "" };
                self.row = Some(true);
                write!(self.out, "{comma}\n  {}", Value::Object(atom_json(atom)))
            }
            Unit::EndOfRow => {
                let space = if self.row == Some(true) { "\n" } else { "" };
                self.row = None;
                write!(self.out, "{space}]}}")
            }
        }
    }

    fn text(&mut self, unit: &Unit) -> io::Result<()> {
        match unit {
            Unit::Row { key, deletion } => {
                self.row = Some(false);
                write!(self.out, "row key {}", text(key))?;
                if deletion.is_deleted() {
                    write!(self.out, "  {}", deletion_text(*deletion))?;
                }
                self.out.write_all(b"\n")
            }
            Unit::Atom(atom) => writeln!(self.out, "  {}", atom_text(atom)),
            Unit::EndOfRow => {
                self.row = None;
                Ok(())
            }
        }
    }

    /// Ends the present row with more fields, which only JSON has.
    pub fn end_row_with(&mut self, fields: &Map<String, Value>) -> io::Result<()> {
        if self.form == Form::Text || fields.is_empty() {
            return self.show(&Unit::EndOfRow);
        }
        self.row = None;
        self.out.write_all(b"\n]")?;
        for (name, value) in fields {
            write!(self.out, ", {}: {value}", Value::from(name.as_str()))?;
        }
        self.out.write_all(b"}")
    }

    /// Ends the present row, if there is one, because the rest of it cannot be read.
    pub fn end_damaged_row(&mut self) -> io::Result<()> {
        match (self.row.take(), self.form) {
            (None, _) => Ok(()),
            (Some(_), Form::Json) => self.out.write_all(b"\n], \"incomplete\": true}"),
            (Some(_), Form::Text) => self.out.write_all(b"  the rest of the row is damaged\n"),
        }
    }

    /// Ends the output.
    pub fn finish(mut self) -> io::Result<()> {
        if self.form == Form::Json {
            self.out.write_all(b"\n]\n")?;
        }
        self.out.flush()
    }
}

fn deletion_json(deletion: DeletionTime) -> Value {
    json!({"timestamp": deletion.marked_for_delete_at, "deleted_at": deletion.local_deletion_time})
}

fn atom_json(atom: &Atom) -> Map<String, Value> {
    let mut found = Map::new();
    let mut put = |name: &str, value: Value| found.insert(name.to_owned(), value);
    match atom {
        Atom::Cell { super_column, cell } => {
            if let Some(holder) = super_column {
                put("super_column", hex(holder).into());
            }
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
        Atom::Counter { super_column, counter } => {
            if let Some(holder) = super_column {
                put("super_column", hex(holder).into());
            }
            put("name", hex(&counter.name).into());
            put("count", counter.total().into());
            put("shards", shards_json(counter));
            put("timestamp", counter.timestamp.into());
            if counter.last_delete > i64::MIN {
                put("last_delete", counter.last_delete.into());
            }
        }
        Atom::SuperDeletion { name, deletion } => {
            put("super_column", hex(name).into());
            put("deletion", deletion_json(*deletion));
        }
        Atom::Range(range) => {
            if let Some(holder) = &range.super_column {
                put("super_column", hex(holder).into());
            }
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

/// Returns bytes as a text in quotes if they are one that can be printed, else in hex.
fn text(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.is_empty() && !text.chars().any(char::is_control) => format!("{text:?}"),
        _ => format!("0x{}", hex(bytes)),
    }
}

fn deletion_text(deletion: DeletionTime) -> String {
    let DeletionTime { marked_for_delete_at, local_deletion_time } = deletion;
    format!("(deleted, timestamp={marked_for_delete_at}, deleted_at={local_deletion_time})")
}

fn cell_text(cell: &Cell) -> String {
    let value = text(&cell.value);
    let timestamp = cell.timestamp;
    match cell.kind {
        CellKind::Deleted { local_deletion_time } => {
            format!("deleted, timestamp={timestamp}, deleted_at={local_deletion_time}")
        }
        CellKind::Expiring { ttl_s, expires_at_s } => {
            format!("value={value}, timestamp={timestamp}, ttl={ttl_s}, expires_at={expires_at_s}")
        }
        CellKind::Live | CellKind::Counter | CellKind::Increment => {
            format!("value={value}, timestamp={timestamp}")
        }
    }
}

fn atom_text(atom: &Atom) -> String {
    let holder = |name: &Option<Bytes>| match name {
        Some(name) => format!("super_column={}, ", text(name)),
        None => String::new(),
    };
    match atom {
        Atom::Cell { super_column, cell } => {
            format!("=> ({}name={}, {})", holder(super_column), text(&cell.name), cell_text(cell))
        }
        Atom::Counter { super_column, counter } => {
            let mut shown = format!(
                "=> ({}counter={}, count={}, timestamp={}",
                holder(super_column),
                text(&counter.name),
                counter.total(),
                counter.timestamp
            );
            for (node, shard) in &counter.shards {
                let kind = format!("{:?}", shard.kind).to_lowercase();
                let shard = format!(", {kind} {}: {} @ {}", hex(node), shard.count, shard.clock);
                shown.push_str(&shard);
            }
            shown + ")"
        }
        Atom::SuperDeletion { name, deletion } => {
            format!("=> (super_column={} {})", text(name), deletion_text(*deletion))
        }
        Atom::Range(range) => format!(
            "=> ({}range {} to {} {})",
            holder(&range.super_column),
            text(&range.start),
            text(&range.finish),
            deletion_text(range.deletion)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RangeTombstone;

    fn units() -> Vec<Unit> {
        let deletion = DeletionTime { marked_for_delete_at: 7, local_deletion_time: 8 };
        let bytes = |text: &'static str| Bytes::from_static(text.as_bytes());
        let kind = CellKind::Expiring { ttl_s: 10, expires_at_s: 20 };
        let range = RangeTombstone { super_column: None, start: bytes("a"), finish: Bytes::new(), deletion };
        vec![
            Unit::Row { key: bytes("k"), deletion },
            Unit::Atom(Atom::Cell { super_column: None, cell: Cell::tombstone(bytes("a"), 1, 2) }),
            Unit::Atom(Atom::Cell {
                super_column: Some(bytes("s")),
                cell: Cell { kind, ..Cell::live(bytes("b"), bytes("v"), 3) },
            }),
            Unit::Atom(Atom::SuperDeletion { name: bytes("s"), deletion }),
            Unit::Atom(Atom::Range(range)),
            Unit::EndOfRow,
            Unit::Row { key: bytes("\u{0}"), deletion: DeletionTime::LIVE },
            Unit::EndOfRow,
        ]
    }

    fn shown(form: Form) -> String {
        let mut out = Vec::new();
        let mut shower = Shower::new(&mut out, form).unwrap();
        units().iter().for_each(|unit| shower.show(unit).unwrap());
        shower.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_has_one_form() {
        let found: Value = serde_json::from_str(&shown(Form::Json)).unwrap();
        let deletion = json!({"timestamp": 7, "deleted_at": 8});
        let expected = json!([
            {"key": "6b", "deletion": deletion, "cells": [
                {"name": "61", "timestamp": 1, "deleted_at": 2},
                {"super_column": "73", "name": "62", "value": "76", "ttl": 10, "expires_at": 20, "timestamp": 3},
                {"super_column": "73", "deletion": deletion},
                {"start": "61", "finish": "", "deletion": deletion},
            ]},
            {"key": "00", "cells": []},
        ]);
        assert_eq!(found, expected);
    }

    #[test]
    fn a_row_that_is_damaged_is_still_json() {
        let mut out = Vec::new();
        let mut shower = Shower::new(&mut out, Form::Json).unwrap();
        units().iter().take(2).for_each(|unit| shower.show(unit).unwrap());
        shower.end_damaged_row().unwrap();
        units().iter().skip(6).for_each(|unit| shower.show(unit).unwrap());
        shower.end_damaged_row().unwrap();
        shower.finish().unwrap();
        let found: Value = serde_json::from_slice(&out).unwrap();
        assert_eq!((found[0]["incomplete"].clone(), found[1]["key"].clone()), (json!(true), json!("00")));
    }

    #[test]
    fn people_read_texts() {
        let text = shown(Form::Text);
        assert!(text.contains("row key \"k\"  (deleted, timestamp=7, deleted_at=8)\n"), "{text}");
        assert!(
            text.contains("=> (super_column=\"s\", name=\"b\", value=\"v\", timestamp=3, ttl=10"),
            "{text}"
        );
        assert!(text.contains("row key 0x00\n"), "{text}");
    }
}
