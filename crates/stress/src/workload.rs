//! Chooses the keys, columns and values of a load: the same for the same seed.

use std::time::{SystemTime, UNIX_EPOCH};

use clap::ValueEnum;

use super::cql::{self, CqlStatement};
use super::dialect::{StressTarget, ThriftColumn};
use base::util::SplitMix64;
use wire::thrift::Writer;

/// Maximum number of rows and columns of a load: keys and names have 9 and 6 digits.
pub(crate) const ROWS_MAX: u64 = 1_000_000_000;
pub(crate) const COLUMNS_MAX: u32 = 1_000_000;

/// Maximum number of columns of a batch that fills rows: a few KiB a message.
const POPULATE_BATCH_COLUMNS: u32 = 100;

/// The operation of a run's requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StressOperation {
    Insert,
    Read,
    Slice,
    #[value(skip)]
    SliceReversed,
    Batch,
    /// A prepared INSERT of CQL 3.
    CqlInsert,
    /// A prepared SELECT of CQL 3.
    CqlSelect,
    /// Half reads, half inserts.
    Mixed,
    /// Every column of every row, in order.
    #[value(skip)]
    Populate,
}

/// A method of the API that a load calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum StressCall {
    Insert,
    Get,
    GetSlice,
    BatchMutate,
    CqlInsert,
    CqlSelect,
}

impl StressCall {
    pub(crate) fn name(self) -> &'static str {
        match self {
            StressCall::Insert => "insert",
            StressCall::Get => "get",
            StressCall::GetSlice => "get_slice",
            StressCall::BatchMutate => "batch_mutate",
            StressCall::CqlInsert => "CQL INSERT",
            StressCall::CqlSelect => "CQL SELECT",
        }
    }
}

/// The size of the data and of requests.
#[derive(Debug, Clone)]
pub(crate) struct WorkloadShape {
    pub rows: u64,
    /// Columns of a row.
    pub columns: u32,
    /// Columns that one batch writes.
    pub batch_columns: u32,
    pub value_bytes: usize,
    /// Columns that a slice asks for.
    pub slice_count: i32,
}

impl WorkloadShape {
    /// Returns the number of requests that fill all rows.
    pub(crate) fn populate_requests(&self) -> u64 {
        self.rows * u64::from(self.populate_batches())
    }

    fn populate_batches(&self) -> u32 {
        self.columns.div_ceil(POPULATE_BATCH_COLUMNS)
    }
}

/// The requests of one connection.
#[derive(Debug)]
pub(crate) struct Workload {
    operation: StressOperation,
    shape: WorkloadShape,
    dice: SplitMix64,
    /// Random bytes; each value is a part of them.
    values: Vec<u8>,
    /// Timestamp of the last write, in microseconds.
    timestamp: i64,
    /// The id of the run's prepared statement.
    statement: Option<i32>,
}

/// The number by which the random bytes are longer than a value: the number of different values.
const VALUE_STARTS: usize = 1024;

impl Workload {
    /// Creates the workload of connection number `index`.
    pub(crate) fn new(
        operation: StressOperation,
        shape: &WorkloadShape,
        seed: u64,
        index: usize,
    ) -> Workload {
        let mut dice = SplitMix64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ ((index as u64) << 32));
        let values = (0..shape.value_bytes + VALUE_STARTS).map(|_| dice.next_number() as u8).collect();
        Workload { operation, shape: shape.clone(), dice, values, timestamp: 0, statement: None }
    }

    /// Returns the timestamp of the next write: the clock's microseconds, as in clients, and never the same twice.
    fn next_timestamp(&mut self) -> i64 {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let now = i64::try_from(now.as_micros()).unwrap_or(i64::MAX / 2);
        self.timestamp = (self.timestamp + 1).max(now);
        self.timestamp
    }

    /// Writes request number `number` of the whole run.
    pub(crate) fn write_request(
        &mut self,
        number: u64,
        target: &StressTarget,
        writer: &mut Writer,
        seqid: i32,
    ) -> StressCall {
        match self.operation {
            StressOperation::Insert => self.insert(target, writer, seqid),
            StressOperation::Read => self.get(target, writer, seqid),
            StressOperation::Mixed if self.dice.next_number() & 1 == 0 => self.get(target, writer, seqid),
            StressOperation::Mixed => self.insert(target, writer, seqid),
            StressOperation::CqlInsert => self.cql_insert(target, writer, seqid),
            StressOperation::CqlSelect => self.cql_select(target, writer, seqid),
            StressOperation::Slice => self.get_slice(target, writer, seqid, false),
            StressOperation::SliceReversed => self.get_slice(target, writer, seqid, true),
            StressOperation::Batch => {
                let row = self.dice.below(self.shape.rows);
                let starts = self.shape.columns - self.shape.batch_columns + 1;
                let first = self.dice.below(u64::from(starts)) as u32;
                self.batch_mutate(target, writer, seqid, row, first..first + self.shape.batch_columns)
            }
            StressOperation::Populate => {
                let batches = u64::from(self.shape.populate_batches());
                let first = (number % batches) as u32 * POPULATE_BATCH_COLUMNS;
                let end = self.shape.columns.min(first + POPULATE_BATCH_COLUMNS);
                self.batch_mutate(target, writer, seqid, number / batches, first..end)
            }
        }
    }

    fn insert(&mut self, target: &StressTarget, writer: &mut Writer, seqid: i32) -> StressCall {
        let (key, name, value, timestamp) = self.cell();
        target.insert(writer, seqid, &key, ThriftColumn { name: &name, value, timestamp });
        StressCall::Insert
    }

    fn cql_insert(&mut self, target: &StressTarget, writer: &mut Writer, seqid: i32) -> StressCall {
        let (key, name) = self.random_cell();
        let id = *self.statement.get_or_insert_with(|| CqlStatement::Insert.id(target));
        let start = self.dice.below(VALUE_STARTS as u64) as usize;
        let value = value(&self.values, start, self.shape.value_bytes);
        // The server sets the timestamp.
        let column = ThriftColumn { name: &name, value, timestamp: 0 };
        cql::insert(target, writer, seqid, id, &key, column);
        StressCall::CqlInsert
    }

    fn cql_select(&mut self, target: &StressTarget, writer: &mut Writer, seqid: i32) -> StressCall {
        let (key, name) = self.random_cell();
        let id = *self.statement.get_or_insert_with(|| CqlStatement::Select.id(target));
        cql::select(target, writer, seqid, id, &key, &name);
        StressCall::CqlSelect
    }

    fn get(&mut self, target: &StressTarget, writer: &mut Writer, seqid: i32) -> StressCall {
        let (key, name) = self.random_cell();
        target.get(writer, seqid, &key, &name);
        StressCall::Get
    }

    fn get_slice(
        &mut self,
        target: &StressTarget,
        writer: &mut Writer,
        seqid: i32,
        reversed: bool,
    ) -> StressCall {
        let key = row_key(self.dice.below(self.shape.rows));
        target.get_slice(writer, seqid, &key, self.shape.slice_count, reversed);
        StressCall::GetSlice
    }

    fn batch_mutate(
        &mut self,
        target: &StressTarget,
        writer: &mut Writer,
        seqid: i32,
        row: u64,
        columns: std::ops::Range<u32>,
    ) -> StressCall {
        let timestamp = self.next_timestamp();
        let names: Vec<_> = columns.map(column_name).collect();
        let (values, length) = (&self.values, self.shape.value_bytes);
        let dice = &mut self.dice;
        let written = names.iter().map(|name| {
            let start = dice.below(VALUE_STARTS as u64) as usize;
            ThriftColumn { name, value: value(values, start, length), timestamp }
        });
        target.batch_mutate(writer, seqid, &row_key(row), written);
        StressCall::BatchMutate
    }

    /// Returns a random column with a value and a timestamp, for requests that are not Thrift.
    pub(crate) fn cell(&mut self) -> ([u8; 10], [u8; 7], &[u8], i64) {
        let (key, name) = self.random_cell();
        let timestamp = self.next_timestamp();
        let start = self.dice.below(VALUE_STARTS as u64) as usize;
        (key, name, value(&self.values, start, self.shape.value_bytes), timestamp)
    }

    fn random_cell(&mut self) -> ([u8; 10], [u8; 7]) {
        let row = self.dice.below(self.shape.rows);
        let column = self.dice.below(u64::from(self.shape.columns));
        (row_key(row), column_name(column as u32))
    }
}

fn value(values: &[u8], start: usize, length: usize) -> &[u8] {
    values.get(start..start + length).unwrap_or_default()
}

/// Returns `k` and 9 digits.
pub(crate) fn row_key(row: u64) -> [u8; 10] {
    numbered(b'k', row)
}

/// Returns `c` and 6 digits: the order of bytes is the order of numbers.
pub(crate) fn column_name(column: u32) -> [u8; 7] {
    numbered(b'c', u64::from(column))
}

fn numbered<const LENGTH: usize>(letter: u8, mut number: u64) -> [u8; LENGTH] {
    let mut text = [letter; LENGTH];
    for digit in text.iter_mut().skip(1).rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
    text
}

impl StressOperation {
    /// Returns the statement that connections prepare first.
    pub(crate) fn statement(self) -> Option<CqlStatement> {
        match self {
            StressOperation::CqlInsert => Some(CqlStatement::Insert),
            StressOperation::CqlSelect => Some(CqlStatement::Select),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_like_their_numbers() {
        assert_eq!(&row_key(0), b"k000000000");
        assert_eq!(&row_key(ROWS_MAX - 1), b"k999999999");
        assert_eq!(&column_name(120), b"c000120");
        assert!(column_name(9) < column_name(10));
    }

    #[test]
    fn random_numbers_cover_the_range_below_the_limit() {
        let mut dice = SplitMix64(7);
        let mut seen = [false; 10];
        (0..1000).for_each(|_| seen[dice.below(10) as usize] = true);
        assert_eq!(seen, [true; 10]);
        assert_eq!(dice.below(1), 0);
    }

    #[test]
    fn filling_covers_every_column_once() {
        let shape = WorkloadShape { rows: 3, columns: 250, batch_columns: 5, value_bytes: 1, slice_count: 1 };
        assert_eq!(shape.populate_requests(), 9);
    }
}
