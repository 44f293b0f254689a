//! The rows of one SSTable, in pieces, past its damage.

use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::summary::{FamilySummary, Lost};
use super::transfer::PIECE_BYTES;
use super::{FoundTable, ImportError};
use crate::cql::show::hex;
use crate::model::{Change, DeletionTime};
use crate::partitioner::PartitionerRef;
use crate::sstable::{Atom, Damage, SkippedRow, SstableError, TableOptions, TableReader, Unit};
use crate::storage::{RowPiece, weight};

/// Reads an SSTable.
pub struct Reader {
    /// `None` if the table cannot be opened, and damage is skipped.
    table: Option<TableReader>,
    path: PathBuf,
    skips_damage: bool,
    summary: FamilySummary,
    lost: Vec<Lost>,
    /// What is lost since the last row.
    gap: Option<Gap>,
    last_key: Option<Bytes>,
}

/// A part of the file that was not read, up to the next row that is.
struct Gap {
    damage: Damage,
    /// The first row that is lost, at least in part.
    from: String,
    start: u64,
    /// `None` up to the end.
    end: Option<u64>,
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
        let mut summary = FamilySummary { tables: 1, ..FamilySummary::default() };
        summary.formats.insert(found.descriptor.format.letters, 1);
        let path = found.path.clone();
        let lost = Vec::new();
        let mut reader = Reader { table: None, path, skips_damage, summary, lost, gap: None, last_key: None };
        for name in found.descriptor.missing() {
            let note = format!("{}: its {name} is missing: less of it can be checked", found.path.display());
            reader.summary.notes.push(note);
        }
        match TableReader::open_damaged(&found.path, options) {
            Ok((table, damages)) => {
                for damage in damages {
                    reader.report(damage, "nothing is lost: the rows are read without it")?;
                }
                reader.check(table)?;
            }
            Err(error) => reader.report(error, "lost: all rows of this SSTable")?,
        }
        Ok(reader)
    }

    /// Compares a table with its checksum, before its rows are read.
    fn check(&mut self, mut table: TableReader) -> Result<(), ImportError> {
        if let Err(error) = table.check_digest() {
            // Blocks can still be checked one by one.
            let what = match table.has_checksums_of_blocks() {
                true => "nothing is lost but what the checksums of blocks show",
                false => {
                    "its rows have no other checksum: all may have wrong values, and rows may be missing"
                }
            };
            self.report(error, what)?;
        }
        self.table = Some(table);
        Ok(())
    }

    /// Records damage and what is lost by it.
    ///
    /// # Errors
    ///
    /// The damage, unless it is skipped.
    fn report(&mut self, error: SstableError, what: &str) -> Result<(), ImportError> {
        if !self.skips_damage {
            return Err(error.into());
        }
        self.lose(format!("{error}; {what}"));
        Ok(())
    }

    /// Returns the partitioner in whose order the rows are, if the files name it or it was given.
    pub fn partitioner(&self) -> Option<&PartitionerRef> {
        self.table.as_ref().and_then(TableReader::partitioner)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what was read, and what is lost.
    pub fn finish(mut self) -> (FamilySummary, Vec<Lost>) {
        self.end_gap(None);
        (self.summary, self.lost)
    }

    /// Returns what follows.
    ///
    /// # Errors
    ///
    /// At damage, unless it is skipped.
    pub fn next(&mut self) -> Result<Next, ImportError> {
        while let Some(table) = &mut self.table {
            match table.next_unit() {
                Ok(None) => break,
                Ok(Some(Unit::EndOfRow)) => {}
                Ok(Some(Unit::Row { key, deletion })) => {
                    self.end_gap(Some(&key));
                    self.summary.rows += 1;
                    self.summary.tombstones += u64::from(deletion.is_deleted());
                    self.last_key = Some(key.clone());
                    return Ok(Next::Row { key, deletion });
                }
                Ok(Some(Unit::Atom(atom))) => {
                    self.summary.count(&atom);
                    return Ok(Next::Atom(atom));
                }
                Err(SstableError::Damaged(damage)) if self.skips_damage => {
                    let skipped = table.skip_damage(&damage)?;
                    self.skip(damage, skipped);
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.end_gap(None);
        Ok(Next::End)
    }

    /// Records damage. Damages without a row between them are one.
    fn skip(&mut self, damage: Damage, skipped: SkippedRow) {
        let SkippedRow { start, end, key } = skipped;
        if end == Some(start) {
            let rest = "nothing is lost: the rows are read without it";
            return self.lose(format!("{damage}; {rest}"));
        }
        if let Some(gap) = self.gap.as_mut().filter(|gap| gap.end == Some(start)) {
            gap.end = end;
            return;
        }
        self.end_gap(None);
        let from = match (key, &self.last_key) {
            (Some(key), _) => format!("from the key 0x{}, of which a part may be there,", hex(&key)),
            (None, Some(last)) => format!("after the key 0x{}", hex(last)),
            (None, None) => "from the first one".to_owned(),
        };
        self.gap = Some(Gap { damage, from, start, end });
    }

    /// Records what is lost up to a row, or up to the end.
    fn end_gap(&mut self, next: Option<&Bytes>) {
        let Some(Gap { damage, from, start, end }) = self.gap.take() else { return };
        let to = match next {
            Some(key) => format!("to before the key 0x{}", hex(key)),
            None => "to the last one".to_owned(),
        };
        let end = end.map_or_else(|| "the end".to_owned(), |end| end.to_string());
        self.lose(format!("{damage}; lost: bytes {start} to {end}, the rows {from} {to}"));
    }

    /// Whether reading goes on behind damage.
    pub fn skips_damage(&self) -> bool {
        self.skips_damage
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
