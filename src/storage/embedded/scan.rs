//! Range scans: row by row in ring order, each read like a single one.

use super::blocking::BlockingPermit;
use super::key::{self, ROW_END, RowPrefix};
use super::long_keys::Entries;
use super::memtable::View;
use super::row_source::RowSource;
use super::tables::Tables;
use crate::model::{Bounds, RangeCommand, ReadOf, Row};
use crate::partitioner::Partitioner;
use crate::storage::StoreError;
use crate::util::limits::{SCAN_PIECE_BYTES, SCAN_PIECE_ROWS};
use crate::util::meter;

/// A stretch of the ring as keys on disk: from, and before. `None`: to the end.
pub type RingRange = (Vec<u8>, Option<Vec<u8>>);

/// Where a scan goes on: in which of its stretches, and from which key on. `None`: from the stretch's start.
#[derive(Debug, Clone, Default)]
pub struct ScanPlace {
    stretch: usize,
    low: Option<Vec<u8>>,
}

/// Rows of a scan, and where it goes on if they are not all.
#[derive(Debug)]
pub struct ScanPiece {
    pub rows: Vec<Row>,
    pub next: Option<ScanPlace>,
}

/// Memory and tables of one generation of a column family at one moment, for a thread that may wait for the disk.
#[derive(Clone, Copy)]
pub struct StoredRows<'a> {
    pub tables: &'a Tables,
    pub view: &'a View,
    pub partitioner: &'a dyn Partitioner,
    pub may_wait: &'a BlockingPermit,
}

impl<'a> StoredRows<'a> {
    /// The row of a prefix.
    pub fn row<'b>(self, row: &'b RowPrefix) -> RowSource<'b>
    where
        'a: 'b,
    {
        RowSource::stored(self.tables, self.view, row, Some(self.may_wait))
    }

    /// The prefixes of the rows in a stretch of the ring.
    pub fn within(self, (low, high): RingRange) -> RowPrefixes<'a> {
        RowPrefixes { stored: self, high, low, in_tables: None }
    }
}

/// Reads rows of a scan from a place on: all of them, or as many as one piece has, whose rows have been looked at or are too
/// many bytes together.
pub fn scan(
    stored: StoredRows<'_>,
    command: &RangeCommand,
    from: ScanPlace,
) -> Result<ScanPiece, StoreError> {
    let partitioner = stored.partitioner;
    let mut piece = ScanPiece { rows: Vec::new(), next: None };
    let (mut looked_at, mut bytes) = (0, 0);
    let mut low = from.low;
    for (at, (start, end)) in stretches(command, partitioner).into_iter().enumerate().skip(from.stretch) {
        let stretch = (low.take().unwrap_or(start), end);
        let mut rows = stored.within(stretch);
        while piece.rows.len() < command.max_rows {
            if looked_at >= SCAN_PIECE_ROWS || bytes >= SCAN_PIECE_BYTES {
                piece.next = Some(ScanPlace { stretch: at, low: Some(rows.low) });
                return Ok(piece);
            }
            let Some(row) = rows.next_row()? else { break };
            looked_at += 1;
            meter::check()?;
            let mut columns = stored.row(&row).read(&command.read, ReadOf::Scan)?;
            if command.skip_empty && columns.is_empty() {
                continue;
            }
            let key = row.row_key(partitioner)?;
            // What the columns take has been counted while they were read.
            columns.detach();
            meter::charge(2 * (size_of::<Row>() + key.len()))?;
            bytes += columns.memory() + key.len();
            piece.rows.push(Row { key, columns });
        }
    }
    Ok(piece)
}

/// The stretches of the ring that a scan walks, in order. A range of tokens may wrap.
fn stretches(command: &RangeCommand, partitioner: &dyn Partitioner) -> Vec<RingRange> {
    match &command.bounds {
        Bounds::Keys { start, end } => {
            let low = if start.is_empty() { Some(Vec::new()) } else { token_of(start, false, partitioner) };
            let high = if end.is_empty() { None } else { token_of(end, true, partitioner) };
            low.map(|low| (low, high)).into_iter().collect()
        }
        Bounds::KeyToToken { start, end } => {
            let low = if start.is_empty() { Some(Vec::new()) } else { token_of(start, false, partitioner) };
            let high = end.as_ref().and_then(|end| key::token_bound(end, true, partitioner));
            low.map(|low| (low, high)).into_iter().collect()
        }
        Bounds::Tokens { start, end } => {
            let minimum = partitioner.minimum_token(command.read.behaviour.release);
            let after = key::token_bound(start, true, partitioner);
            let to = key::token_bound(end, true, partitioner);
            let wraps = *end != minimum && start >= end;
            let first = after.map(|after| (after, if wraps || *end == minimum { None } else { to.clone() }));
            first.into_iter().chain(wraps.then_some((Vec::new(), to))).collect()
        }
    }
}

fn token_of(key: &[u8], after: bool, partitioner: &dyn Partitioner) -> Option<Vec<u8>> {
    let mut token = Vec::new();
    partitioner.token(key, &mut token);
    key::token_bound(&token, after, partitioner)
}

/// Finds one row after another by its first entry.
pub struct RowPrefixes<'a> {
    stored: StoredRows<'a>,
    high: Option<Vec<u8>>,
    /// Where the next row can begin.
    low: Vec<u8>,
    /// The tables' next row, and whether there is one, once it was looked for.
    in_tables: Option<Option<RowPrefix>>,
}

impl RowPrefixes<'_> {
    /// The next row that has entries.
    pub fn next_row(&mut self) -> Result<Option<RowPrefix>, StoreError> {
        loop {
            let StoredRows { tables, view, .. } = self.stored;
            let in_memory = view.first_row(tables.number, &self.low, self.high.as_deref());
            let row = match (self.next_in_tables()?, in_memory.map(|prefix| RowPrefix::fixed(&prefix))) {
                (Some(stored), Some(memory)) if memory.as_bytes() < stored.as_bytes() => memory,
                (Some(stored), _) => stored,
                (None, Some(memory)) => memory,
                (None, None) => return Ok(None),
            };
            self.low = row.end();
            if self.has_entries(&row)? {
                return Ok(Some(row));
            }
        }
    }

    /// The first row that the tables have from here on. It is looked for once.
    fn next_in_tables(&mut self) -> Result<Option<RowPrefix>, StoreError> {
        if let Some(found) = &self.in_tables
            && found.as_ref().is_none_or(|row| row.as_bytes() >= &self.low[..])
        {
            return Ok(found.clone());
        }
        let StoredRows { tables, view, partitioner, .. } = self.stored;
        let Some(snapshot) = view.snapshot.as_deref() else { return Ok(None) };
        let mut entries = Entries::new(tables, snapshot, self.low.clone(), self.high.clone(), false);
        let found = match entries.next().transpose()? {
            None => None,
            Some((entry, _)) => Some(
                RowPrefix::of_entry(entry.as_slice(), partitioner)
                    .ok_or_else(|| StoreError::Corrupt("an entry belongs to no row".to_owned()))?,
            ),
        };
        self.in_tables = Some(found.clone());
        Ok(found)
    }

    /// Whether something of a row is left: memory may say that all its entries are removed.
    fn has_entries(&self, row: &RowPrefix) -> Result<bool, StoreError> {
        let memory = self.stored.view.row(self.stored.tables.number, row.as_bytes());
        // A row that is being made for its first write is empty for a moment.
        if !memory.iter().any(|map| map.is_empty() || map.has_removals()) {
            return Ok(true);
        }
        let first = self.stored.row(row).entries(&[], ROW_END, false).next().transpose()?;
        Ok(first.is_some())
    }
}
