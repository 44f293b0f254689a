//! Partitions as the Data file of 3.x has them, and their entries in the Index file.
//!
//! ```text
//!   partition   key | deletion | rows and bounds | end flag
//!   row         flags | clustering | size | size of the one before | cell
//!   bound       flags | kind | clustering | size | size of the one before | one or two deletions
//!   entry       key | position | size of what follows | size of the head | deletion | number of blocks | blocks | offsets
//!   block       first and last clustering | offset | width | deletion that is open at its end
//! ```
//!
//! Only a partition of several blocks, each of at least 64 KiB, has them in its entry.

use std::ops::Range;

use bytes::Bytes;

use super::super::counter::global_context;
use super::output::FileOutput;
use super::statistics::Baselines;
use base::model::{Cell, CellKind, DeletionTime};

/// Least size of a block of rows.
const BLOCK_BYTES: usize = 64 * 1024;
/// The width of a block is stored as its distance to this one.
const WIDTH_BASE: i64 = 64 * 1024;

/// Flags of rows, bounds and cells.
const END_OF_PARTITION: u8 = 0x01;
const IS_BOUND: u8 = 0x02;
const HAS_ALL_COLUMNS: u8 = 0x20;
const CELL_IS_DELETED: u8 = 0x01;
const CELL_IS_EXPIRING: u8 = 0x02;
const CELL_IS_EMPTY: u8 = 0x04;
/// The kind of a clustering that is not a bound.
const CLUSTERING: u8 = 4;

/// Where range tombstones begin and end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RangeBound {
    /// One begins.
    Start {
        /// Its deletion.
        deletion: DeletionTime,
    },
    /// One ends.
    End {
        /// Its deletion.
        deletion: DeletionTime,
    },
    /// One ends, and another one begins.
    Boundary {
        /// The deletion of the one that ends.
        ending: DeletionTime,
        /// The deletion of the one that begins.
        starting: DeletionTime,
    },
}

impl RangeBound {
    /// Returns the deletions of the tombstones, the one that ends first.
    pub(super) fn deletions(&self) -> impl Iterator<Item = DeletionTime> {
        let (first, second) = match *self {
            RangeBound::Start { deletion } | RangeBound::End { deletion } => (deletion, None),
            RangeBound::Boundary { ending, starting } => (ending, Some(starting)),
        };
        [first].into_iter().chain(second)
    }
}

/// A row, or a bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unfiltered {
    /// A row with its cell.
    Row {
        /// The clustering values, all of them.
        clustering: Vec<Bytes>,
        /// The cell, whose name is not written. A counter has its total as value.
        cell: Cell,
    },
    /// A bound of range tombstones.
    Bound {
        /// The first clustering values; none for an open range.
        clustering: Vec<Bytes>,
        /// Whether the bound is after all rows that have these values, and not before them.
        is_after: bool,
        /// The tombstones that begin and end.
        bound: RangeBound,
    },
}

/// A partition: what a row is in Thrift.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The row key.
    pub key: Bytes,
    /// The deletion of the partition.
    pub deletion: DeletionTime,
    /// Rows and bounds in the order of the clustering columns. Each bound that begins a tombstone has one that ends it.
    pub items: Vec<Unfiltered>,
}

/// The stored lengths of values: `None` if they differ.
#[derive(Debug, Clone)]
pub(super) struct Lengths {
    pub clustering: Vec<Option<u64>>,
    pub value: Option<u64>,
}

impl Unfiltered {
    fn clustering(&self) -> &[Bytes] {
        match self {
            Unfiltered::Row { clustering, .. } | Unfiltered::Bound { clustering, .. } => clustering,
        }
    }

    /// Returns the number of the kind of clustering.
    fn kind(&self) -> u8 {
        match self {
            Unfiltered::Row { .. } => CLUSTERING,
            Unfiltered::Bound { is_after, bound, .. } => match (bound, is_after) {
                (RangeBound::End { .. }, false) => 0,
                (RangeBound::Start { .. }, false) => 1,
                (RangeBound::Boundary { .. }, false) => 2,
                (RangeBound::Boundary { .. }, true) => 5,
                (RangeBound::End { .. }, true) => 6,
                (RangeBound::Start { .. }, true) => 7,
            },
        }
    }

    /// Writes the clustering as the entry of a block has it.
    fn put_prefix(&self, lengths: &Lengths, out: &mut FileOutput) {
        out.u8(self.kind());
        if let Unfiltered::Bound { clustering, .. } = self {
            out.put(&u16::try_from(clustering.len()).unwrap_or(u16::MAX).to_be_bytes());
        }
        put_clustering(self.clustering(), lengths, out);
    }

    /// Writes the row or bound. `before` is the size of the one before it.
    fn put(&self, before: u64, baselines: &Baselines, lengths: &Lengths, out: &mut FileOutput) {
        let mut body = FileOutput::default();
        // 3.x reads backwards with it.
        body.vint(before);
        match self {
            Unfiltered::Row { clustering, cell } => {
                out.u8(HAS_ALL_COLUMNS);
                put_clustering(clustering, lengths, out);
                put_cell(cell, baselines, lengths, &mut body);
            }
            Unfiltered::Bound { bound, .. } => {
                out.u8(IS_BOUND);
                self.put_prefix(lengths, out);
                bound.deletions().for_each(|deletion| baselines.put_deletion(deletion, &mut body));
            }
        }
        out.vint_bytes(&body.bytes);
    }

    /// Returns the deletion that is open behind it. `None` for a row, which changes nothing.
    fn open_deletion(&self) -> Option<Option<DeletionTime>> {
        match self {
            Unfiltered::Row { .. } => None,
            Unfiltered::Bound { bound, .. } => Some(match bound {
                RangeBound::Start { deletion } | RangeBound::Boundary { starting: deletion, .. } => {
                    Some(*deletion)
                }
                RangeBound::End { .. } => None,
            }),
        }
    }
}

/// Writes clustering values: two bits for each that is null or empty, then the others. There are at most two.
fn put_clustering(values: &[Bytes], lengths: &Lengths, out: &mut FileOutput) {
    if values.is_empty() {
        return;
    }
    let empty = values.iter().enumerate().filter(|(_, value)| value.is_empty());
    out.vint(empty.fold(0, |bits, (at, _)| bits | 1 << (2 * at)));
    for (value, length) in values.iter().zip(&lengths.clustering) {
        if !value.is_empty() {
            put_value(value, *length, out);
        }
    }
}

fn put_value(value: &[u8], length: Option<u64>, out: &mut FileOutput) {
    match length {
        Some(_) => out.put(value),
        None => out.vint_bytes(value),
    }
}

fn put_cell(cell: &Cell, baselines: &Baselines, lengths: &Lengths, out: &mut FileOutput) {
    let value = match cell.kind {
        CellKind::Deleted { .. } => Bytes::new(),
        CellKind::Counter | CellKind::Increment => {
            global_context(cell.timestamp, cell.count().unwrap_or_default()).into()
        }
        CellKind::Live | CellKind::Expiring { .. } => cell.value.clone(),
    };
    let kind = match cell.kind {
        CellKind::Deleted { .. } => CELL_IS_DELETED,
        CellKind::Expiring { .. } => CELL_IS_EXPIRING,
        _ => 0,
    };
    out.u8(kind | if value.is_empty() { CELL_IS_EMPTY } else { 0 });
    baselines.put_timestamp(cell.timestamp, out);
    match cell.kind {
        CellKind::Deleted { local_deletion_time } => baselines.put_deletion_time(local_deletion_time, out),
        CellKind::Expiring { ttl_s, expires_at_s } => {
            baselines.put_deletion_time(expires_at_s, out);
            out.vint(u64::from(ttl_s.cast_unsigned()));
        }
        _ => {}
    }
    if !value.is_empty() {
        put_value(&value, lengths.value, out);
    }
}

/// Writes a deletion with its whole numbers. A partition that was not deleted has others than the server's own.
fn put_whole_deletion(deletion: DeletionTime, out: &mut FileOutput) {
    let (at_s, at) = match deletion.is_deleted() {
        true => (deletion.local_deletion_time, deletion.marked_for_delete_at),
        false => (i32::MAX, i64::MIN),
    };
    out.i32(at_s);
    out.i64(at);
}

/// The blocks of rows of a partition.
#[derive(Default)]
struct RowBlocks {
    /// Their entries, one after the other.
    entries: FileOutput,
    offsets: Vec<u32>,
}

impl Partition {
    /// Appends the partition to the Data file, and its entry to the Index file.
    pub(super) fn put(
        &self,
        baselines: &Baselines,
        lengths: &Lengths,
        data: &mut FileOutput,
        index: &mut FileOutput,
    ) {
        let start = data.bytes.len();
        data.short_bytes(&self.key);
        put_whole_deletion(self.deletion, data);
        let head_bytes = data.bytes.len() - start;
        let mut blocks = RowBlocks::default();
        let mut row_start = 0;
        let mut block: Option<(usize, &Unfiltered)> = None;
        let mut open = None;
        for (at, item) in self.items.iter().enumerate() {
            let position = data.bytes.len() - start;
            let (block_start, first) = *block.get_or_insert((position, item));
            item.put((position - row_start) as u64, baselines, lengths, data);
            row_start = position;
            open = item.open_deletion().unwrap_or(open);
            let end = data.bytes.len() - start;
            if end - block_start >= BLOCK_BYTES || at + 1 == self.items.len() {
                blocks.add(first, item, block_start..end, open, lengths);
                block = None;
            }
        }
        data.u8(END_OF_PARTITION);
        index.short_bytes(&self.key);
        index.vint(start as u64);
        if blocks.offsets.len() < 2 {
            index.vint(0);
            return;
        }
        let mut entry = FileOutput::default();
        entry.vint(head_bytes as u64);
        put_whole_deletion(self.deletion, &mut entry);
        entry.vint(blocks.offsets.len() as u64);
        entry.put(&blocks.entries.bytes);
        blocks.offsets.iter().for_each(|offset| entry.u32(*offset));
        index.vint_bytes(&entry.bytes);
    }
}

impl RowBlocks {
    /// Adds the entry of a block: its first and last item, and its place in the partition.
    fn add(
        &mut self,
        first: &Unfiltered,
        last: &Unfiltered,
        bytes: Range<usize>,
        open: Option<DeletionTime>,
        lengths: &Lengths,
    ) {
        self.offsets.push(u32::try_from(self.entries.bytes.len()).unwrap_or(u32::MAX));
        first.put_prefix(lengths, &mut self.entries);
        last.put_prefix(lengths, &mut self.entries);
        self.entries.vint(bytes.start as u64);
        self.entries.signed_vint(i64::try_from(bytes.len()).unwrap_or(i64::MAX) - WIDTH_BASE);
        match open {
            None => self.entries.u8(0),
            Some(deletion) => {
                self.entries.u8(1);
                put_whole_deletion(deletion, &mut self.entries);
            }
        }
    }
}
