//! The rows of one SSTable, in pieces, past its damage.

use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::summary::{FamilySummary, Lost};
use super::transfer::PIECE_BYTES;
use super::{FoundTable, ImportError};
use crate::cql::show::hex;
use crate::model::{Change, DeletionTime};
use crate::partitioner::PartitionerRef;
use crate::sstable::{Atom, Damage, SstableError, TableOptions, TableReader, Unit};
use crate::storage::{RowPiece, weight};

/// Reads an SSTable.
pub struct Reader {
    table: TableReader,
    path: PathBuf,
    skips_damage: bool,
    summary: FamilySummary,
    lost: Vec<Lost>,
    /// Whether nothing more can be found after damage.
    is_over: bool,
}

/// What a reader returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// A row begins.
    Row {
        key: Bytes,
        deletion: DeletionTime,
    },
    /// A part of the row.
    Atom(Atom),
    End,
}

impl Reader {
    /// Opens an SSTable, and compares it with its checksum.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is damaged and damage is not skipped.
    pub fn open(
        found: &FoundTable,
        options: &TableOptions,
        skips_damage: bool,
    ) -> Result<Reader, ImportError> {
        let table = TableReader::open(&found.path, options)?;
        let mut summary = FamilySummary { tables: 1, ..FamilySummary::default() };
        summary.formats.insert(found.descriptor.format.letters, 1);
        let mut reader = Reader {
            table,
            path: found.path.clone(),
            skips_damage,
            summary,
            lost: Vec::new(),
            is_over: false,
        };
        match reader.table.check_digest() {
            Ok(()) => Ok(reader),
            Err(SstableError::Damaged(damage)) if skips_damage => {
                // Most rows can still be checked one by one.
                reader.lose(format!("{damage}; values without a checksum of their own may be wrong"));
                Ok(reader)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the partitioner in whose order the rows are, if the files name it or it was given.
    pub fn partitioner(&self) -> Option<&PartitionerRef> {
        self.table.partitioner()
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what was read, and what is lost.
    pub fn finish(self) -> (FamilySummary, Vec<Lost>) {
        (self.summary, self.lost)
    }

    /// Returns what follows.
    ///
    /// # Errors
    ///
    /// At damage, unless it is skipped.
    pub fn next(&mut self) -> Result<Next, ImportError> {
        while !self.is_over {
            match self.table.next_unit() {
                Ok(None) => break,
                Ok(Some(Unit::EndOfRow)) => {}
                Ok(Some(Unit::Row { key, deletion })) => {
                    self.summary.rows += 1;
                    self.summary.tombstones += u64::from(deletion.is_deleted());
                    return Ok(Next::Row { key, deletion });
                }
                Ok(Some(Unit::Atom(atom))) => {
                    self.summary.count(&atom);
                    return Ok(Next::Atom(atom));
                }
                Err(SstableError::Damaged(damage)) if self.skips_damage => self.skip(&damage)?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Next::End)
    }

    /// Moves behind damage, and keeps what is lost.
    fn skip(&mut self, damage: &Damage) -> Result<(), ImportError> {
        let skipped = match self.table.skip_damage(damage) {
            Ok(skipped) => skipped,
            // The file ends before the next row that its Index has.
            Err(SstableError::Damaged(further)) => {
                self.is_over = true;
                self.lose(format!("{damage}; lost: this row and all rows after it ({})", further.why));
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        let row = match &skipped.key {
            Some(key) => format!("the row with the key 0x{}", hex(key)),
            None => "a row whose key is not known".to_owned(),
        };
        let rest = match skipped.end {
            Some(end) if end == skipped.start => {
                "nothing is lost: the row is read without its Index file".to_owned()
            }
            Some(end) => format!("lost: {row}, or a part of it, up to byte {end}"),
            None => format!("lost: {row}, and all rows after it"),
        };
        self.lose(format!("{damage}; {rest}"));
        Ok(())
    }

    /// Records a loss.
    pub fn lose(&mut self, what: String) {
        self.lost.push(Lost { path: self.path.clone(), what });
    }
}

/// Returns the changes with which the piece of a row begins.
pub fn first_changes(deletion: DeletionTime) -> Vec<Change> {
    if deletion.is_deleted() { vec![Change::DeleteRow { deletion }] } else { Vec::new() }
}

/// Reads a whole SSTable of a family without counters. Pieces of rows go to `send`, which returns false to stop. Returns
/// how many counters were left out.
///
/// # Errors
///
/// At damage, unless it is skipped.
pub fn read_pieces(
    reader: &mut Reader,
    mut send: impl FnMut(Vec<RowPiece>) -> bool,
) -> Result<u64, ImportError> {
    let mut rows: Vec<RowPiece> = Vec::new();
    let (mut bytes, mut counters) = (0, 0);
    loop {
        match reader.next()? {
            Next::End => break,
            Next::Row { key, deletion } => {
                drop_empty(&mut rows);
                bytes += key.len();
                rows.push(RowPiece { key, changes: first_changes(deletion) });
            }
            Next::Atom(atom) => match (atom.into_change(), rows.last_mut()) {
                (Some(change), Some(row)) => {
                    bytes += weight(&change);
                    row.changes.push(change);
                }
                (None, _) => counters += 1,
                (Some(_), None) => {}
            },
        }
        if bytes >= PIECE_BYTES {
            // The rest of the last row comes in further pieces.
            let key = rows.last().map(|row| row.key.clone()).unwrap_or_default();
            drop_empty(&mut rows);
            let full = std::mem::replace(&mut rows, vec![RowPiece { key, changes: Vec::new() }]);
            bytes = 0;
            if !send(full) {
                return Ok(counters);
            }
        }
    }
    drop_empty(&mut rows);
    if !rows.is_empty() {
        send(rows);
    }
    Ok(counters)
}

/// Removes the last row if it has no changes: one that was only a place for more.
fn drop_empty(rows: &mut Vec<RowPiece>) {
    if rows.last().is_some_and(|row| row.changes.is_empty()) {
        rows.pop();
    }
}
