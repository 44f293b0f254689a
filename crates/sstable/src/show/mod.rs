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

mod json;
mod text;

use std::io::{self, Write};

use serde_json::{Map, Value};

use self::json::{atom_json, deletion_json};
pub use self::text::ShownAs;
use self::text::TextForm;
use super::atom::Unit;
use base::util::hex;

/// The form of the output.
#[derive(Clone)]
pub enum Form {
    /// A list of rows.
    Json,
    /// A line for each cell, with the types of the column family if they are known.
    Text(Option<ShownAs>),
}

/// Prints the units of a table.
pub struct Shower<W> {
    out: W,
    /// `None` for JSON.
    lines: Option<TextForm>,
    has_rows: bool,
    /// Whether the present row has cells; `None` between rows.
    row: Option<bool>,
}

impl<W: Write> Shower<W> {
    /// Begins the output.
    pub fn new(mut out: W, form: Form) -> io::Result<Shower<W>> {
        let lines = match form {
            Form::Json => {
                out.write_all(b"[")?;
                None
            }
            Form::Text(shown_as) => Some(TextForm::new(shown_as)),
        };
        Ok(Shower { out, lines, has_rows: false, row: None })
    }

    /// Prints a unit.
    pub fn show(&mut self, unit: &Unit) -> io::Result<()> {
        let line = match (&mut self.lines, unit) {
            (None, _) => return self.json(unit),
            (Some(lines), Unit::Row { key, deletion }) => {
                self.row = Some(false);
                lines.row(key, *deletion)
            }
            (Some(lines), Unit::Atom(atom)) => lines.atom(atom),
            (Some(_), Unit::EndOfRow) => {
                self.row = None;
                return Ok(());
            }
        };
        writeln!(self.out, "{line}")
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

    /// Ends the present row with more fields, which only JSON has.
    pub fn end_row_with(&mut self, fields: &Map<String, Value>) -> io::Result<()> {
        if self.lines.is_some() || fields.is_empty() {
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
        match (self.row.take(), &self.lines) {
            (None, _) => Ok(()),
            (Some(_), None) => self.out.write_all(b"\n], \"incomplete\": true}"),
            (Some(_), Some(_)) => self.out.write_all(b"  the rest of the row is damaged\n"),
        }
    }

    /// Ends the output.
    pub fn finish(mut self) -> io::Result<()> {
        if self.lines.is_none() {
            self.out.write_all(b"\n]\n")?;
        }
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use serde_json::json;

    use super::*;
    use crate::Atom;
    use base::model::{Cell, CellKind, DeletionTime, RangeTombstone};

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
        let text = shown(Form::Text(None));
        assert!(text.contains("row key \"k\"  (deleted, timestamp=7, deleted_at=8)\n"), "{text}");
        assert!(
            text.contains("=> (super_column=\"s\", name=\"b\", value=\"v\", timestamp=3, ttl=10"),
            "{text}"
        );
        assert!(text.contains("row key 0x00\n"), "{text}");
    }
}
