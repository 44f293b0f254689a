//! Turns restrictions on clustering columns into the slices of cells that contain the rows.

use std::cmp::Ordering;
use std::sync::Arc;

use bytes::Bytes;

use super::cell_slices::{CellSlices, SliceBuilder};
use super::filter::{BoundEnd, present};
use super::operands::BoundValues;
use super::restrictions::{Restriction, RestrictionKind, Restrictions, Slice, SliceEnd, Target};
use super::tuple_slices::{ColumnSlice, column_slices};
use crate::Result;
use crate::values::Combinations;
use base::compat::features::releases::NEWEST;
use base::marshal;
use base::marshal::{AbstractType, STATIC_PREFIX, TypeRef, push_component};
use base::schema::{Layout, TableDef};

/// A range of cell names in the comparator's order. An empty end is open. The ends are inclusive unless they are
/// skipped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CellSlice {
    pub start: Bytes,
    pub finish: Bytes,
    pub skips_start: bool,
    pub skips_finish: bool,
}

/// A slice of a super column family: of its super columns, or of the cells of super column `of`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SuperSlice {
    pub of: Option<Bytes>,
    pub slice: CellSlice,
}

impl SuperSlice {
    /// Returns the super column, or the first one.
    fn super_column(&self) -> &Bytes {
        self.of.as_ref().unwrap_or(&self.slice.start)
    }
}

/// The cells to read of each partition, in the comparator's order.
#[derive(Debug, Clone)]
pub(super) enum CellReads {
    Names(Vec<Bytes>),
    /// Shared by the partitions.
    Cells(Arc<CellSlices>),
    Supers(Vec<SuperSlice>),
}

impl CellReads {
    /// Whether no cell can be read, because the bounds exclude each other.
    pub(super) fn is_empty(&self) -> bool {
        match self {
            // The table may have only the columns of its key.
            CellReads::Names(_) => false,
            CellReads::Cells(slices) => slices.is_empty(),
            CellReads::Supers(slices) => slices.is_empty(),
        }
    }
}

/// Returns the slice that contains the static cells of a partition.
pub(super) fn static_slice(def: &TableDef) -> Option<CellSlice> {
    let bound = |end: u8| {
        let mut name = STATIC_PREFIX.to_vec();
        let count = def.clustering.len();
        (0..count).for_each(|at| push_component(&[], if at + 1 == count { end } else { 0 }, &mut name));
        Bytes::from(name)
    };
    let has_statics = def.static_columns().next().is_some() && !def.clustering.is_empty();
    has_statics.then(|| CellSlice { start: bound(0xFF), finish: bound(1), ..CellSlice::default() })
}

/// An end of a slice; `None` is open.
type End = Option<BoundEnd>;

/// The values of the leading equalities, and the slice that follows them.
struct Prefixes<'a> {
    each: Combinations,
    slice: Option<(&'a Slice, &'a Restriction)>,
    /// Indexes of the restrictions that the slices cover.
    answered: Vec<usize>,
}

/// Slices of cells, and the restrictions that they do not cover.
pub(super) struct SlicePlan<'a> {
    pub reads: CellReads,
    pub rest: Vec<&'a Restriction>,
}

/// The input from which slices are made.
#[derive(Clone, Copy)]
pub(super) struct Slicing<'a> {
    pub target: &'a Target,
    pub restrictions: &'a Restrictions,
    pub bound: BoundValues<'a>,
}

impl<'a> Slicing<'a> {
    /// Returns the slices for the restrictions. `comparator` sorts the cells, or the super columns.
    pub(super) fn sliced(&self, comparator: &dyn AbstractType) -> Result<SlicePlan<'a>> {
        let (def, restrictions) = (&*self.target.def, self.restrictions);
        if def.layout == Layout::StaticCompact {
            let names = def.others.values().map(|column| column.cell_name.clone()).collect();
            return Ok(SlicePlan { reads: CellReads::Names(names), rest: Vec::new() });
        }
        let prefixes = self.prefixes()?;
        let (mut start, mut finish) = (None, None);
        if let Some((slice, restriction)) = prefixes.slice {
            (start, finish) = self.ends(slice, restriction)?;
        }
        if def.layout == Layout::Super {
            // The slices may read a few unwanted rows of a super column, so all rows are also checked one by one.
            let rest = restrictions.of_clustering.iter().collect();
            let supers = supers(&prefixes.each, def, &start, &finish, comparator);
            return Ok(SlicePlan { reads: CellReads::Supers(supers), rest });
        }
        let rest = restrictions.of_clustering.iter().enumerate();
        let rest = rest.filter(|(at, _)| !prefixes.answered.contains(at)).map(|(_, rest)| rest).collect();
        // Both names of a slice begin with the values of the prefix.
        let mut slices = SliceBuilder::new(prefixes.each.count(), 2 * prefixes.each.component_bytes())?;
        let mixed = self.mixed_slices(&prefixes)?;
        for prefix in prefixes.each.iter() {
            if let Some(parts) = &mixed {
                parts.iter().try_for_each(|part| slices.push(&self.column_slice(prefix, part)))?;
            } else if def.layout == Layout::Dense {
                let slice = dense_slice(prefix, &start, &finish, is_reversed(def, 0));
                slice.iter().try_for_each(|slice| slices.push(slice))?;
            } else {
                slices.push(&composite_slice(def, prefix, &start, &finish))?;
            }
        }
        Ok(SlicePlan { reads: CellReads::Cells(Arc::new(slices.sorted(comparator))), rest })
    }

    /// Returns the slices of single columns for a slice of several columns whose directions differ, as 2.2 and later
    /// read it. Cassandra 2.1 reads it as one slice.
    fn mixed_slices(&self, prefixes: &Prefixes<'a>) -> Result<Option<Vec<ColumnSlice>>> {
        let Some((slice, restriction)) = prefixes.slice else { return Ok(None) };
        if !self.restrictions.rules.splits_mixed_slices {
            return Ok(None);
        }
        let columns = self.target.def.clustering.iter().skip(restriction.first).take(restriction.width);
        let mut directions = columns.clone().map(|column| column.is_reversed);
        let first = directions.next();
        if directions.all(|is_reversed| Some(is_reversed) == first) {
            return Ok(None);
        }
        let types = self.bound.database.types();
        let comparators: Vec<TypeRef> = columns.map(|column| column.cql_type.type_ref(types)).collect();
        let (lower, upper) = (self.end(&slice.lower, restriction)?, self.end(&slice.upper, restriction)?);
        Ok(Some(column_slices(lower.as_ref(), upper.as_ref(), &|at, a, b| match comparators.get(at) {
            Some(comparator) => marshal::at(&**comparator, NEWEST).compare(a, b),
            None => Ordering::Equal,
        })))
    }

    /// Returns the cells of one of these slices, after the values of the columns before the restriction.
    fn column_slice(&self, before: &[Bytes], part: &ColumnSlice) -> CellSlice {
        let def = &self.target.def;
        let prefix = [before, &part.prefix[..]].concat();
        let (lower, upper) = (&part.lower, &part.upper);
        let (start, finish) = if is_reversed(def, prefix.len()) { (upper, lower) } else { (lower, upper) };
        composite_slice(def, &prefix, start, finish)
    }

    /// Returns the values of the clustering columns, which have equalities and IN only.
    pub(super) fn equalities(&self) -> Result<Combinations> {
        self.prefixes().map(|prefixes| prefixes.each)
    }

    fn prefixes(&self) -> Result<Prefixes<'a>> {
        let mut found = Prefixes { each: Combinations::default(), slice: None, answered: Vec::new() };
        let mut at = 0;
        while let Some(restriction) = self.restrictions.of_clustering_at(at) {
            if matches!(restriction.asked, RestrictionKind::Contains(_)) {
                break;
            }
            found.answered.extend(self.restrictions.clustering.get(at).copied().flatten());
            let null = |at: usize| self.null_text(restriction, at);
            match &restriction.asked {
                RestrictionKind::Eq(operand) => {
                    let values = present(operand.values(self.bound)?, null)?;
                    found.each = found.each.with(restriction.width, values)?;
                }
                RestrictionKind::In(operands) => {
                    let values = operands.joined_values(self.bound)?;
                    let values = present(values, |at| null(at % restriction.width))?;
                    found.each = found.each.with(restriction.width, values)?;
                }
                RestrictionKind::Slice(slice) => {
                    found.slice = Some((slice, restriction));
                    break;
                }
                RestrictionKind::Contains(_) => break,
            }
            at += restriction.width;
        }
        Ok(found)
    }

    /// Returns the values of an end of a slice, in the order of the columns.
    fn end(&self, end: &Option<SliceEnd>, restriction: &Restriction) -> Result<End> {
        BoundEnd::of(end, self.bound, |at| self.null_text(restriction, at))
    }

    /// Returns the ends of a slice in the order of the cells.
    fn ends(&self, slice: &Slice, restriction: &Restriction) -> Result<(End, End)> {
        let (lower, upper) = (self.end(&slice.lower, restriction)?, self.end(&slice.upper, restriction)?);
        Ok(if is_reversed(&self.target.def, restriction.first) { (upper, lower) } else { (lower, upper) })
    }

    /// Returns the message that the value at an index of a restriction may not be null.
    fn null_text(&self, restriction: &Restriction, at: usize) -> String {
        let columns = self.target.def.clustering.iter().skip(restriction.first).take(restriction.width);
        let names: Vec<&str> = columns.map(|column| &*column.name).collect();
        let name = names.get(at).copied().unwrap_or_default();
        let of_condition = format!("Invalid null value in condition for column {name}");
        let of_part = format!("Invalid null value for clustering key part {name}");
        let (rules, is_tuple) = (self.restrictions.rules, restriction.is_tuple);
        match &restriction.asked {
            RestrictionKind::Eq(_) if rules.merges_restrictions && is_tuple => {
                format!("Invalid null value for column {name}")
            }
            RestrictionKind::In(_) if rules.merges_restrictions && is_tuple => {
                format!("Invalid null value in condition for columns: [{}]", names.join(", "))
            }
            _ if rules.merges_restrictions => of_condition,
            _ if !rules.tells_names_from_slices && is_tuple => of_condition,
            _ if !rules.tells_names_from_slices => of_part,
            RestrictionKind::Eq(_) if self.is_of_names() => {
                let first = names.first().copied().unwrap_or_default();
                format!("Invalid null value for clustering key part {first}")
            }
            RestrictionKind::In(_) if self.is_of_names() && !is_tuple => of_part,
            RestrictionKind::Slice(slice) if !is_tuple => {
                format!("Invalid null clustering key part {}", slice_text(slice))
            }
            _ => of_condition,
        }
    }

    /// Checks whether the restrictions specify whole cell names. In a sparse layout they never do, because a cell name
    /// also contains the name of a column.
    fn is_of_names(&self) -> bool {
        let def = &self.target.def;
        def.layout != Layout::Sparse
            && (0..def.clustering.len())
                .all(|at| self.restrictions.of_clustering_at(at).is_some_and(|of| !of.is_slice()))
    }
}

/// Returns the text of a slice as 2.1 prints it.
fn slice_text(slice: &Slice) -> String {
    let end = |end: &Option<SliceEnd>, sign: &str| match end {
        Some(end) => {
            format!("{sign}{} {}", if end.is_inclusive { "=" } else { "" }, end.operand.noted_text())
        }
        None => format!("{sign} null"),
    };
    format!("SLICE({}, {})", end(&slice.lower, ">"), end(&slice.upper, "<"))
}

/// Returns a slice of composite names. The last byte of a composite bound says whether the bound is before or after the
/// names with this prefix.
fn composite_slice(def: &TableDef, prefix: &[Bytes], start: &End, finish: &End) -> CellSlice {
    let name = |end: &End, outside: u8, inside: u8| match end {
        Some(end) => {
            let values = [prefix, &end.values[..]].concat();
            def.clustering_prefix(&values, if end.is_inclusive { inside } else { outside })
        }
        None => def.clustering_prefix(prefix, inside),
    };
    // Cassandra's start bound for all names with a prefix includes the name that is equal to the prefix, so ours does
    // too.
    CellSlice { start: name(start, 1, 0xFF), finish: name(finish, 0xFF, 1), ..CellSlice::default() }
}

/// Whether the clustering column at an index is descending.
fn is_reversed(def: &TableDef, at: usize) -> bool {
    def.clustering.get(at).is_some_and(|column| column.is_reversed)
}

/// Returns a slice of names that are single values, or `None` if no name can be in it.
fn dense_slice(prefix: &[Bytes], start: &End, finish: &End, is_reversed: bool) -> Option<CellSlice> {
    if let [value] = prefix {
        let slice = CellSlice { start: value.clone(), finish: value.clone(), ..CellSlice::default() };
        // No cell name is empty, and an empty end would be open.
        return (!value.is_empty()).then_some(slice);
    }
    // No value is smaller than the empty value. As the lower end, an empty value is open.
    let upper = if is_reversed { start } else { finish };
    if upper.as_ref().and_then(|end| end.values.first()).is_some_and(Bytes::is_empty) {
        return None;
    }
    let [(start, skips_start), (finish, skips_finish)] = [start, finish].map(|end| match end {
        Some(end) => (end.values.first().cloned().unwrap_or_default(), !end.is_inclusive),
        None => (Bytes::new(), false),
    });
    Some(CellSlice { start, finish, skips_start, skips_finish })
}

fn supers(
    prefixes: &Combinations,
    def: &TableDef,
    start: &End,
    finish: &End,
    comparator: &dyn AbstractType,
) -> Vec<SuperSlice> {
    let mut found = Vec::new();
    for prefix in prefixes.iter() {
        let (of, slice) = match (prefix.split_first(), def.clustering.len()) {
            (None, _) => {
                // A tuple's end is a super column, and all cells of that super column may be in the slice.
                let [start, finish] = [start, finish].map(|end| {
                    let end = end.clone()?;
                    Some(BoundEnd { is_inclusive: end.is_inclusive || end.values.len() > 1, ..end })
                });
                (None, dense_slice(&[], &start, &finish, is_reversed(def, 0)))
            }
            (Some((name, rest)), 2) => {
                (Some(name.clone()), dense_slice(rest, start, finish, is_reversed(def, 1)))
            }
            (Some((name, _)), _) => (None, dense_slice(std::slice::from_ref(name), &None, &None, false)),
        };
        found.extend(slice.map(|slice| SuperSlice { of, slice }));
    }
    found.sort_by(|a, b| comparator.compare(a.super_column(), b.super_column()));
    found.dedup();
    found
}
