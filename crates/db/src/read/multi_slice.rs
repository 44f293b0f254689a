//! Several slices of one row as one read (2.1).

use std::cmp::Ordering;

use bytes::Bytes;

use super::Reads;
use crate::Result;
use crate::args::ColumnParent;
use crate::error::invalid;
use base::model::{Cell, Predicate, RowColumns, SliceRange};

/// The arguments of get_multi_slice. An empty bound is open.
#[derive(Debug, Clone)]
pub struct MultiSliceRequest {
    /// The key of the row.
    pub key: Bytes,
    /// The column family.
    pub column_parent: ColumnParent,
    /// The start and finish of each slice.
    pub slices: Vec<(Bytes, Bytes)>,
    /// Whether columns are returned in descending order.
    pub reversed: bool,
    /// The largest number of columns to return.
    pub count: i32,
}

impl Reads<'_> {
    /// Returns the columns in any of the slices, each once, at most `count`.
    pub async fn get_multi_slice(&self, request: MultiSliceRequest) -> Result<Vec<Cell>> {
        let checks = self.request.validation();
        let cf = checks.family(self.request.keyspace, &request.column_parent.column_family)?;
        if cf.is_super() {
            return invalid("get_multi_slice does not support super columns");
        }
        checks.parent_in(cf, &request.column_parent)?;
        self.check_consistency()?;
        let comparator = checks.comparator(cf, false);
        let mut slices = Vec::with_capacity(request.slices.len());
        for (at, (start, finish)) in request.slices.iter().enumerate() {
            for bound in [start, finish] {
                checks.page_start(cf, bound)?;
            }
            let order = comparator.compare(start, finish);
            let is_bounded = !start.is_empty() && !finish.is_empty();
            if is_bounded && !request.reversed && order.is_gt() {
                return invalid(format!("Column slice at index {at} had start greater than finish"));
            }
            let is_open = !is_bounded || order.is_eq();
            let is_refused = is_open && self.request.behaviour.reads.reversed_slices_need_bounds;
            if request.reversed && (is_bounded && order.is_lt() || is_refused) {
                return invalid(format!("Reversed column slice at index {at} had start less than finish"));
            }
            slices.push((start.clone(), finish.clone()));
        }
        checks.key(&request.key, Some(cf))?;
        self.request.check_replicas_to_read()?;
        let merged = merge(slices, |a, b| {
            let order = comparator.compare(a, b);
            if request.reversed { order.reverse() } else { order }
        });
        let mut left = usize::try_from(request.count).unwrap_or(0);
        let mut found = Vec::new();
        for (start, finish) in merged {
            if left == 0 {
                break;
            }
            let range = SliceRange { start, finish, reversed: request.reversed, count: left };
            let command = self.request.command(cf, None, Predicate::Range(range));
            let read =
                self.request.store().read(request.key.clone(), command, self.request.consistency).await?;
            if let RowColumns::Cells(cells) = read {
                debug_assert!(cells.len() <= left, "the result would have more columns than asked for");
                left -= cells.len().min(left);
                found.extend(cells);
            }
        }
        Ok(found)
    }
}

/// Sorts slices and merges those that overlap. `in_order` is the order of the traversal, in which an empty start is
/// first and an empty finish last.
fn merge(
    mut slices: Vec<(Bytes, Bytes)>,
    in_order: impl Fn(&[u8], &[u8]) -> Ordering,
) -> Vec<(Bytes, Bytes)> {
    slices.sort_by(|(a, _), (b, _)| match (a.is_empty(), b.is_empty()) {
        (true, true) => Ordering::Equal,
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => in_order(a, b),
    });
    let mut merged: Vec<(Bytes, Bytes)> = Vec::with_capacity(slices.len());
    for (start, finish) in slices {
        match merged.last_mut() {
            Some((_, last)) if last.is_empty() || start.is_empty() || in_order(&start, last).is_le() => {
                if !last.is_empty() && (finish.is_empty() || in_order(&finish, last).is_gt()) {
                    *last = finish;
                }
            }
            _ => merged.push((start, finish)),
        }
    }
    debug_assert!(
        merged.windows(2).all(|pair| !pair[0].1.is_empty() && in_order(&pair[0].1, &pair[1].0).is_lt()),
        "merged slices neither overlap nor touch"
    );
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slices(pairs: &[(&'static str, &'static str)]) -> Vec<(Bytes, Bytes)> {
        pairs.iter().map(|(start, finish)| (Bytes::from(*start), Bytes::from(*finish))).collect()
    }

    #[test]
    fn overlapping_slices_become_one() {
        let forwards = |a: &[u8], b: &[u8]| a.cmp(b);
        let backwards = |a: &[u8], b: &[u8]| b.cmp(a);
        let merged = merge(slices(&[("e", "g"), ("a", "c"), ("b", "d")]), forwards);
        assert_eq!(merged, slices(&[("a", "d"), ("e", "g")]));
        assert_eq!(merge(slices(&[("b", ""), ("c", "d"), ("", "b")]), forwards), slices(&[("", "")]));
        assert_eq!(
            merge(slices(&[("c", "a"), ("d", "b"), ("z", "y")]), backwards),
            slices(&[("z", "y"), ("d", "a")])
        );
    }
}
