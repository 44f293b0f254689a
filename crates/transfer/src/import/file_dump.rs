//! The data of a column family in files, in the form of a dump of a store: to compare both.
//!
//! A row is read whole, sorted and folded. Of a row that is too large for that, the range tombstones are read first,
//! since files of 3.x have them behind what they cover; then its changes come in the order in which the SSTables are
//! merged.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use super::counters::CounterMerge;
use super::fold::RowFold;
use super::logged_rows::FamilyLog;
use super::merge::{FamilyMerge, open_max};
use super::read_thread::BatchSender;
use super::row_batcher::{RowBatcher, first_changes};
use super::sstable_rows::ReadOptions;
use super::summary::ReadSummary;
use super::{FamilyName, ImportError, SstableFile};
use crate::endpoint::{MergeKey, dump_rank};
use crate::rows::RingPosition;
use base::model::{Change, DeletionTime, RangeTombstone};
use base::schema::CfDef;
use store::{RowPiece, weight};

/// Approximate size of a row that is sorted in memory, in bytes.
const ROW_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The files of a column family.
pub(super) struct FileDump {
    pub cf: Arc<CfDef>,
    pub tables: Vec<SstableFile>,
    pub read: ReadOptions,
    /// Its rows in commit logs.
    pub log: Option<FamilyLog>,
}

impl FileDump {
    /// Sends all rows, until the receiver takes no more. Returns the counts and the losses of the SSTables.
    ///
    /// # Errors
    ///
    /// At damage, unless it is skipped; if names are not in the order of the comparator.
    pub(super) fn run(mut self, sender: BatchSender) -> Result<ReadSummary, ImportError> {
        let mut batcher = RowBatcher::new(self.cf.clone(), sender);
        let read = if self.cf.is_counter() {
            self.send_counters(&mut batcher)?
        } else {
            self.send_rows(&mut batcher)?
        };
        batcher.send(None);
        Ok(read)
    }

    fn send_counters(&mut self, batcher: &mut RowBatcher) -> Result<ReadSummary, ImportError> {
        let mut merge = CounterMerge::new(&self.tables, self.log.take(), &self.read, self.cf.clone())?;
        while let Some(RowPiece { key, changes }) = merge.next_row()? {
            let row = FoldedRow::new(&self.cf, &key, changes, Vec::new());
            if !row.send_all(batcher) {
                break;
            }
        }
        Ok(merge.finish())
    }

    fn send_rows(&mut self, batcher: &mut RowBatcher) -> Result<ReadSummary, ImportError> {
        let mut merge = FamilyMerge::new(self.cf.clone(), &self.tables, self.read.clone(), None)?;
        let mut next = merge.next_row()?;
        loop {
            let of_tables = merge.place().filter(|_| next.is_some()).cloned();
            let of_logs = self.log.as_ref().and_then(FamilyLog::next_position);
            if merge.is_disordered() {
                let name = FamilyName::of(&self.cf);
                return Err(ImportError::Nothing(format!(
                    "{name} cannot be read as a whole: its rows are out of order, or more than {} of its SSTables overlap",
                    open_max()
                )));
            }
            let Some(place) = of_tables.clone().into_iter().chain(of_logs.clone()).min() else {
                return Ok(merge.finish());
            };
            let logged = self.log.as_ref().filter(|_| of_logs.as_ref() == Some(&place));
            let of_nodes = logged.map(|log| log.take(&place)).unwrap_or_default();
            let mut changes: Vec<Change> = of_nodes.into_values().flat_map(|row| row.changes).collect();
            let is_of_tables = of_tables.as_ref() == Some(&place);
            let is_taken = match if is_of_tables { next.take() } else { None } {
                Some(row) => {
                    changes.extend(first_changes(row.deletion));
                    let is_taken = self.send_row(&place, changes, &mut merge, batcher)?;
                    next = merge.next_row()?;
                    is_taken
                }
                None => FoldedRow::new(&self.cf, &place.1, changes, Vec::new()).send_all(batcher),
            };
            if !is_taken {
                return Ok(merge.finish());
            }
        }
    }

    /// Sends the row that the merge is at, together with further changes.
    fn send_row(
        &self,
        place: &RingPosition,
        mut changes: Vec<Change>,
        merge: &mut FamilyMerge,
        batcher: &mut RowBatcher,
    ) -> Result<bool, ImportError> {
        let mut bytes: usize = changes.iter().map(weight).sum();
        while let Some(atom) = merge.next_atom()? {
            let Some(change) = atom.into_change() else { continue };
            bytes += weight(&change);
            changes.push(change);
            if bytes > ROW_BYTES_MAX {
                let ranges = merge.ranges_of_row()?;
                let mut row = FoldedRow::new(&self.cf, &place.1, changes, ranges);
                while let Some(atom) = merge.next_atom()? {
                    let Some(change) = atom.into_change() else { continue };
                    if !row.add(change).map_err(|why| merge.disordered(&why))? {
                        continue;
                    }
                    if !row.send(batcher) {
                        return Ok(false);
                    }
                }
                return Ok(row.send_all(batcher));
            }
        }
        Ok(FoldedRow::new(&self.cf, &place.1, changes, Vec::new()).send_all(batcher))
    }
}

/// A row that is sorted and folded.
struct FoldedRow<'a> {
    cf: &'a CfDef,
    key: &'a Bytes,
    fold: RowFold<'a>,
    /// Changes before which others may come, in order.
    held: VecDeque<(MergeKey, Change)>,
    last: Option<MergeKey>,
    added: usize,
    is_begun: bool,
}

/// Changes after which those that are decided are sent.
const SEND_EVERY: usize = 1024;

impl<'a> FoldedRow<'a> {
    /// Begins with changes in any order, and with range tombstones that come later.
    fn new(
        cf: &'a CfDef,
        key: &'a Bytes,
        changes: Vec<Change>,
        mut ranges: Vec<RangeTombstone>,
    ) -> FoldedRow<'a> {
        let mut deletion = DeletionTime::LIVE;
        let mut held = Vec::with_capacity(changes.len());
        for change in changes {
            match change {
                Change::DeleteRow { deletion: other } => deletion = deletion.merged(other),
                Change::DeleteRange(range) => ranges.push(range),
                change => held.push((dump_rank(cf, &[], key, &change), change)),
            }
        }
        // Stable: changes of the same name stay in the order of the SSTables.
        held.sort_by(|(one, _), (other, _)| one.cmp(other));
        let fold = RowFold::new(cf, deletion, ranges);
        FoldedRow { cf, key, fold, held: held.into(), last: None, added: 0, is_begun: false }
    }

    /// Adds a change behind all changes before it. Returns whether some should be sent.
    fn add(&mut self, change: Change) -> Result<bool, String> {
        if matches!(change, Change::DeleteRange(_) | Change::DeleteRow { .. }) {
            return Ok(false);
        }
        let rank = dump_rank(self.cf, &[], self.key, &change);
        if self.last.as_ref().is_some_and(|last| rank < *last) {
            let key = base::util::hex(self.key);
            return Err(format!("the names of the row 0x{key} are not in the order of the comparator"));
        }
        while self.held.front().is_some_and(|(held, _)| *held <= rank)
            && let Some((_, held)) = self.held.pop_front()
        {
            self.fold.add(held);
        }
        self.fold.add(change);
        self.last = Some(rank);
        self.added += 1;
        Ok(self.added.is_multiple_of(SEND_EVERY))
    }

    /// Sends the decided changes. Returns false if no more is taken.
    fn send(&mut self, batcher: &mut RowBatcher) -> bool {
        let changes = self.fold.take();
        self.begin(batcher);
        changes.into_iter().all(|change| batcher.add(change))
    }

    /// Sends the rest.
    fn send_all(mut self, batcher: &mut RowBatcher) -> bool {
        self.begin(batcher);
        for (_, held) in std::mem::take(&mut self.held) {
            self.fold.add(held);
        }
        self.fold.finish().into_iter().all(|change| batcher.add(change))
    }

    fn begin(&mut self, batcher: &mut RowBatcher) {
        if !self.is_begun {
            batcher.begin(self.key.clone(), DeletionTime::LIVE);
            self.is_begun = true;
        }
    }
}

/// Returns the error of a column family whose files are in several orders, or in another one than the target.
pub(super) fn what_differs(name: &FamilyName, of_files: &str, other: &str) -> String {
    format!(
        "{name} cannot be read in the order of {other}: its files are in the order of {of_files}; an import reads them in \
         any order"
    )
}
