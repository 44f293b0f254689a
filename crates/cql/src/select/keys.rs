//! Turns restrictions on the partition key into the partitions to read.

use std::cmp::Ordering;

use bytes::Bytes;

use super::filter::present;
use super::operands::{BoundValues, Operand};
use super::restrictions::{Restriction, RestrictionKind, Restrictions, SliceEnd, Target};
use super::token::{token_before, token_of_value};
use crate::Result;
use crate::values::Combinations;
use base::compat::{Behaviour, texts};
use base::marshal;
use base::model::Bounds;
use base::partitioner::TokenForm;
use base::schema::row_key;
use base::util::Release;
use db::RingOrder;

/// A range of the ring: the bounds for the store, and the exact token limits that are checked afterwards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ScannedRange {
    pub bounds: Bounds,
    pub from: Option<TokenEnd>,
    pub to: Option<TokenEnd>,
}

/// An exact end of a range of the ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TokenEnd {
    token: Vec<u8>,
    is_inclusive: bool,
}

impl TokenEnd {
    /// Returns the end of an execution, or `None` if it is open.
    fn of(end: &Option<SliceEnd>, bound: BoundValues<'_>) -> Result<Option<TokenEnd>> {
        let Some(SliceEnd { operand, is_inclusive }) = end else { return Ok(None) };
        Ok(Some(TokenEnd { token: token_of(operand, bound)?, is_inclusive: *is_inclusive }))
    }
}

fn token_of(operand: &Operand, bound: BoundValues<'_>) -> Result<Vec<u8>> {
    let values = present(operand.values(bound)?, |_| "Invalid null token value".to_owned())?;
    let value = values.into_iter().next().unwrap_or_default();
    token_of_value(&**bound.database.partitioner(), &value)
}

impl ScannedRange {
    pub(super) fn all() -> ScannedRange {
        let bounds = Bounds::Keys { start: Bytes::new(), end: Bytes::new() };
        ScannedRange { bounds, from: None, to: None }
    }

    pub(super) fn holds(&self, token: &[u8]) -> bool {
        let is_before = self.from.as_ref().is_some_and(|from| match token.cmp(&from.token) {
            Ordering::Less => true,
            Ordering::Equal => !from.is_inclusive,
            Ordering::Greater => false,
        });
        !is_before && !self.is_past(token)
    }

    /// Checks whether a token comes after the whole range.
    pub(super) fn is_past(&self, token: &[u8]) -> bool {
        self.to.as_ref().is_some_and(|to| match token.cmp(&to.token) {
            Ordering::Less => false,
            Ordering::Equal => !to.is_inclusive,
            Ordering::Greater => true,
        })
    }
}

/// The partitions that a SELECT reads.
#[derive(Debug)]
pub(super) enum Partitions {
    /// Single partitions, in this order.
    Keys(Vec<Bytes>),
    /// A scan. `None`: the range is empty.
    Range(Option<ScannedRange>),
}

impl Partitions {
    pub(super) fn has(&self, key: &Bytes, ring: RingOrder<'_>) -> bool {
        match self {
            Partitions::Keys(keys) => keys.contains(key),
            Partitions::Range(range) => range.as_ref().is_some_and(|range| range.holds(&ring.token(key))),
        }
    }
}

/// Returns the partitions of a statement. Keys that cannot exist are refused if rows of the partitions are read at all.
pub(super) fn partitions(
    target: &Target,
    restrictions: &Restrictions,
    bound: BoundValues<'_>,
    behaviour: &Behaviour,
    are_read: bool,
) -> Result<Partitions> {
    if let Some(token) = &restrictions.token {
        let range = token_range(token, bound, behaviour)?;
        if restrictions.is_key_range {
            return Ok(Partitions::Range(range));
        }
        // The keys are given too, and the token selects some of them.
        let mut keys = keys(target, restrictions, bound, behaviour.release, are_read)?;
        let ring = bound.database.ring_order();
        keys.retain(|key| range.as_ref().is_some_and(|range| range.holds(&ring.token(key))));
        return Ok(Partitions::Keys(keys));
    }
    if restrictions.is_key_range {
        return Ok(Partitions::Range(Some(ScannedRange::all())));
    }
    keys(target, restrictions, bound, behaviour.release, are_read).map(Partitions::Keys)
}

fn keys(
    target: &Target,
    restrictions: &Restrictions,
    bound: BoundValues<'_>,
    release: Release,
    are_read: bool,
) -> Result<Vec<Bytes>> {
    let is_sorted = Behaviour::of(release).cql.in_keys_are_sorted;
    let columns = &target.def.partition_key;
    let mut values_of_columns = Vec::with_capacity(columns.len());
    for (column, restriction) in columns.iter().zip(&restrictions.keys) {
        let null = |_| texts::null_in_partition_key(bound.line, &column.name);
        let mut values = match restriction.as_ref().map(|restriction| &restriction.asked) {
            Some(RestrictionKind::Eq(operand)) => present(operand.values(bound)?, null)?,
            Some(RestrictionKind::In(operands)) => present(operands.column_values(bound)?, null)?,
            _ => Vec::new(),
        };
        if is_sorted {
            // From 2.1 on the keys are sorted by value and duplicates are removed. Of equal values with different bytes, as
            // the decimals 1.0 and 1.00 are, the first is read. Combinations of sorted values are sorted.
            let comparator = column.cql_type.type_ref(bound.database.types());
            let view = marshal::at(&*comparator, release);
            values.sort_by(|a, b| view.compare(a, b));
            values.dedup_by(|later, earlier| view.compare(later, earlier).is_eq());
        }
        values_of_columns.push(values);
    }
    let mut each = Combinations::default();
    for values in values_of_columns {
        each = each.with(1, values)?;
    }
    if restrictions.uses_index || !are_read {
        // Real servers read ranges by an index, in which no empty key is. They check keys before they read their rows.
        return Ok(each.iter().map(row_key).filter(|key| !key.is_empty()).collect());
    }
    each.into_row_keys()
}

/// Returns the range of the ring for a restriction on the token, or `None` if it is empty. The partitioner's minimum
/// token is an open bound, even with `=` in the relation.
fn token_range(
    restriction: &Restriction,
    bound: BoundValues<'_>,
    behaviour: &Behaviour,
) -> Result<Option<ScannedRange>> {
    let partitioner = bound.database.partitioner();
    let minimum = partitioner.minimum_token(behaviour.release);
    let (from, to) = match &restriction.asked {
        RestrictionKind::Eq(operand) => {
            let end = TokenEnd { token: token_of(operand, bound)?, is_inclusive: true };
            (Some(end.clone()), Some(end))
        }
        RestrictionKind::Slice(slice) => {
            (TokenEnd::of(&slice.lower, bound)?, TokenEnd::of(&slice.upper, bound)?)
        }
        RestrictionKind::In(_) | RestrictionKind::Contains(_) => (None, None),
    };
    let [from, to] = [from, to].map(|end| end.filter(|end| end.token != minimum));
    if let (Some(from), Some(to)) = (&from, &to) {
        let is_empty = match from.token.cmp(&to.token) {
            Ordering::Less => false,
            Ordering::Equal => !(from.is_inclusive && to.is_inclusive),
            Ordering::Greater => true,
        };
        if is_empty {
            return Ok(None);
        }
    }
    let last = to.as_ref().map(|to| to.token.clone());
    let end = last.clone().unwrap_or(minimum);
    let open = Bounds::KeyToToken { start: Bytes::new(), end: last.clone() };
    let bounds = match &from {
        None => open,
        Some(TokenEnd { token, is_inclusive: false }) => Bounds::Tokens { start: token.clone(), end },
        Some(TokenEnd { token, is_inclusive: true }) => match partitioner.token_form() {
            TokenForm::Fixed(_) => match token_before(token) {
                Some(start) => Bounds::Tokens { start, end },
                None => open,
            },
            // The start can be imprecise here: rows before it are skipped one by one.
            TokenForm::IsKey | TokenForm::Variable => match partitioner.key_of_token(token) {
                Some(key) => Bounds::KeyToToken { start: Bytes::from(key), end: last },
                None => open,
            },
        },
    };
    Ok(Some(ScannedRange { bounds, from, to }))
}
