//! Slices of several clustering columns whose directions differ, as in `WHERE (a, b) > (1, 2)` with
//! `CLUSTERING ORDER BY (a ASC, b DESC)`. Their rows are not next to each other: 2.2 and later read one slice for each
//! column (CASSANDRA-7281).
//!
//! ```text
//!   (a, b) > (1, 2)                      a = 1 AND b > 2;  a > 1
//!   (a, b) > (1, 2) AND (a, b) <= (5, 6) a = 1 AND b > 2;  a > 1 AND a < 5;  a = 5 AND b <= 6
//! ```

use std::cmp::Ordering;

use bytes::Bytes;

use super::filter::BoundEnd;

/// A slice of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnSlice {
    /// The values of the columns before it.
    pub prefix: Vec<Bytes>,
    pub lower: Option<BoundEnd>,
    pub upper: Option<BoundEnd>,
}

/// Compares two values of the column at an index of the tuple.
type Compare<'c> = dyn Fn(usize, &[u8], &[u8]) -> Ordering + 'c;

/// Returns the slices of single columns that have the rows between two tuples.
pub(super) fn column_slices(
    lower: Option<&BoundEnd>,
    upper: Option<&BoundEnd>,
    compare: &Compare<'_>,
) -> Vec<ColumnSlice> {
    let [lower, upper] = [lower, upper]
        .map(|end| end.map(|end| TupleEnd { values: &end.values, is_inclusive: end.is_inclusive }));
    let mut found = Vec::new();
    split(Vec::new(), lower, upper, compare, &mut found);
    found
}

/// The rest of an end after the values of the first columns.
#[derive(Clone, Copy)]
struct TupleEnd<'v> {
    values: &'v [Bytes],
    is_inclusive: bool,
}

/// The first value of an end, and the values of the columns after it.
struct Head<'v> {
    value: &'v Bytes,
    rest: TupleEnd<'v>,
}

impl<'v> Head<'v> {
    /// Returns the head of an end, or `None` if the end is open.
    fn of(end: Option<TupleEnd<'v>>) -> Option<Head<'v>> {
        let TupleEnd { values, is_inclusive } = end?;
        let (value, rest) = values.split_first()?;
        Some(Head { value, rest: TupleEnd { values: rest, is_inclusive } })
    }

    /// Returns the end for this column alone. The value itself belongs to it only if no other column follows.
    fn end(&self) -> BoundEnd {
        let is_inclusive = self.rest.values.is_empty() && self.rest.is_inclusive;
        BoundEnd { values: vec![self.value.clone()], is_inclusive }
    }
}

fn split(
    prefix: Vec<Bytes>,
    lower: Option<TupleEnd<'_>>,
    upper: Option<TupleEnd<'_>>,
    compare: &Compare<'_>,
    found: &mut Vec<ColumnSlice>,
) {
    // An end without further values is equal to the prefix.
    if [lower, upper].iter().flatten().any(|end| end.values.is_empty() && !end.is_inclusive) {
        return;
    }
    let with = |value: &Bytes| [&prefix[..], std::slice::from_ref(value)].concat();
    let (low, high) = (Head::of(lower), Head::of(upper));
    if let (Some(low), Some(high)) = (&low, &high) {
        match compare(prefix.len(), low.value, high.value) {
            Ordering::Greater => return,
            Ordering::Equal => {
                return split(with(low.value), Some(low.rest), Some(high.rest), compare, found);
            }
            Ordering::Less => {}
        }
    }
    if let Some(low) = low.as_ref().filter(|low| !low.rest.values.is_empty()) {
        split(with(low.value), Some(low.rest), None, compare, found);
    }
    if let Some(high) = high.as_ref().filter(|high| !high.rest.values.is_empty()) {
        split(with(high.value), None, Some(high.rest), compare, found);
    }
    let (lower, upper) = (low.map(|low| low.end()), high.map(|high| high.end()));
    found.push(ColumnSlice { prefix, lower, upper });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuple(values: &[u8]) -> Vec<Bytes> {
        values.iter().map(|value| Bytes::copy_from_slice(&[*value])).collect()
    }

    /// Returns the pairs from (0, 0) to (5, 5) in the slices, sorted, and checks that none is in two of them.
    fn pairs(slices: &[ColumnSlice]) -> Vec<(u8, u8)> {
        let mut found = Vec::new();
        for slice in slices {
            for (a, b) in (0..6u8).flat_map(|a| (0..6u8).map(move |b| (a, b))) {
                let row = tuple(&[a, b]);
                let at = slice.prefix.len();
                let is_at = |end: &BoundEnd| end.is_inclusive && row[at] == end.values[0];
                let is_above = |end: &BoundEnd| row[at] > end.values[0] || is_at(end);
                let is_below = |end: &BoundEnd| row[at] < end.values[0] || is_at(end);
                if row[..at] == slice.prefix[..]
                    && slice.lower.as_ref().is_none_or(is_above)
                    && slice.upper.as_ref().is_none_or(is_below)
                {
                    found.push((a, b));
                }
            }
        }
        found.sort_unstable();
        let mut distinct = found.clone();
        distinct.dedup();
        assert_eq!(found, distinct);
        found
    }

    #[test]
    fn slices_have_exactly_the_tuples_between_the_ends() {
        let ends: Vec<Option<(Vec<u8>, bool)>> =
            [vec![], vec![2], vec![4], vec![2, 3], vec![2, 1], vec![4, 0]]
                .into_iter()
                .flat_map(|values| [Some((values.clone(), true)), Some((values, false))])
                .map(|end| end.filter(|(values, _)| !values.is_empty()))
                .collect();
        for (lower, upper) in ends.iter().flat_map(|lower| ends.iter().map(move |upper| (lower, upper))) {
            let [low, high] = [lower, upper].map(|end| {
                let (values, is_inclusive) = end.as_ref()?;
                Some(BoundEnd { values: tuple(values), is_inclusive: *is_inclusive })
            });
            let slices = column_slices(low.as_ref(), high.as_ref(), &|_, a, b| a.cmp(b));
            let meets = |row: &[u8], end: &Option<(Vec<u8>, bool)>, side: Ordering| {
                end.as_ref().is_none_or(|(values, is_inclusive)| match row[..values.len()].cmp(values) {
                    Ordering::Equal => *is_inclusive,
                    order => order == side,
                })
            };
            let expected: Vec<(u8, u8)> = (0..6u8)
                .flat_map(|a| (0..6u8).map(move |b| (a, b)))
                .filter(|(a, b)| {
                    meets(&[*a, *b], lower, Ordering::Greater) && meets(&[*a, *b], upper, Ordering::Less)
                })
                .collect();
            assert_eq!(pairs(&slices), expected, "{lower:?} to {upper:?}");
        }
    }
}
