//! Conditions that are checked row by row because no slice covers them.

use std::cmp::Ordering;

use bytes::Bytes;

use super::element_condition::WantedElement;
use super::operands::BoundValues;
use super::restrictions::{Restriction, RestrictionKind, SliceEnd};
use super::rows::{CellColumns, TableRow, ValuePlace};
use crate::error::invalid;
use crate::{CqlError, Result};
use base::compat::texts;
use base::marshal;
use base::marshal::{CqlType, Native, TypeRef};
use base::schema::{ColumnKind, TableColumn};
use base::util::Release;

/// A column that a condition restricts.
#[derive(Debug)]
struct FilteredColumn {
    place: ValuePlace,
    comparator: TypeRef,
    is_reversed: bool,
    cql_type: CqlType,
}

#[derive(Debug)]
enum FilterOperand {
    Eq(Vec<Bytes>),
    In(Vec<Vec<Bytes>>),
    /// The lower and the upper end.
    Slice(Option<BoundEnd>, Option<BoundEnd>),
    Contains(Vec<WantedElement>),
}

/// One condition on a row, with its values.
#[derive(Debug)]
pub(super) struct RowFilter {
    columns: Vec<FilteredColumn>,
    is_tuple: bool,
    wanted: FilterOperand,
    release: Release,
}

/// Returns the values of an operand.
///
/// # Errors
/// `InvalidRequest` if a value is null; `null` returns the message for the value at an index.
pub(crate) fn present(values: Vec<Option<Bytes>>, null: impl Fn(usize) -> String) -> Result<Vec<Bytes>> {
    let values = values.into_iter().enumerate();
    values.map(|(at, value)| value.ok_or_else(|| CqlError::invalid(null(at)))).collect()
}

/// An end of a slice with its values, one for each column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BoundEnd {
    pub values: Vec<Bytes>,
    pub is_inclusive: bool,
}

impl BoundEnd {
    /// Returns the end of an execution, or `None` if it is open. Fails as `present` does.
    pub(super) fn of(
        end: &Option<SliceEnd>,
        bound: BoundValues<'_>,
        null: impl Fn(usize) -> String,
    ) -> Result<Option<BoundEnd>> {
        let Some(SliceEnd { operand, is_inclusive }) = end else { return Ok(None) };
        let values = present(operand.values(bound)?, null)?;
        Ok(Some(BoundEnd { values, is_inclusive: *is_inclusive }))
    }
}

/// Refuses restrictions of clustering columns that 2.2 and later do not check row by row.
pub(super) fn check_filter(restriction: &Restriction, columns: &[&TableColumn]) -> Result<()> {
    let is_clustering = columns.first().is_some_and(|column| column.kind == ColumnKind::Clustering);
    match &restriction.asked {
        RestrictionKind::In(_) if is_clustering => {
            invalid("IN restrictions are not supported on indexed columns")
        }
        RestrictionKind::Slice(_) if restriction.is_tuple => {
            invalid("Multi-column slice restrictions cannot be used for filtering.")
        }
        _ => Ok(()),
    }
}

impl RowFilter {
    pub(super) fn new(
        cells: &CellColumns,
        columns: &[&TableColumn],
        restriction: &Restriction,
        bound: BoundValues<'_>,
        release: Release,
    ) -> Result<RowFilter> {
        let types = bound.database.types();
        let name = |at: usize| columns.get(at).map_or("", |column| &column.name);
        let null = |at: usize| match cells.place(columns.get(at).copied().unwrap_or(columns[0])) {
            ValuePlace::Key(_) => format!("Invalid null value for partition key part {}", name(at)),
            ValuePlace::Clustering(_) => format!("Invalid null value for clustering key part {}", name(at)),
            _ => texts::null_for_column(bound.line, name(at)),
        };
        let end = |end: &Option<SliceEnd>| BoundEnd::of(end, bound, null);
        let wanted = match &restriction.asked {
            RestrictionKind::Eq(operand) => FilterOperand::Eq(present(operand.values(bound)?, null)?),
            RestrictionKind::In(operands) => {
                let each = operands.values(bound)?.into_iter().map(|values| present(values, null));
                FilterOperand::In(each.collect::<Result<_, _>>()?)
            }
            RestrictionKind::Slice(slice) => FilterOperand::Slice(end(&slice.lower)?, end(&slice.upper)?),
            RestrictionKind::Contains(elements) => {
                let wanted = elements.iter().map(|one| one.bound(bound, columns[0], release));
                FilterOperand::Contains(wanted.collect::<Result<_, _>>()?)
            }
        };
        let tested = columns.iter().map(|column| FilteredColumn {
            place: cells.place(column),
            // The values of counters are numbers, although their class compares bytes.
            comparator: match column.cql_type.is_counter() {
                true => CqlType::Native(Native::Bigint).type_ref(types),
                false => column.cql_type.type_ref(types),
            },
            is_reversed: column.is_reversed,
            cql_type: column.cql_type.clone(),
        });
        let columns = tested.collect();
        Ok(RowFilter { columns, is_tuple: restriction.is_tuple, wanted, release })
    }

    /// Whether it checks the column at a place.
    pub(super) fn is_on(&self, place: ValuePlace) -> bool {
        self.columns.iter().any(|column| column.place == place)
    }

    pub(super) fn holds(&self, row: &TableRow) -> bool {
        match &self.wanted {
            FilterOperand::Eq(values) => self.compare(row, values, false) == Some(Ordering::Equal),
            FilterOperand::In(each) => {
                each.iter().any(|values| self.compare(row, values, false) == Some(Ordering::Equal))
            }
            FilterOperand::Slice(lower, upper) => self.is_between(row, lower.as_ref(), upper.as_ref()),
            FilterOperand::Contains(elements) => {
                let Some(column) = self.columns.first() else { return true };
                if let Some(value) = row.value(column.place) {
                    return elements
                        .iter()
                        .all(|one| one.is_in_frozen(&column.cql_type, value) == Some(true));
                }
                let is_set = matches!(column.cql_type, CqlType::Set { .. });
                let held = row.held(column.place);
                elements.iter().all(|one| one.is_in(held, is_set))
            }
        }
    }

    /// Checks whether the row is between two ends. Cassandra compares tuples in the order of the cells, and swaps the
    /// ends of the slice if the first column is reversed.
    fn is_between(&self, row: &TableRow, lower: Option<&BoundEnd>, upper: Option<&BoundEnd>) -> bool {
        let is_first_reversed = self.columns.first().is_some_and(|column| column.is_reversed);
        let is_turned = self.is_tuple && is_first_reversed;
        let (lower, upper) = if is_turned { (upper, lower) } else { (lower, upper) };
        let meets = |end: Option<&BoundEnd>, side: Ordering| {
            let Some(end) = end else { return true };
            match self.compare(row, &end.values, self.is_tuple) {
                Some(Ordering::Equal) => end.is_inclusive,
                Some(order) => order == side,
                None => false,
            }
        };
        meets(lower, Ordering::Greater) && meets(upper, Ordering::Less)
    }

    /// Compares a row's values with the given ones. Returns `None` if the row lacks one of them.
    fn compare(&self, row: &TableRow, values: &[Bytes], in_cell_order: bool) -> Option<Ordering> {
        for (column, value) in self.columns.iter().zip(values) {
            let own = row.value(column.place)?;
            let comparator = marshal::at(&*column.comparator, self.release);
            let order = comparator.compare(own, value);
            let order = if in_cell_order && column.is_reversed { order.reverse() } else { order };
            if order.is_ne() {
                return Some(order);
            }
        }
        Some(Ordering::Equal)
    }
}
