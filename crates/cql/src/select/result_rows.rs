//! The rows of a result while they are collected, and their memory.

use bytes::{Bytes, BytesMut};

use super::groups::Groups;
use super::operands::BoundValues;
use super::restrictions::Clustering;
use super::rows::TableRow;
use super::selection::Projection;
use crate::Result;
use crate::error::invalid;
use base::util::limits::{REQUEST_CHUNK_BYTES, RESULT_BYTES_MAX};
use base::util::meter;
use base::util::meter::MemoryMark;

/// A row of the result.
#[derive(Debug)]
pub(super) struct ResultRow {
    pub values: Vec<Option<Bytes>>,
    /// For ORDER BY over several partitions; empty otherwise.
    pub clustering: Clustering,
}

/// The rows of the result, or the groups that they are combined into.
pub(super) struct ResultRows<'a> {
    pub projection: &'a Projection,
    pub bound: BoundValues<'a>,
    pub now_s: i32,
    /// Whether the rows of several partitions are sorted, by their clustering.
    pub is_sorted: bool,
    pub rows: Vec<ResultRow>,
    pub groups: Groups,
    /// The size of the values in `rows`, as in the reply.
    bytes: usize,
    /// The estimated memory of the rows and groups, here and in the reply.
    memory: usize,
}

/// The memory of a request, and of its result, before a page is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct PageMark {
    pub request: MemoryMark,
    result: usize,
}

impl<'a> ResultRows<'a> {
    pub(super) fn new(
        projection: &'a Projection,
        bound: BoundValues<'a>,
        now_s: i32,
        is_sorted: bool,
    ) -> ResultRows<'a> {
        let groups = Groups::default();
        ResultRows { projection, bound, now_s, is_sorted, rows: Vec::new(), groups, bytes: 0, memory: 0 }
    }

    /// Adds a row, and charges its memory to the request.
    pub(super) fn add(&mut self, row: &TableRow) -> Result<()> {
        if self.projection.is_grouped() {
            let before = self.groups.memory;
            self.groups.add(row, self.projection, self.bound, self.now_s)?;
            return self.charge(self.groups.memory - before);
        }
        if self.projection.is_count {
            return Ok(());
        }
        let mut values = self.projection.values(row, self.bound, self.now_s)?;
        let clustering = if self.is_sorted { row.clustering.clone() } else { Vec::new() };
        let bytes = values.iter().flatten().map(Bytes::len).sum::<usize>();
        // In the reply each value, even null, has a length of four bytes.
        self.bytes += bytes + 4 * values.len();
        self.charge(size_of::<ResultRow>() + memory_of(&values))?;
        if self.bytes > REQUEST_CHUNK_BYTES {
            detach(&mut values, bytes);
        }
        if self.bytes > RESULT_BYTES_MAX {
            return invalid(format!(
                "the result has more than {RESULT_BYTES_MAX} bytes: ask for it in pages, or for less with LIMIT"
            ));
        }
        self.rows.push(ResultRow { values, clustering });
        Ok(())
    }

    fn charge(&mut self, bytes: usize) -> Result<()> {
        self.memory += bytes;
        Ok(meter::charge(bytes)?)
    }

    pub(super) fn mark(&self) -> PageMark {
        PageMark { request: meter::mark(), result: self.memory }
    }

    /// Releases the memory of everything read since `before` except the result.
    pub(super) fn release_pages(&self, before: PageMark) {
        before.request.keep(self.memory.saturating_sub(before.result));
    }
}

/// Returns the estimated memory of a result row, here and in the reply.
pub(super) fn memory_of(values: &[Option<Bytes>]) -> usize {
    let bytes: usize = values.iter().flatten().map(Bytes::len).sum();
    size_of_val(values) + 2 * (bytes + values.len() * size_of::<i32>())
}

/// Copies the values of a row into memory of their own: values that were read share their buffer with columns that are
/// not selected.
fn detach(values: &mut [Option<Bytes>], bytes: usize) {
    let mut copied = BytesMut::with_capacity(bytes);
    values.iter().flatten().for_each(|value| copied.extend_from_slice(value));
    let mut copied = copied.freeze();
    for value in values.iter_mut().flatten() {
        *value = copied.split_to(value.len());
    }
}
