//! get_count of 0.7 and later: how many columns a slice has.
//!
//! 0.7 and 0.8 count the columns of the slice, so its own count is the most there can be. 1.0 to 1.2 read in pages
//! of two columns at least, and take back what was too much: a negative count comes out as it went in, unless
//! there is nothing. 2.0 and later count without a look at the slice: one that goes backwards, or whose bounds are
//! no names, is empty.

use bytes::Bytes;

use super::request::{ColumnParent, RequestedRange, SlicePredicate};
use super::validate::Validation;
use super::{Database, Error};
use crate::model::{Behaviour, Cell, ConsistencyLevel, Predicate, ReadCommand, RowColumns, SuperColumn};
use crate::schema::CfDef;
use crate::util::Release;

/// The type whose comparison fails on what is none of its values, alone of the comparators.
const TIME_UUID_TYPE: &str = "org.apache.cassandra.db.marshal.TimeUUIDType";

/// Columns of a page, at least.
const PAGE_MIN: i32 = 2;

/// Columns that a cluster is asked for at once where they are only counted.
const COUNTED_AT_ONCE: usize = 2_000;

impl Database {
    /// How many columns a slice of a row has.
    pub async fn count_slice(
        &self,
        keyspace: &[u8],
        key: &Bytes,
        parent: &ColumnParent,
        predicate: &SlicePredicate,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<i32, Error> {
        if predicate.column_names.is_some() || behaviour.release < Release::V1_0 {
            let length = self.slice_length(keyspace, key, parent, predicate, consistency, behaviour).await?;
            return Ok(count_of(length));
        }
        let all =
            RequestedRange { start: Bytes::new(), finish: Bytes::new(), reversed: false, count: i32::MAX };
        let mut range = predicate.slice_range.clone().unwrap_or(all);
        let mut parent = parent.clone();
        let asked = range.count;
        if behaviour.release >= Release::V2_0 {
            let catalog = self.catalog();
            let checks = self.validation(&catalog, behaviour);
            let cf = checks.family(keyspace, &parent.column_family)?;
            if !cf.is_super() {
                parent.super_column = None;
            }
            if let Err(error) = checks.counted(cf, &parent, &range) {
                let is_fatal = checks.comparison_fails(cf, &parent, &range);
                return if is_fatal { Err(error) } else { Ok(0) };
            }
        } else {
            range.count = asked.max(PAGE_MIN);
        }
        let predicate = SlicePredicate { column_names: None, slice_range: Some(range) };
        let length = self.slice_length(keyspace, key, &parent, &predicate, consistency, behaviour).await?;
        Ok(if length == 0 { 0 } else { count_of(length).min(asked) })
    }

    /// How many columns a read finds. A cluster is asked for them page by page, and what is counted is not kept.
    pub(super) async fn count_columns(
        &self,
        key: &Bytes,
        mut command: ReadCommand,
        consistency: ConsistencyLevel,
    ) -> Result<usize, Error> {
        let asked = match &command.predicate {
            Predicate::Range(range) if self.store().remote().is_some() => range.count,
            _ => return Ok(self.store().read(key.clone(), command, consistency).await?.len()),
        };
        let mut counted = 0;
        let mut last: Option<Bytes> = None;
        loop {
            // Each page after the first begins with the last column of the one before.
            let wanted = (asked - counted).saturating_add(usize::from(last.is_some())).min(COUNTED_AT_ONCE);
            if let Predicate::Range(range) = &mut command.predicate {
                range.count = wanted;
                range.start = last.clone().unwrap_or_else(|| range.start.clone());
            }
            let page = self.store().read(key.clone(), command.clone(), consistency).await?;
            let (first, end) = ends(&page);
            counted += page.len() - usize::from(last.is_some() && first == last);
            if page.len() < wanted || counted >= asked {
                return Ok(counted.min(asked));
            }
            last = end;
        }
    }
}

/// The names of the first column and of the last one.
fn ends(columns: &RowColumns) -> (Option<Bytes>, Option<Bytes>) {
    match columns {
        RowColumns::Cells(cells) => {
            let name = |cell: &Cell| cell.name.clone();
            (cells.first().map(name), cells.last().map(name))
        }
        RowColumns::Supers(supers) => {
            let name = |super_column: &SuperColumn| super_column.name.clone();
            (supers.first().map(name), supers.last().map(name))
        }
    }
}

fn count_of(columns: usize) -> i32 {
    i32::try_from(columns).unwrap_or(i32::MAX)
}

impl Validation<'_> {
    /// A slice that can hold something.
    fn counted(&self, cf: &CfDef, parent: &ColumnParent, range: &RequestedRange) -> Result<(), Error> {
        self.parent_in(cf, parent)?;
        self.range(cf, parent.super_column.is_some(), range).map(drop)
    }

    /// Whether 2.0 and later fail at comparing the names that are asked for with those that are there.
    fn comparison_fails(&self, cf: &CfDef, parent: &ColumnParent, range: &RequestedRange) -> bool {
        let fails = |in_super: bool, name: &[u8]| {
            let comparator = self.comparator(cf, in_super);
            comparator.class_name() == TIME_UUID_TYPE && !name.is_empty() && name.len() != 16
        };
        let in_super = parent.super_column.is_some();
        parent.super_column.as_ref().is_some_and(|name| fails(false, name))
            || [&range.start, &range.finish].into_iter().any(|bound| fails(in_super, bound))
    }
}
