//! Collects rows into batches.

use std::sync::Arc;

use bytes::Bytes;

use super::ImportError;
use super::read_thread::BatchSender;
use super::sstable_rows::{RowUnit, SstableRows};
use crate::rows::{BATCH_BYTES, RowBatch};
use base::model::{Change, DeletionTime};
use base::schema::CfDef;
use store::{RowPiece, weight};

/// Returns the changes with which the piece of a row begins.
pub(super) fn first_changes(deletion: DeletionTime) -> Vec<Change> {
    if deletion.is_deleted() { vec![Change::DeleteRow { deletion }] } else { Vec::new() }
}

/// Collects the rows of a column family, and sends them in batches.
pub(crate) struct RowBatcher {
    cf: Arc<CfDef>,
    rows: Vec<RowPiece>,
    bytes: usize,
    sender: BatchSender,
    /// Set once the target takes no more.
    is_stopped: bool,
}

impl RowBatcher {
    pub(crate) fn new(cf: Arc<CfDef>, sender: BatchSender) -> RowBatcher {
        RowBatcher { cf, rows: Vec::new(), bytes: 0, sender, is_stopped: false }
    }

    /// Begins a row. Returns false if the target takes no more.
    pub(crate) fn begin(&mut self, key: Bytes, deletion: DeletionTime) -> bool {
        self.drop_empty();
        if self.bytes >= BATCH_BYTES {
            self.send(None);
        }
        self.bytes += key.len();
        self.rows.push(RowPiece { key, changes: first_changes(deletion) });
        !self.is_stopped
    }

    /// Adds a change of the row. Returns false if the target takes no more.
    pub(crate) fn add(&mut self, change: Change) -> bool {
        if self.bytes >= BATCH_BYTES
            && let Some(row) = self.rows.last()
            && row.changes.last().is_none_or(|last| !has_same_name(last, &change))
        {
            // The rest of the row comes in further batches. Cells of the same name stay together: in two tables of the
            // target, they would have to be merged.
            let key = row.key.clone();
            self.send(None);
            self.rows.push(RowPiece { key, changes: Vec::new() });
        }
        self.bytes += weight(&change);
        if let Some(row) = self.rows.last_mut() {
            row.changes.push(change);
        }
        !self.is_stopped
    }

    /// Sends a whole row in a batch of its own. Returns false if the target takes no more.
    pub(super) fn send_row(&mut self, row: RowPiece) -> bool {
        self.rows.push(row);
        self.send(None)
    }

    /// Sends the rest, with the place after it. Returns false if the target takes no more.
    pub(crate) fn send(&mut self, place: Option<Bytes>) -> bool {
        self.drop_empty();
        self.bytes = 0;
        let rows = std::mem::take(&mut self.rows);
        if !rows.is_empty() || place.is_some() {
            let batch = RowBatch { cf: self.cf.clone(), rows, place };
            self.is_stopped |= self.sender.blocking_send(batch).is_err();
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

/// Sends all rows of an SSTable of a family without counters. Returns how many counters were left out.
///
/// # Errors
///
/// At damage, unless it is skipped.
pub(super) fn send_rows_of(table: &mut SstableRows, batcher: &mut RowBatcher) -> Result<u64, ImportError> {
    let mut counters = 0;
    loop {
        match table.next()? {
            RowUnit::End => break,
            RowUnit::Row { key, deletion } => {
                batcher.begin(key, deletion);
            }
            RowUnit::Atom(atom) => match atom.into_change() {
                Some(change) => {
                    if !batcher.add(change) {
                        return Ok(counters);
                    }
                }
                None => counters += 1,
            },
        }
    }
    batcher.send(None);
    Ok(counters)
}
