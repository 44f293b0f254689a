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

/// An end of a slice: the values of the columns, and whether it is inclusive.
pub(super) type TupleEnd<'v> = Option<(&'v [Bytes], bool)>;

/// A slice of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ColumnSlice {
    /// The values of the columns before it.
    pub prefix: Vec<Bytes>,
    pub lower: Option<(Bytes, bool)>,
    pub upper: Option<(Bytes, bool)>,
}

/// Compares two values of the column at an index of the tuple.
type Compare<'c> = dyn Fn(usize, &[u8], &[u8]) -> Ordering + 'c;

/// Returns the slices of single columns that have the rows between two tuples.
pub(super) fn column_slices(
    (lower, upper): (TupleEnd<'_>, TupleEnd<'_>),
    compare: &Compare<'_>,
) -> Vec<ColumnSlice> {
    let mut found = Vec::new();
    split(Vec::new(), (lower, upper), compare, &mut found);
    found
}

/// The first value of an end, and the values of the columns after it.
struct Head<'v> {
    value: &'v Bytes,
    rest: &'v [Bytes],
    is_inclusive: bool,
}

impl<'v> Head<'v> {
    /// Returns the head of an end, or `None` if the end is open.
    fn of(end: TupleEnd<'v>) -> Option<Head<'v>> {
        let (values, is_inclusive) = end?;
        let (value, rest) = values.split_first()?;
        Some(Head { value, rest, is_inclusive })
    }

    fn tail(&self) -> TupleEnd<'v> {
        Some((self.rest, self.is_inclusive))
    }

    /// Returns the end for this column alone. The value itself belongs to it only if no other column follows.
    fn end(&self) -> (Bytes, bool) {
        (self.value.clone(), self.rest.is_empty() && self.is_inclusive)
    }
}

fn split(
    prefix: Vec<Bytes>,
    (lower, upper): (TupleEnd<'_>, TupleEnd<'_>),
    compare: &Compare<'_>,
    found: &mut Vec<ColumnSlice>,
) {
    // An end without further values is equal to the prefix.
    let is_excluded = |end: &TupleEnd<'_>| matches!(end, Some(([], false)));
    if is_excluded(&lower) || is_excluded(&upper) {
        return;
    }
    let with = |value: &Bytes| [&prefix[..], std::slice::from_ref(value)].concat();
    let (low, high) = (Head::of(lower), Head::of(upper));
    if let (Some(low), Some(high)) = (&low, &high) {
        match compare(prefix.len(), low.value, high.value) {
            Ordering::Greater => return,
            Ordering::Equal => return split(with(low.value), (low.tail(), high.tail()), compare, found),
            Ordering::Less => {}
        }
    }
    if let Some(low) = low.as_ref().filter(|low| !low.rest.is_empty()) {
        split(with(low.value), (low.tail(), None), compare, found);
    }
    if let Some(high) = high.as_ref().filter(|high| !high.rest.is_empty()) {
        split(with(high.value), (None, high.tail()), compare, found);
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
                let is_above = |(value, is_inclusive): &(Bytes, bool)| {
                    row[at] > *value || *is_inclusive && row[at] == *value
                };
                let is_below = |(value, is_inclusive): &(Bytes, bool)| {
                    row[at] < *value || *is_inclusive && row[at] == *value
                };
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
            let bytes = |end: &Option<(Vec<u8>, bool)>| end.as_ref().map(|(values, is)| (tuple(values), *is));
            let (low, high) = (bytes(lower), bytes(upper));
            let slices = column_slices(
                (
                    low.as_ref().map(|(values, is)| (&values[..], *is)),
                    high.as_ref().map(|(values, is)| (&values[..], *is)),
                ),
                &|_, a, b| a.cmp(b),
            );
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
