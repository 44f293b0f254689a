//! Splits the ring for batch jobs: evenly, by a node's estimate of the number of rows.
//!
//! A node estimates the number of rows on its disk every few minutes. It only knows its own part of the ring, so the
//! rest is assumed to have as many rows.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::link::Link;
use super::rows::{Field, number};
use super::values::DriverValues;
use crate::limits::CLUSTER_SPLITS_MAX;
use base::partitioner::Partitioner;
use store::Result;
use store::even_ring::EvenRing;

const ESTIMATES: &str = "SELECT table_name, range_start, range_end, partitions_count FROM system.size_estimates \
                         WHERE keyspace_name = ?";

/// Returns the inner boundaries of parts with about `keys_per_split` rows each, over all tables of some keyspaces. None
/// for partitioners that keep the order of keys, since the distribution of rows within a range is not known then.
pub(super) async fn splits(
    link: &Link,
    partitioner: &dyn Partitioner,
    keyspaces: Vec<String>,
    start: &[u8],
    end: &[u8],
    keys_per_split: usize,
) -> Result<Vec<Vec<u8>>> {
    let Some(ring) = EvenRing::of(partitioner) else { return Ok(Vec::new()) };
    let mut rows = 0.0;
    for keyspace in keyspaces {
        let estimates = link.ask(ESTIMATES, DriverValues::default().bytes(keyspace.into())).await?;
        rows += rows_of(ring, partitioner, estimates);
    }
    let parts = rows * ring.share(start, end) / keys_per_split.max(1) as f64;
    // The cast limits too large values to the largest number.
    Ok(ring.cut(start, end, (parts.ceil() as usize).min(CLUSTER_SPLITS_MAX)))
}

/// Returns the number of rows of all tables of a keyspace on the whole ring, from a node's estimates of its ranges.
fn rows_of(ring: EvenRing, partitioner: &dyn Partitioner, estimates: Vec<Vec<Field>>) -> f64 {
    let token = |field: Field| {
        let text = field.unwrap_or_default();
        partitioner.parse_token(&String::from_utf8_lossy(&text)).ok()
    };
    // For each table, the estimated rows and the share of the ring they are in.
    let mut tables: BTreeMap<Bytes, (f64, f64)> = BTreeMap::new();
    for mut estimate in estimates {
        let mut next = || (!estimate.is_empty()).then(|| estimate.remove(0)).flatten();
        let (table, start, end) = (next().unwrap_or_default(), token(next()), token(next()));
        let count = next().and_then(|count| number(&count)).unwrap_or_default();
        if let (Some(start), Some(end)) = (start, end) {
            let known = tables.entry(table).or_default();
            known.0 += count as f64;
            known.1 += ring.share(&start, &end);
        }
    }
    tables.values().map(|(rows, share)| rows / share).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::partitioner::Murmur3Partitioner;

    #[test]
    fn estimates_of_a_part_are_extended_to_the_whole_ring() {
        let ring = EvenRing::of(&Murmur3Partitioner).unwrap();
        let low = "-9223372036854775808";
        let estimate = |table: &str, start: &str, end: &str, count: i64| {
            let text = |text: &str| Some(Bytes::copy_from_slice(text.as_bytes()));
            let count = Some(Bytes::copy_from_slice(&count.to_be_bytes()));
            vec![text(table), text(start), text(end), count]
        };
        let rows = |estimates| rows_of(ring, &Murmur3Partitioner, estimates);
        assert_eq!(rows(vec![]), 0.0);
        assert_eq!(rows(vec![estimate("a", low, "0", 10), estimate("a", "0", low, 30)]), 40.0);
        // Half of the ring has 10; the other table's rows are added.
        assert_eq!(rows(vec![estimate("a", low, "0", 10), estimate("b", "0", low, 30)]), 80.0);
        assert_eq!(rows(vec![estimate("a", "x", "0", 10), vec![]]), 0.0);
    }
}
