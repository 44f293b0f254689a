//! Rows for people.
//!
//! ```text
//!   with the types                                       without
//!   row key 6b31  id='k1'                                row key "k1"
//!     at='2013-05-02 ..' title='x'  => (name=2013-..)      => (name=0x0008000001.., value="x", timestamp=5)
//! ```
//!
//! With the types of the column family, the left side is the meaning in CQL, and the right side has names and values as
//! cassandra-cli prints them. Without, texts are printed as they are, and other bytes in hex.

use std::sync::Arc;

use bytes::Bytes;

use crate::atom::Atom;
use crate::counter::CounterCell;
use base::marshal::{TypeRef, Types};
use base::model::{Cell, CellKind, DeletionTime, RangeTombstone};
use base::schema::show::{assigned, bound, framed, meaning, row_key};
use base::schema::{CfDef, TableDef};
use base::util::hex;

/// The left side may be so wide, in characters, before the right one is moved.
const LEFT_MAX: usize = 60;

/// The column family of a file: the types of its keys, names and values.
#[derive(Clone)]
pub struct ShownAs {
    /// The types by their names.
    pub types: Types,
    /// The column family.
    pub cf: Arc<CfDef>,
    /// The table that it is in CQL.
    pub table: Arc<TableDef>,
}

/// Forms the lines.
pub(super) struct TextForm {
    shown_as: Option<ShownAs>,
    /// The width of the left side so far.
    width: usize,
}

impl TextForm {
    pub(super) fn new(shown_as: Option<ShownAs>) -> TextForm {
        TextForm { shown_as, width: 0 }
    }

    /// Returns the first line of a row.
    pub(super) fn row(&self, key: &Bytes, deletion: DeletionTime) -> String {
        let mut line = match &self.shown_as {
            None => format!("row key {}", text(key)),
            Some(ShownAs { types, table, .. }) => {
                let is_composite = table.partition_key.len() > 1;
                format!("row key {}  {}", framed(key, is_composite), row_key(types, table, key))
            }
        };
        if deletion.is_deleted() {
            line.push_str("  ");
            line.push_str(&deletion_text(deletion));
        }
        line
    }

    /// Returns the line of a cell, counter or deletion.
    pub(super) fn atom(&mut self, atom: &Atom) -> String {
        let right = self.right(atom);
        let Some(shown_as) = &self.shown_as else { return format!("  {right}") };
        let left = shown_as.left(atom);
        self.width = self.width.max(left.chars().count().min(LEFT_MAX));
        let width = self.width;
        format!("  {left:width$}  {right}")
    }

    fn right(&self, atom: &Atom) -> String {
        let holder = |name: &Option<Bytes>| match name {
            Some(name) => format!("super_column={}, ", self.name(None, name)),
            None => String::new(),
        };
        match atom {
            Atom::Cell { super_column, cell } => {
                let name = self.name(super_column.as_ref(), &cell.name);
                format!("=> ({}name={name}, {})", holder(super_column), self.content(cell))
            }
            Atom::Counter { super_column, counter } => {
                let name = self.name(super_column.as_ref(), &counter.name);
                format!("=> ({}counter={name}, {})", holder(super_column), counter_text(counter))
            }
            Atom::SuperDeletion { name, deletion } => {
                format!("=> (super_column={} {})", self.name(None, name), deletion_text(*deletion))
            }
            Atom::Range(range) => {
                let RangeTombstone { super_column, start, finish, deletion } = range;
                let of = |name| self.name(super_column.as_ref(), name);
                let deletion = deletion_text(*deletion);
                format!("=> ({}range {} to {} {deletion})", holder(super_column), of(start), of(finish))
            }
        }
    }

    /// Returns the name of a column in a super column, or in none.
    fn name(&self, holder: Option<&Bytes>, name: &[u8]) -> String {
        match &self.shown_as {
            Some(shown_as) if !name.is_empty() => shown_as.names(holder).to_text(name),
            _ => text(name),
        }
    }

    /// Returns the parts of a cell after its name.
    fn content(&self, cell: &Cell) -> String {
        let value = match &self.shown_as {
            None => text(&cell.value),
            Some(ShownAs { cf, .. }) => cf.value_validator(&cell.name).to_text(&cell.value),
        };
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
}

impl ShownAs {
    /// Returns the comparator of the columns in a super column, or in none.
    fn names(&self, holder: Option<&Bytes>) -> &TypeRef {
        holder.and_then(|_| self.cf.subcomparator()).unwrap_or(&self.cf.comparator)
    }

    /// Returns the meaning in CQL.
    fn left(&self, atom: &Atom) -> String {
        match atom {
            Atom::Cell { super_column: None, cell } => {
                let value = (!matches!(cell.kind, CellKind::Deleted { .. })).then_some(&cell.value);
                meaning(&self.types, &self.table, &cell.name, value)
            }
            Atom::Counter { super_column: None, counter } => {
                let total = Bytes::copy_from_slice(&counter.total().to_be_bytes());
                meaning(&self.types, &self.table, &counter.name, Some(&total))
            }
            Atom::Cell { super_column: Some(holder), cell } => self.in_super(&[holder, &cell.name]),
            Atom::Counter { super_column: Some(holder), counter } => self.in_super(&[holder, &counter.name]),
            Atom::SuperDeletion { name, .. } => self.in_super(&[name]),
            Atom::Range(RangeTombstone { super_column: Some(holder), .. }) => self.in_super(&[holder]),
            Atom::Range(RangeTombstone { super_column: None, start, finish, .. }) => {
                let of = |name| bound(&self.types, &self.table, name);
                let (start, finish) = (of(start), of(finish));
                if start == finish { start } else { format!("{start} to {finish}") }
            }
        }
    }

    fn in_super(&self, names: &[&Bytes]) -> String {
        let names: Vec<Bytes> = names.iter().map(|name| (*name).clone()).collect();
        assigned(&self.types, &self.table.clustering, &names).join(" ")
    }
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

/// Returns the parts of a counter after its name.
fn counter_text(counter: &CounterCell) -> String {
    let mut shown = format!("count={}, timestamp={}", counter.total(), counter.timestamp);
    for (node, shard) in &counter.shards {
        let kind = format!("{:?}", shard.kind).to_lowercase();
        let shard = format!(", {kind} {}: {} @ {}", hex(node), shard.count, shard.clock);
        shown.push_str(&shard);
    }
    shown
}
