//! Reads of columns of one row.

use bytes::Bytes;
use scylla::response::PagingState;
use scylla::response::query_result::QueryRowsResult;

use super::link::{Link, level};
use super::paging::Paging;
use super::rows::{AnswerReader, FoundCell};
use super::shape::{RowSelector, StatementShape};
use super::table::PreparedTable;
use super::values::DriverValues;
use base::compat::features::ConsistencyLevel;
use base::marshal;
use base::model::{Cell, DeletionTime, Predicate, ReadCommand, RowColumns, SuperColumn};
use base::util::meter;
use store::{Result, within_limit};

/// Columns to request for each super column in the first page. The real number is not known.
const COLUMNS_PER_SUPER: usize = 16;

/// Names to request in one statement. ScyllaDB refuses more than a hundred.
const NAMES_AT_ONCE: usize = 100;

/// Reads columns of one row. A row that does not exist has none.
///
/// # Errors
/// `Invalid` if the result is too large.
pub(super) async fn read(
    link: &Link,
    table: &PreparedTable,
    key: &Bytes,
    command: &ReadCommand,
    consistency: ConsistencyLevel,
) -> Result<RowColumns> {
    let is_of_supers = table.inner.is_some() && command.super_column.is_none();
    let count = match &command.predicate {
        Predicate::Names(_) => usize::MAX,
        Predicate::Range(range) => range.count,
    };
    let mut gathered = GatheredColumns::new(is_of_supers, count);
    if count > 0 {
        for (shape, values) in slices(table, key, command) {
            let reading = AnswerReader { table, has_key: false, now_s: command.now_s };
            gathered.fill(link, reading, shape, values, consistency).await?;
        }
    }
    Ok(gathered.columns(is_reversed(command)))
}

/// Collects the columns of a read.
pub(super) struct GatheredColumns {
    count: usize,
    is_of_supers: bool,
    cells: Vec<Cell>,
    supers: Vec<SuperColumn>,
    /// Bytes of the pages so far.
    bytes: usize,
}

impl GatheredColumns {
    pub(super) fn new(is_of_supers: bool, count: usize) -> GatheredColumns {
        GatheredColumns { count, is_of_supers, cells: Vec::new(), supers: Vec::new(), bytes: 0 }
    }

    /// Reads pages of a statement until they end or enough columns have been read.
    async fn fill(
        &mut self,
        link: &Link,
        reading: AnswerReader<'_>,
        shape: StatementShape,
        values: DriverValues,
        consistency: ConsistencyLevel,
    ) -> Result<()> {
        let mut statement = link.prepared(reading.table, shape).await?;
        statement.set_consistency(level(consistency));
        let per_count = if self.is_of_supers { COLUMNS_PER_SUPER } else { 1 };
        let mut paging = Paging::of(self.count.saturating_mul(per_count));
        let mut from = PagingState::start();
        loop {
            statement.set_page_size(paging.rows());
            let (page, next) = link.page(&statement, &values, from).await?;
            self.bytes = within_limit(self.bytes + page.rows_bytes_size())?;
            charge_page(&page)?;
            for found in reading.cells(&page)? {
                self.add(found);
            }
            // The number of columns in the last super column is not known, so the next page is as large as possible.
            paging.learn(&page, if self.is_of_supers { usize::MAX } else { self.missing() });
            match next {
                Some(next) if !self.is_complete() => from = next,
                _ => return Ok(()),
            }
        }
    }

    pub(super) fn add(&mut self, found: FoundCell) {
        let name = match found.super_column {
            Some(name) if self.is_of_supers => name,
            _ => {
                if self.cells.len() < self.count {
                    self.cells.push(found.cell);
                }
                return;
            }
        };
        match self.supers.last_mut() {
            Some(last) if last.name == name => last.cells.push(found.cell),
            _ => {
                self.supers.push(SuperColumn { name, deletion: DeletionTime::LIVE, cells: vec![found.cell] });
            }
        }
    }

    /// Returns whether all requested columns have been read. A super column is complete when the next one begins.
    pub(super) fn is_complete(&self) -> bool {
        if self.is_of_supers { self.supers.len() > self.count } else { self.cells.len() >= self.count }
    }

    /// Returns how many columns are still to be read.
    fn missing(&self) -> usize {
        self.count.saturating_sub(self.cells.len())
    }

    /// Returns the columns. In a reversed slice of super columns, the columns of each are in ascending order.
    pub(super) fn columns(mut self, is_reversed: bool) -> RowColumns {
        if !self.is_of_supers {
            return RowColumns::Cells(self.cells);
        }
        self.supers.truncate(self.count);
        if is_reversed {
            self.supers.iter_mut().for_each(|super_column| super_column.cells.reverse());
        }
        RowColumns::Supers(self.supers)
    }
}

fn is_reversed(command: &ReadCommand) -> bool {
    matches!(&command.predicate, Predicate::Range(range) if range.reversed)
}

/// Returns the statements of a read with their values. Their results follow one another.
fn slices(table: &PreparedTable, key: &Bytes, command: &ReadCommand) -> Vec<(StatementShape, DriverValues)> {
    let mut before = DriverValues::default().bytes(key.clone());
    let (inner, form, comparator) = match (&command.super_column, &table.inner, table.cf.subcomparator()) {
        (Some(name), Some(form), Some(comparator)) => {
            before = before.bytes(table.outer.encode(name));
            (true, form, comparator)
        }
        _ => (false, &table.outer, &table.cf.comparator),
    };
    let shape = |which| StatementShape::Slice { inner, which, is_reversed: is_reversed(command) };
    match &command.predicate {
        Predicate::Names(names) => {
            let comparator = marshal::at(&**comparator, command.behaviour.release);
            let mut names = names.clone();
            names.sort_by(|one, other| comparator.compare(one, other));
            let mut kept: Vec<Bytes> = names.iter().map(|name| form.encode(name)).collect();
            kept.dedup();
            let slices = kept.chunks(NAMES_AT_ONCE).map(|names| match names {
                [one] => (shape(RowSelector::One), before.clone().bytes(one.clone())),
                several => (shape(RowSelector::Several), before.clone().list(several)),
            });
            slices.collect()
        }
        Predicate::Range(range) => {
            let (low, high) =
                if range.reversed { (&range.finish, &range.start) } else { (&range.start, &range.finish) };
            let bounds = [low, high].into_iter().filter(|bound| !bound.is_empty());
            let values = bounds.fold(before, |values, bound| values.bytes(form.encode(bound)));
            vec![(shape(RowSelector::Range { from: !low.is_empty(), to: !high.is_empty() }), values)]
        }
    }
}

/// Charges a page to the request's meter, once as it was received and once for the reply, and fails if the request must
/// stop.
pub(super) fn charge_page(page: &QueryRowsResult) -> Result<()> {
    meter::charge(2 * (page.rows_bytes_size() + page.rows_num() * size_of::<Cell>()))?;
    Ok(meter::check()?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use base::compat::Behaviour;
    use base::marshal::Types;
    use base::model::SliceRange;
    use base::schema::CfDef;
    use base::util::Release;

    fn command(predicate: Predicate) -> (PreparedTable, ReadCommand) {
        let comparator = Types::builtin().parse("LongType").unwrap();
        let cf = Arc::new(CfDef { comparator, ..CfDef::new("Ks", "Cf") });
        let command = ReadCommand {
            cf: cf.clone(),
            super_column: None,
            predicate,
            behaviour: Behaviour::of(Release::V2_1),
            with_tombstones: false,
            gc_before: 0,
            now_s: 0,
        };
        (PreparedTable::of(&cf).unwrap(), command)
    }

    #[test]
    fn many_names_are_sorted_and_split_into_several_statements() {
        let names = (-75i64..75).rev().map(|name| Bytes::copy_from_slice(&name.to_be_bytes()));
        let (table, command) = command(Predicate::Names(names.collect()));
        let slices = slices(&table, &Bytes::from_static(b"k"), &command);
        let shapes: Vec<StatementShape> = slices.iter().map(|(shape, _)| *shape).collect();
        let several = StatementShape::Slice { inner: false, which: RowSelector::Several, is_reversed: false };
        assert_eq!(shapes, [several, several]);
        let first: Vec<Bytes> =
            (-75i64..25).map(|name| Bytes::copy_from_slice(&name.to_be_bytes())).collect();
        assert_eq!(slices[0].1, DriverValues::default().bytes(Bytes::from_static(b"k")).list(&first));
    }

    #[test]
    fn a_reversed_slice_has_its_smaller_bound_first() {
        let long = |name: i64| Bytes::copy_from_slice(&name.to_be_bytes());
        let range = SliceRange { start: long(9), finish: long(2), reversed: true, count: 1 };
        let (table, command) = command(Predicate::Range(range));
        let (_, values) = slices(&table, &Bytes::from_static(b"k"), &command).remove(0);
        assert_eq!(
            values,
            DriverValues::default().bytes(Bytes::from_static(b"k")).bytes(long(2)).bytes(long(9))
        );
    }
}
