//! Rows on their way to the target, in pieces.

use bytes::Bytes;

use super::ImportError;
use super::read_thread::BATCH_BYTES;
use super::sstable_rows::{RowUnit, SstableRows};
use base::model::{Change, DeletionTime};
use store::{RowPiece, weight};

/// Returns the changes with which the piece of a row begins.
pub fn first_changes(deletion: DeletionTime) -> Vec<Change> {
    if deletion.is_deleted() { vec![Change::DeleteRow { deletion }] } else { Vec::new() }
}

/// Rows on their way to the target, in pieces.
pub struct RowBatcher<'a> {
    rows: Vec<RowPiece>,
    bytes: usize,
    send: &'a mut dyn FnMut(Vec<RowPiece>) -> bool,
    /// Set once the target takes no more.
    is_stopped: bool,
}

impl<'a> RowBatcher<'a> {
    /// RowBatcher go to `send`, which returns false to stop.
    pub fn new(send: &'a mut dyn FnMut(Vec<RowPiece>) -> bool) -> RowBatcher<'a> {
        RowBatcher { rows: Vec::new(), bytes: 0, send, is_stopped: false }
    }

    /// Begins a row.
    pub fn begin(&mut self, key: Bytes, deletion: DeletionTime) {
        self.drop_empty();
        if self.bytes >= BATCH_BYTES {
            self.send();
        }
        self.bytes += key.len();
        self.rows.push(RowPiece { key, changes: first_changes(deletion) });
    }

    /// Adds a change of the row. Returns false if the target takes no more.
    pub fn add(&mut self, change: Change) -> bool {
        if self.bytes >= BATCH_BYTES
            && let Some(row) = self.rows.last()
            && row.changes.last().is_none_or(|last| !has_same_name(last, &change))
        {
            // The rest of the row comes in further pieces. Cells of the same name stay together: in two tables of the
            // target, they would have to be merged.
            let key = row.key.clone();
            self.send();
            self.rows.push(RowPiece { key, changes: Vec::new() });
        }
        self.bytes += weight(&change);
        if let Some(row) = self.rows.last_mut() {
            row.changes.push(change);
        }
        !self.is_stopped
    }

    /// Sends the rest. Returns false if the target takes no more.
    pub fn send(&mut self) -> bool {
        self.drop_empty();
        self.bytes = 0;
        let rows = std::mem::take(&mut self.rows);
        if !rows.is_empty() && !(self.send)(rows) {
            self.is_stopped = true;
        }
        !self.is_stopped
    }

    /// Removes the last row if it has no changes: one that was only a place for more.
    fn drop_empty(&mut self) {
        if self.rows.last().is_some_and(|row| row.changes.is_empty()) {
            self.rows.pop();
        }
    }
}

/// Returns whether two changes are of cells with the same name.
fn has_same_name(one: &Change, other: &Change) -> bool {
    match (one, other) {
        (
            Change::Cell { super_column: holder, cell },
            Change::Cell { super_column: other_holder, cell: other },
        ) => cell.name == other.name && holder == other_holder,
        _ => false,
    }
}

/// Reads a whole SSTable of a family without counters into pieces. Returns how many counters were left out.
///
/// # Errors
///
/// At damage, unless it is skipped.
pub fn send_rows_of(
    reader: &mut SstableRows,
    mut send: impl FnMut(Vec<RowPiece>) -> bool,
) -> Result<u64, ImportError> {
    let mut pieces = RowBatcher::new(&mut send);
    let mut counters = 0;
    loop {
        match reader.next()? {
            RowUnit::End => break,
            RowUnit::Row { key, deletion } => pieces.begin(key, deletion),
            RowUnit::Atom(atom) => match atom.into_change() {
                Some(change) => {
                    if !pieces.add(change) {
                        return Ok(counters);
                    }
                }
                None => counters += 1,
            },
        }
    }
    pieces.send();
    Ok(counters)
}
