//! The rows of one SSTable, in pieces, past its damage.

use std::path::PathBuf;

use bytes::Bytes;

use super::summary::{FamilySummary, Lost};
use super::{FoundTable, ImportError};
use crate::cql::show::hex;
use crate::model::{CellKind, Change, DeletionTime};
use crate::sstable::{Atom, Damage, SstableError, TableOptions, TableReader, Unit};
use crate::storage::{RowPiece, weight};

/// Approximate size of a piece in bytes.
const PIECE_BYTES: usize = 128 * 1024;

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
                    self.count(&atom);
                    return Ok(Next::Atom(atom));
                }
                Err(SstableError::Damaged(damage)) if self.skips_damage => self.skip(&damage)?,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(Next::End)
    }

    fn count(&mut self, atom: &Atom) {
        match atom {
            Atom::Cell { cell, .. } => {
                self.summary.see(cell.timestamp);
                match cell.kind {
                    CellKind::Deleted { .. } => self.summary.tombstones += 1,
                    _ => self.summary.cells += 1,
                }
            }
            Atom::Counter { counter, .. } => {
                self.summary.see(counter.timestamp);
                self.summary.cells += 1;
            }
            Atom::SuperDeletion { .. } | Atom::Range(_) => self.summary.tombstones += 1,
        }
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

    fn lose(&mut self, what: String) {
        self.lost.push(Lost { path: self.path.clone(), what });
    }
}

/// Reads a whole SSTable of a family without counters. Pieces of rows go to `send`, which returns false to stop.
///
/// # Errors
///
/// At damage, unless it is skipped.
pub fn read_pieces(
    reader: &mut Reader,
    mut send: impl FnMut(Vec<RowPiece>) -> bool,
) -> Result<(), ImportError> {
    let mut pieces: Vec<RowPiece> = Vec::new();
    let mut bytes = 0;
    loop {
        match reader.next()? {
            Next::End => break,
            Next::Row { key, deletion } => {
                // A row of which nothing is left has no change.
                pieces.retain(|piece| !piece.changes.is_empty());
                let changes =
                    if deletion.is_deleted() { vec![Change::DeleteRow { deletion }] } else { Vec::new() };
                bytes += key.len();
                pieces.push(RowPiece { key, changes });
            }
            Next::Atom(atom) => {
                let Some(change) = atom.into_change() else { continue };
                let Some(piece) = pieces.last_mut() else { continue };
                bytes += weight(&change);
                piece.changes.push(change);
            }
        }
        if bytes >= PIECE_BYTES {
            let key = pieces.last().map(|piece| piece.key.clone()).unwrap_or_default();
            pieces.retain(|piece| !piece.changes.is_empty());
            // The rest of the last row comes in further pieces.
            let full = std::mem::replace(&mut pieces, vec![RowPiece { key, changes: Vec::new() }]);
            bytes = 0;
            if !send(full) {
                return Ok(());
            }
        }
    }
    pieces.retain(|piece| !piece.changes.is_empty());
    if !pieces.is_empty() {
        send(pieces);
    }
    Ok(())
}
