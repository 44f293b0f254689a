//! Reads the rows of one partition, one page of cells at a time.
//!
//! A partition can have millions of cells, and a statement wants a few rows. So a slice is read in pages, and a row is
//! complete only when a cell of the next row, or the end of the last slice, was seen:
//!
//! ```text
//!   cells           1:a  1:b  2:a  2:b  2:c  3:a
//!   pages of 4      |--------------|
//!                                  |--------------|        2:b is read again and skipped
//!   rows            1 is complete at 2:a; 2 spans both pages, and is complete at 3:a; 3 at the end
//! ```
//!
//! - The name of the last cell begins the next page and is skipped there, because a slice includes its bounds.
//! - A page that has fewer cells than asked for is the last one of its slice.
//! - Static cells come before all others. If a slice begins there, they are read along with it, otherwise before it.
//! - The first page of a scan comes with the partition, see `FirstPage`.
//! - A result that is full ends the walk in the middle of a page. The position of its last row goes into the paging
//!   state, and the next execution resumes behind it. With clustering values the position is a bound after all cells of
//!   the row, so that a cell that is written meanwhile does not return the row a second time.

use std::cmp::Ordering;
use std::sync::Arc;

use bytes::Bytes;

use super::bounds::{CellReads, CellSlice, SuperSlice, static_slice};
use super::cell_slices::CellSlices;
use super::page_memory::PageMemory;
use super::paging::CellPosition;
use super::restrictions::Clustering;
use super::rows::{Columns, Grouped, Grouping, TableRow};
use super::slice_cursor::SliceCursor;
use super::walk::Walk;
use crate::Result;
use base::marshal;
use base::marshal::AbstractType;
use base::model::{Cell, Predicate, RowColumns, SliceRange, SuperColumn};
use base::schema::{Layout, row_key_parts};
use base::util::meter;
use db::limits::ROW_WORK;

/// Super columns per page. Each super column is read whole.
const SUPERS_PER_PAGE: usize = 16;

/// The cells of a partition that a scan has already read, and how many it requested.
#[derive(Debug)]
pub(super) struct FirstPage {
    pub columns: RowColumns,
    pub count: usize,
}

/// A partition while it is being read.
struct OpenPartition {
    key: Bytes,
    key_parts: Arc<[Bytes]>,
    statics: Option<Arc<Columns>>,
    /// Whether a row other than the static one was found.
    has_rows: bool,
    first_page: Option<FirstPage>,
    resume: Option<CellPosition>,
}

impl Walk<'_> {
    /// Returns the predicate and the cell count that a scan uses for each partition, and whether the scanned cells are
    /// the same as the first page that `partition` would read.
    pub(super) fn scanned(&self) -> (Predicate, usize, bool) {
        let of_slice = |slice: &CellSlice, count: usize| {
            (
                SliceCursor::new(slice, self.slices.is_reversed).predicate(self.slices.is_reversed, count),
                count,
                true,
            )
        };
        match &self.slices.reads {
            CellReads::Names(names) => (Predicate::Names(names.clone()), usize::MAX, true),
            CellReads::Cells(slices) => match slices.get(0) {
                Some(slice) => of_slice(&slice, self.page_cells()),
                None => of_slice(&CellSlice::default(), 1),
            },
            CellReads::Supers(slices) => match &slices[..] {
                [SuperSlice { of: None, slice }] => of_slice(slice, SUPERS_PER_PAGE),
                _ => {
                    let all = SliceRange { count: 1, ..SliceRange::all() };
                    (Predicate::Range(all), 1, false)
                }
            },
        }
    }

    /// Whether the first slice also reads the static cells.
    fn reads_statics_along(&self) -> bool {
        let CellReads::Cells(slices) = &self.slices.reads else { return false };
        !self.slices.is_reversed && slices.get(0).is_some_and(|slice| slice.start.is_empty())
    }

    /// Reads a partition's rows, starting at a position.
    pub(super) async fn partition(
        &mut self,
        key: Bytes,
        first_page: Option<FirstPage>,
        resume: Option<CellPosition>,
    ) -> Result<()> {
        let Some(parts) = row_key_parts(&key, self.source.columns.def.partition_key.len()) else {
            return Ok(());
        };
        let mut partition = OpenPartition {
            key,
            key_parts: parts.into(),
            statics: None,
            has_rows: false,
            first_page,
            resume,
        };
        if !self.slices.needs_statics {
            partition.statics = Some(Arc::new(self.source.columns.blank()));
        } else if !self.reads_statics_along() || partition.resume.is_some() {
            partition.statics = Some(Arc::new(self.read_statics(&partition.key).await?));
        }
        meter::yield_if_due(ROW_WORK).await?;
        let before = self.result.mark();
        match self.slices.reads.clone() {
            CellReads::Names(names) => self.names(&mut partition, names).await?,
            CellReads::Cells(slices) => self.slices(&mut partition, slices).await?,
            CellReads::Supers(slices) => self.supers(&mut partition, slices).await?,
        }
        let statics = partition.statics.clone().unwrap_or_default();
        let has_statics = statics.iter().any(Option::is_some);
        if self.slices.shows_bare_statics
            && has_statics
            && !partition.has_rows
            && partition.resume.is_none()
            && !self.counter.is_full()
        {
            let clustering = vec![None; self.source.columns.def.clustering.len()];
            self.take(&partition, clustering, self.source.columns.blank(), None)?;
        }
        self.result.release_pages(before);
        Ok(())
    }

    async fn read_statics(&self, key: &Bytes) -> Result<Columns> {
        let mut grouping = Grouping::new(self.source.columns, false, true);
        if let Some(slice) = static_slice(&self.source.columns.def) {
            let mut cursor = SliceCursor::new(&slice, false);
            let count = self.page_cells();
            loop {
                let page = cells(self.source.read(key, None, cursor.predicate(false, count)).await?);
                let is_last = page.len() < count;
                let last = page.last().map(|cell| cell.name.clone());
                for cell in page {
                    if Some(&cell.name) != cursor.skips[0].as_ref() {
                        grouping.push(cell);
                    }
                }
                if !cursor.turns_page(last, is_last) {
                    break;
                }
            }
        }
        Ok(grouping.statics.unwrap_or_default())
    }

    async fn names(&mut self, partition: &mut OpenPartition, names: Vec<Bytes>) -> Result<()> {
        let before = meter::mark();
        let columns = match partition.first_page.take() {
            Some(first) => first.columns,
            None => self.source.read(&partition.key, None, Predicate::Names(names)).await?,
        };
        let mut grouping = Grouping::new(self.source.columns, false, false);
        for cell in cells(columns) {
            grouping.push(cell);
        }
        // From here on, the row is counted as part of the result.
        before.restore();
        match grouping.finish() {
            Some(row) => self.take_grouped(partition, row, None).map(drop),
            None => Ok(()),
        }
    }

    async fn slices(&mut self, partition: &mut OpenPartition, slices: Arc<CellSlices>) -> Result<()> {
        let mut grouping =
            Grouping::new(self.source.columns, self.slices.is_reversed, partition.statics.is_none());
        for at in 0..slices.len() {
            let at = if self.slices.is_reversed { slices.len() - 1 - at } else { at };
            let Some(slice) = slices.get(at) else { continue };
            let mut cursor = SliceCursor::new(&slice, self.slices.is_reversed);
            if let Some(position) = &partition.resume {
                let comparator = self.source.comparator();
                match cursor.after(&position.name, &|a, b| self.order(comparator, a, b)) {
                    Some(rest) => cursor = rest,
                    None => continue,
                }
            }
            if self.slice(partition, &mut grouping, cursor).await? {
                return Ok(());
            }
        }
        // No row needed the static cells.
        if let Some(statics) = grouping.statics.take() {
            partition.statics = Some(Arc::new(statics));
        }
        Ok(())
    }

    /// Reads one slice. Returns whether enough rows have been read.
    async fn slice(
        &mut self,
        partition: &mut OpenPartition,
        grouping: &mut Grouping<'_>,
        mut cursor: SliceCursor,
    ) -> Result<bool> {
        let (mut memory, mut of_row) = (PageMemory::default(), 0);
        loop {
            let before = meter::mark();
            let (page, count) = match partition.first_page.take() {
                Some(first) => (cells(first.columns), first.count),
                None => {
                    let count = self.page_cells();
                    let predicate = cursor.predicate(self.slices.is_reversed, count);
                    (cells(self.source.read(&partition.key, None, predicate).await?), count)
                }
            };
            memory.turn(before.since());
            meter::yield_if_due(page.len()).await?;
            let is_last = page.len() < count;
            let last = page.last().map(|cell| cell.name.clone());
            for cell in page {
                if cursor.is_skipped(&cell.name, self.source.comparator()) {
                    continue;
                }
                let of_cell = cell.memory();
                let mut row = grouping.push(cell);
                if self.slices.is_distinct && row.is_none() {
                    // The first cell already shows that the row exists.
                    row = grouping.finish();
                }
                let Some(row) = row else {
                    of_row += of_cell;
                    continue;
                };
                memory.release_row(of_row);
                of_row = of_cell;
                if self.take_in_slice(partition, grouping, row)? {
                    return Ok(true);
                }
            }
            if !cursor.turns_page(last, is_last) {
                break;
            }
        }
        match grouping.finish() {
            Some(row) => {
                memory.release_row(of_row);
                self.take_in_slice(partition, grouping, row)
            }
            None => Ok(false),
        }
    }

    fn take_in_slice(
        &mut self,
        partition: &mut OpenPartition,
        grouping: &mut Grouping<'_>,
        row: Grouped,
    ) -> Result<bool> {
        // Static cells come before all others.
        if let Some(statics) = grouping.statics.take() {
            partition.statics = Some(Arc::new(statics));
        }
        self.take_grouped(partition, row, None)
    }

    async fn supers(&mut self, partition: &mut OpenPartition, mut slices: Vec<SuperSlice>) -> Result<()> {
        if self.slices.is_reversed {
            slices.reverse();
        }
        for slice in slices {
            let cursor = SliceCursor::new(&slice.slice, self.slices.is_reversed);
            let is_full = match slice.of {
                Some(name) => self.in_super(partition, name, cursor).await?,
                None => self.over_supers(partition, cursor).await?,
            };
            if is_full {
                return Ok(());
            }
        }
        Ok(())
    }

    fn order(&self, comparator: &dyn AbstractType, a: &[u8], b: &[u8]) -> Ordering {
        let order = comparator.compare(a, b);
        if self.slices.is_reversed { order.reverse() } else { order }
    }

    /// Reads the cells of one super column. Each cell is a row.
    async fn in_super(
        &mut self,
        partition: &mut OpenPartition,
        name: Bytes,
        mut cursor: SliceCursor,
    ) -> Result<bool> {
        let cf = self.source.cf.clone();
        let Some(subcomparator) = cf.subcomparator() else { return Ok(false) };
        let subcomparator = marshal::at(&**subcomparator, self.source.state.behaviour.release);
        if let Some(position) = partition.resume.clone() {
            match self.order(self.source.comparator(), &name, &position.super_column) {
                Ordering::Less => return Ok(false),
                Ordering::Equal => {
                    match cursor.after(&position.name, &|a, b| self.order(subcomparator, a, b)) {
                        Some(rest) => cursor = rest,
                        None => return Ok(false),
                    }
                }
                Ordering::Greater => {}
            }
        }
        let count = self.page_cells();
        loop {
            let predicate = cursor.predicate(self.slices.is_reversed, count);
            let before = self.result.mark();
            let mut page = cells(self.source.read(&partition.key, Some(name.clone()), predicate).await?);
            meter::yield_if_due(page.len()).await?;
            let is_last = page.len() < count;
            let last = page.last().map(|cell| cell.name.clone());
            page.retain(|cell| !cursor.is_skipped(&cell.name, subcomparator));
            let column =
                SuperColumn { name: name.clone(), deletion: base::model::DeletionTime::LIVE, cells: page };
            if self.take_super(partition, column)? {
                return Ok(true);
            }
            self.result.release_pages(before);
            if !cursor.turns_page(last, is_last) {
                return Ok(false);
            }
        }
    }

    /// Reads super columns, each of them whole.
    async fn over_supers(&mut self, partition: &mut OpenPartition, mut cursor: SliceCursor) -> Result<bool> {
        if let Some(position) = partition.resume.clone() {
            let is_before = !cursor.from.is_empty()
                && self.order(self.source.comparator(), &position.super_column, &cursor.from).is_lt();
            if !cursor.to.is_empty()
                && self.order(self.source.comparator(), &position.super_column, &cursor.to).is_gt()
            {
                return Ok(false);
            }
            if !is_before {
                cursor.from = position.super_column.clone();
            }
        }
        loop {
            let before = self.result.mark();
            let is_counted = partition.first_page.is_none();
            let (columns, count) = match partition.first_page.take() {
                Some(first) => (first.columns, first.count),
                None => {
                    let predicate = cursor.predicate(self.slices.is_reversed, SUPERS_PER_PAGE);
                    (self.source.read(&partition.key, None, predicate).await?, SUPERS_PER_PAGE)
                }
            };
            let RowColumns::Supers(page) = columns else { return Ok(false) };
            let is_last = page.len() < count;
            let last = page.last().map(|column| column.name.clone());
            for mut column in page {
                if cursor.skips.iter().flatten().any(|name| *name == column.name) {
                    continue;
                }
                if self.slices.is_reversed && self.source.columns.def.clustering.len() > 1 {
                    column.cells.reverse();
                }
                if is_counted {
                    // From here on, its rows are counted as part of the result.
                    meter::release(column.memory());
                }
                self.drop_until(partition, &mut column);
                if self.take_super(partition, column)? {
                    return Ok(true);
                }
            }
            self.result.release_pages(before);
            meter::yield_if_due(SUPERS_PER_PAGE).await?;
            if !cursor.turns_page(last, is_last) {
                return Ok(false);
            }
        }
    }

    /// Drops the cells of a super column that an earlier page has returned.
    fn drop_until(&self, partition: &OpenPartition, column: &mut SuperColumn) {
        let Some(position) = &partition.resume else { return };
        if column.name != position.super_column {
            return;
        }
        if self.source.columns.def.clustering.len() == 1 {
            column.cells.clear();
        } else if let Some(subcomparator) = self.source.subcomparator() {
            column.cells.retain(|cell| self.order(subcomparator, &cell.name, &position.name).is_gt());
        }
    }

    fn take_super(&mut self, partition: &mut OpenPartition, column: SuperColumn) -> Result<bool> {
        let name = column.name.clone();
        for row in Grouping::new(self.source.columns, false, false).of_super(column) {
            if self.take_grouped(partition, row, Some(name.clone()))? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Takes a row. Returns whether enough rows have been read.
    fn take_grouped(
        &mut self,
        partition: &mut OpenPartition,
        row: Grouped,
        super_column: Option<Bytes>,
    ) -> Result<bool> {
        partition.has_rows = true;
        let name = match self.source.columns.def.layout {
            Layout::StaticCompact => None,
            Layout::Sparse if row.clustering.is_empty() => None,
            // A bound after all cells of the row.
            Layout::Sparse => {
                let values: Vec<Bytes> = row.clustering.iter().flatten().cloned().collect();
                let end = if self.slices.is_reversed { 0xFF } else { 1 };
                Some(self.source.columns.def.clustering_prefix(&values, end))
            }
            Layout::Dense | Layout::CompositeDense | Layout::Super => Some(row.last_name),
        };
        let super_column = super_column.unwrap_or_default();
        let position = name.map(|name| CellPosition { super_column, name });
        let position = if self.slices.is_distinct { None } else { position };
        self.take(partition, row.clustering, row.columns, position)?;
        // DISTINCT needs only one row of each partition.
        Ok(self.counter.is_full()
            || self.slices.is_distinct
            || self.counter.is_partition_full(&partition.key))
    }

    fn take(
        &mut self,
        partition: &OpenPartition,
        clustering: Clustering,
        columns: Columns,
        position: Option<CellPosition>,
    ) -> Result<()> {
        let row = TableRow {
            key: partition.key.clone(),
            key_parts: partition.key_parts.clone(),
            clustering,
            statics: partition.statics.clone().unwrap_or_default(),
            columns,
        };
        self.answer(&row, position)
    }
}

fn cells(columns: RowColumns) -> Vec<Cell> {
    match columns {
        RowColumns::Cells(cells) => cells,
        RowColumns::Supers(_) => Vec::new(),
    }
}
