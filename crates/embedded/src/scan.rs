//! Range scans. Rows are read one by one in the order of the ring.

use super::blocking::BlockingPermit;
use super::key::{self, ROW_END, RowPrefix};
use super::long_keys::StoredEntries;
use super::memtable::MemoryView;
use super::row_source::RowSource;
use super::tables::Tables;
use crate::limits::{SCAN_PIECE_BYTES, SCAN_PIECE_ROWS};
use base::model::{Bounds, RangeCommand, ReadOf, Row};
use base::partitioner::Partitioner;
use base::util::meter;
use store::{Result, StoreError};

/// A range of the ring as keys on the disk: from the first, inclusive, to the second, exclusive. `None`: to the end.
pub(crate) type RingRange = (Vec<u8>, Option<Vec<u8>>);

/// Where a scan continues.
#[derive(Debug, Clone, Default)]
pub(crate) struct ScanPlace {
    /// Index of the range in the list of the scan's ranges.
    range: usize,
    /// The key to continue from. `None`: from the beginning of the range.
    low: Option<Vec<u8>>,
}

/// Rows of a scan, and where the scan continues if there may be more.
#[derive(Debug)]
pub(crate) struct ScanPiece {
    pub rows: Vec<Row>,
    pub next: Option<ScanPlace>,
}

/// A view of memtables and tables of one generation of a column family, for a thread that may wait for the disk.
#[derive(Clone, Copy)]
pub(crate) struct ScannedRows<'a> {
    pub tables: &'a Tables,
    pub view: &'a MemoryView,
    pub partitioner: &'a dyn Partitioner,
    pub may_wait: &'a BlockingPermit,
}

impl<'a> ScannedRows<'a> {
    /// Returns the source of a row.
    pub(crate) fn row<'b>(self, row: &'b RowPrefix) -> RowSource<'b>
    where
        'a: 'b,
    {
        RowSource::stored(self.tables, self.view, row, Some(self.may_wait))
    }

    /// The prefixes of the rows in a range of the ring.
    pub(crate) fn within(self, low: Vec<u8>, high: Option<Vec<u8>>) -> RowPrefixes<'a> {
        RowPrefixes { stored: self, high, low, in_tables: None }
    }
}

/// Reads a piece of a scan: all remaining rows, or fewer if `SCAN_PIECE_ROWS` rows have been read, or the rows have
/// `SCAN_PIECE_BYTES`.
pub(crate) fn scan(stored: ScannedRows<'_>, command: &RangeCommand, from: ScanPlace) -> Result<ScanPiece> {
    let partitioner = stored.partitioner;
    let mut piece = ScanPiece { rows: Vec::new(), next: None };
    let (mut looked_at, mut bytes) = (0, 0);
    let mut low = from.low;
    for (at, (start, end)) in ranges(command, partitioner).into_iter().enumerate().skip(from.range) {
        let mut rows = stored.within(low.take().unwrap_or(start), end);
        while piece.rows.len() < command.max_rows {
            if looked_at >= SCAN_PIECE_ROWS || bytes >= SCAN_PIECE_BYTES {
                piece.next = Some(ScanPlace { range: at, low: Some(rows.low) });
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
            // The columns were charged to the meter while they were read.
            columns.detach();
            meter::charge(2 * (size_of::<Row>() + key.len()))?;
            bytes += columns.memory() + key.len();
            piece.rows.push(Row { key, columns });
        }
    }
    Ok(piece)
}

/// The ranges of the ring that a scan walks, in order. A range of tokens may wrap.
fn ranges(command: &RangeCommand, partitioner: &dyn Partitioner) -> Vec<RingRange> {
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

/// Finds the rows of a range one after another, by their first entries.
pub(crate) struct RowPrefixes<'a> {
    stored: ScannedRows<'a>,
    high: Option<Vec<u8>>,
    /// Lower bound of the next row.
    low: Vec<u8>,
    /// The next row in tables: `Some(None)` if there is none, `None` if it is not known yet.
    in_tables: Option<Option<RowPrefix>>,
}

impl RowPrefixes<'_> {
    /// Returns the next row that has entries.
    pub(crate) fn next_row(&mut self) -> Result<Option<RowPrefix>> {
        loop {
            let ScannedRows { tables, view, .. } = self.stored;
            let in_memory = view.first_row(tables.number, &self.low, self.high.as_deref());
            let row = match (self.next_in_tables()?, in_memory.map(|prefix| RowPrefix::fixed(&prefix))) {
                (Some(stored), Some(memory)) if memory.as_bytes() < stored.as_bytes() => memory,
                (Some(stored), _) => stored,
                (None, Some(memory)) => memory,
                (None, None) => return Ok(None),
            };
            debug_assert!(row.end() > self.low, "a scan would return a row twice");
            self.low = row.end();
            if self.has_entries(&row)? {
                return Ok(Some(row));
            }
        }
    }

    /// Returns the next row in tables, and remembers it.
    fn next_in_tables(&mut self) -> Result<Option<RowPrefix>> {
        if let Some(found) = &self.in_tables
            && found.as_ref().is_none_or(|row| row.as_bytes() >= &self.low[..])
        {
            return Ok(found.clone());
        }
        let ScannedRows { tables, view, partitioner, .. } = self.stored;
        let Some(snapshot) = view.snapshot.as_deref() else { return Ok(None) };
        let mut entries = StoredEntries::new(tables, snapshot, self.low.clone(), self.high.clone(), false);
        let found = match entries.next().transpose()? {
            None => None,
            Some((entry, _)) => Some(
                RowPrefix::of_entry(entry.as_slice(), partitioner)
                    .ok_or_else(|| StoreError::Corrupt("an entry's key has no row key".to_owned()))?,
            ),
        };
        self.in_tables = Some(found.clone());
        Ok(found)
    }

    /// Returns whether a row has entries. A memtable may have removals of all its entries in tables.
    fn has_entries(&self, row: &RowPrefix) -> Result<bool> {
        let memory = self.stored.view.row(self.stored.tables.number, row.as_bytes());
        // A row that is being created by its first write is empty for a short time.
        if !memory.iter().any(|map| map.is_empty() || map.has_removals()) {
            return Ok(true);
        }
        let first = self.stored.row(row).entries(&[], ROW_END, false).next().transpose()?;
        Ok(first.is_some())
    }
}
