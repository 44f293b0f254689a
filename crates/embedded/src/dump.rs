//! Reads all stored changes, tombstones included, entry by entry, without collecting whole rows in memory.

use bytes::Bytes;

use super::key::{self, COLUMNS_LEVEL, RANGES_END, ROW_END, RowPrefix, SuperEntry};
use super::row_reader::{decode_cell, name_of, newest};
use super::row_source::{RowKey, RowSource};
use super::scan::ScannedRows;
use super::value::{self, Value};
use base::model::{Change, DeletionTime, LevelRanges, RangeTombstone};
use base::partitioner::Partitioner;
use base::schema::CfDef;
use store::dump::{is_dropped, sort_ranges, weight};
use store::{Dump, DumpCommand, Result, RowPiece, StoreError};

/// Bytes of the limit that an omitted entry uses up, so that each call ends.
const HIDDEN_BYTES: usize = 16;

/// Reads pieces of rows after `command.after`, the key of the last entry of the previous call.
pub(crate) fn dump(stored: ScannedRows<'_>, command: &DumpCommand) -> Result<Dump> {
    let (low, mut within) = place_of(command.after.as_ref(), stored.partitioner)?;
    let mut rows = stored.within(low, None);
    let mut dump = Dump::default();
    let mut left = command.max_bytes.max(1);
    while let Some(row) = rows.next_row()? {
        let key = row.row_key(stored.partitioner)?;
        let source = stored.row(&row);
        let begin = within.take().and_then(|(of, begin)| (of == row).then_some(begin));
        let mut reading = RowDump::new(&source, &command.cf)?;
        let last = reading.run(begin, &mut left)?;
        if !reading.changes.is_empty() {
            dump.rows.push(RowPiece { key, changes: reading.changes });
        }
        if left == 0 {
            dump.place = Some(row.entry(last.as_deref().unwrap_or(ROW_END)).into());
            break;
        }
    }
    Ok(dump)
}

/// The key to start at; and the row with the key in it to start at, if the previous call ended within a row.
type DumpStart = (Vec<u8>, Option<(RowPrefix, Vec<u8>)>);

fn place_of(after: Option<&Bytes>, partitioner: &dyn Partitioner) -> Result<DumpStart> {
    let Some(after) = after else { return Ok((Vec::new(), None)) };
    let row = RowPrefix::of_entry(after, partitioner).ok_or_else(|| {
        StoreError::Invalid("`after` is not a place that an earlier call has returned".to_owned())
    })?;
    let last = &after[row.as_bytes().len()..];
    if last >= ROW_END {
        return Ok((row.end(), None));
    }
    // The smallest key after the last entry's key.
    let begin = [last, &[0]].concat();
    Ok((row.as_bytes().to_vec(), Some((row, begin))))
}

/// The super column whose entries are being read.
struct DumpHolder {
    ordered: Vec<u8>,
    name: Bytes,
    /// Its own deletion, merged with range tombstones that cover it.
    deletion: DeletionTime,
}

/// The state of reading one row.
struct RowDump<'a> {
    source: &'a RowSource<'a>,
    cf: &'a CfDef,
    deletion: DeletionTime,
    ranges: Vec<RangeTombstone>,
    holder: Option<DumpHolder>,
    changes: Vec<Change>,
}

impl<'a> RowDump<'a> {
    fn new(source: &'a RowSource<'a>, cf: &'a CfDef) -> Result<RowDump<'a>> {
        let (deletion, mut ranges) = source.row_deletions()?;
        sort_ranges(&mut ranges);
        Ok(RowDump { source, cf, deletion, ranges, holder: None, changes: Vec::new() })
    }

    /// Reads from a key on, or from the beginning of the row, until `left` is 0. Returns the key of the last entry if
    /// the row has more.
    fn run(&mut self, begin: Option<Vec<u8>>, left: &mut usize) -> Result<Option<Vec<u8>>> {
        let low = match begin {
            Some(begin) => begin,
            None => {
                if self.deletion != DeletionTime::LIVE {
                    self.push(Change::DeleteRow { deletion: self.deletion }, left);
                }
                for range in self.ranges.clone() {
                    self.push(Change::DeleteRange(range), left);
                }
                COLUMNS_LEVEL.to_vec()
            }
        };
        if *left == 0 {
            return Ok(Some(RANGES_END.to_vec()));
        }
        for entry in self.source.entries(&low, ROW_END, false) {
            let (key, value) = entry?;
            match self.change_of(&key, &value)? {
                Some(change) => self.push(change, left),
                None => *left = left.saturating_sub(HIDDEN_BYTES),
            }
            if *left == 0 {
                return Ok(Some(key.as_slice().to_vec()));
            }
        }
        Ok(None)
    }

    fn push(&mut self, change: Change, left: &mut usize) {
        *left = left.saturating_sub(weight(&change));
        self.changes.push(change);
    }

    fn change_of(&mut self, key: &RowKey, value: &Bytes) -> Result<Option<Change>> {
        let names = newest(&*self.cf.comparator);
        let Some(subcomparator) = self.cf.subcomparator() else {
            let cell =
                decode_cell(key.clone().into_tail(COLUMNS_LEVEL.len()), value.clone(), &*self.cf.comparator)?;
            return Ok(cell.filter(|cell| !is_dropped(self.cf, cell)).and_then(|cell| {
                let over = LevelRanges::of_row(&self.ranges, names).over(&cell.name);
                let is_hidden = self.deletion.merged(over).shadows(cell.timestamp);
                (!is_hidden).then_some(Change::Cell { super_column: None, cell })
            }));
        };
        let Some(entry) = SuperEntry::parse(key.as_slice(), COLUMNS_LEVEL.len()) else {
            return Err(StoreError::Corrupt("an entry of a super row cannot be read".to_owned()));
        };
        let Some(at) = entry.cell_at else {
            let Value::Deletion { deletion, name, .. } = value::decode(value.clone())? else {
                return Ok(None);
            };
            let name = self.enter(entry.ordered_super, deletion, name)?;
            return Ok(deletion.is_deleted().then_some(Change::DeleteSuper { name, deletion }));
        };
        let (holder, whole) = self.holder_of(key, entry.ordered_super, at)?;
        let Some(cell) = decode_cell(key.clone().into_tail(at), value.clone(), &**subcomparator)? else {
            return Ok(None);
        };
        let subnames = newest(&**subcomparator);
        let inside = LevelRanges::of_super(&self.ranges, &holder, whole, names, subnames);
        let over = whole.merged(self.deletion).merged(inside.over(&cell.name));
        let is_hidden = over.shadows(cell.timestamp);
        Ok((!is_hidden).then_some(Change::Cell { super_column: Some(holder), cell }))
    }

    /// Returns the super column of a cell, and the deletion of the super column.
    fn holder_of(&mut self, key: &RowKey, ordered: Vec<u8>, cell_at: usize) -> Result<(Bytes, DeletionTime)> {
        if self.holder.as_ref().is_none_or(|holder| holder.ordered != ordered) {
            // The deletion sorts before the cells, and reading may have begun after it.
            let marker = [&key.as_slice()[..cell_at - 1], key::ROW_MARKER].concat();
            let (deletion, name) = self.source.deletion_and_name_at(&marker)?;
            self.enter(ordered, deletion, name)?;
        }
        let Some(holder) = &self.holder else {
            return Err(StoreError::Corrupt("a cell of a super row has no super column".to_owned()));
        };
        Ok((holder.name.clone(), holder.deletion))
    }

    fn enter(&mut self, ordered: Vec<u8>, deletion: DeletionTime, kept_name: Option<Bytes>) -> Result<Bytes> {
        let comparator = &*self.cf.comparator;
        let name = kept_name.map_or_else(|| name_of(ordered.clone().into(), comparator), Ok)?;
        let over = LevelRanges::of_supers(&self.ranges, newest(comparator)).over(&name);
        self.holder = Some(DumpHolder { ordered, name: name.clone(), deletion: deletion.merged(over) });
        Ok(name)
    }
}
