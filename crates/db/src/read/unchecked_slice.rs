//! A slice that has not been validated, as get_count of 2.0 and later counts it.
//!
//! `CassandraServer.get_count` of 2.1 validates neither the bounds nor the super column's name. It compares their
//! bytes with the existing names, so bytes that are not a valid name still have a position among the names. Only a
//! comparator that needs more bytes than it gets fails, and only if there is a name to compare with.

use bytes::Bytes;

use crate::args::RequestedRange;
use crate::limits::NAME_BYTES_MAX;
use crate::validate::Validation;
use crate::{Error, Result};
use base::marshal::{AbstractType, MarshalError};
use base::model::{Cell, RowColumns, SuperColumn};
use base::schema::CfDef;

/// The columns between two bounds that may be any bytes, in a super column of any name if one is given.
pub(super) struct UncheckedSlice<'a> {
    /// Orders the row's own names.
    outer: &'a dyn AbstractType,
    /// Orders the names of the slice: the row's own names, or the names in super columns.
    comparator: &'a dyn AbstractType,
    super_column: Option<Bytes>,
    /// Empty bounds are open.
    low: Bytes,
    high: Bytes,
}

impl<'a> UncheckedSlice<'a> {
    pub(super) fn of(
        checks: &Validation<'_>,
        cf: &'a CfDef,
        super_column: Option<Bytes>,
        range: &RequestedRange,
    ) -> UncheckedSlice<'a> {
        let (start, finish) = (range.start.clone(), range.finish.clone());
        let (low, high) = if range.reversed { (finish, start) } else { (start, finish) };
        let comparator = checks.comparator(cf, super_column.is_some());
        UncheckedSlice { outer: checks.comparator(cf, false), comparator, super_column, low, high }
    }

    /// Returns whether the super column's name is valid, or none is given.
    pub(super) fn is_in_name(&self) -> bool {
        self.super_column.as_ref().is_none_or(|name| !name.is_empty() && is_name(self.outer, name))
    }

    /// Returns whether the bounds are valid names, or open.
    pub(super) fn is_between_names(&self) -> bool {
        [&self.low, &self.high].into_iter().all(|bound| is_name(self.comparator, bound))
    }

    /// Returns how many of these columns, without the first `first`, are live and in the slice.
    pub(super) fn count_in(&self, columns: &RowColumns, first: usize) -> Result<usize> {
        let counted = match columns {
            RowColumns::Cells(cells) => self.count_cells(cells.iter().skip(first)),
            RowColumns::Supers(supers) => supers.iter().skip(first).map(|one| self.count_super(one)).sum(),
        };
        counted.map_err(|error: MarshalError| Error::invalid(error.0))
    }

    fn count_super(&self, super_column: &SuperColumn) -> Result<usize, MarshalError> {
        match &self.super_column {
            None => {
                let is_inside = self.holds(&super_column.name)?;
                Ok(usize::from(is_inside && super_column.cells.iter().any(Cell::is_live)))
            }
            Some(name) if self.outer.compare_unchecked(name, &super_column.name)?.is_ne() => Ok(0),
            Some(_) => self.count_cells(super_column.cells.iter()),
        }
    }

    fn count_cells<'c>(&self, cells: impl Iterator<Item = &'c Cell>) -> Result<usize, MarshalError> {
        cells.map(|cell| Ok(usize::from(self.holds(&cell.name)? && cell.is_live()))).sum()
    }

    /// Returns whether a name is between the bounds. Both bounds are compared with it, because either comparison may
    /// fail.
    fn holds(&self, name: &[u8]) -> Result<bool, MarshalError> {
        let order = |bound: &[u8]| self.comparator.compare_unchecked(bound, name);
        let is_late = self.low.is_empty() || order(&self.low)?.is_le();
        let is_early = self.high.is_empty() || order(&self.high)?.is_ge();
        Ok(is_late && is_early)
    }
}

impl Validation<'_> {
    /// Converts a range as 2.1 does. It parses composites before it reads anything, except in Super column families,
    /// where each name is already one component (`CassandraServer.toInternalFilter`).
    pub(super) fn read_unchecked(&self, cf: &CfDef, range: &RequestedRange) -> Result<RequestedRange> {
        let mut read = range.clone();
        for bound in [&mut read.start, &mut read.finish] {
            *bound = self.read_bound_unchecked(cf, bound)?;
        }
        Ok(read)
    }

    /// Converts one bound of such a range. If the column family defines columns, 2.1 converts names to text, which
    /// fails for bytes that are not a valid name.
    pub(super) fn read_bound_unchecked(&self, cf: &CfDef, bound: &Bytes) -> Result<Bytes> {
        let failed = |error: MarshalError| Error::invalid(error.0);
        let comparator = self.comparator(cf, false);
        if cf.is_super() {
            return Ok(bound.clone());
        }
        if self.behaviour.reads.unchecked_bounds_are_printed && !cf.column_metadata.is_empty() {
            comparator.validate(bound).map_err(failed)?;
        }
        Ok(Bytes::from(comparator.read_unchecked(bound).map_err(failed)?))
    }
}

fn is_name(comparator: &dyn AbstractType, name: &[u8]) -> bool {
    name.len() <= NAME_BYTES_MAX && comparator.validate(name).is_ok()
}
