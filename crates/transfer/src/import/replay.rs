//! Decides which writes of commit logs are replayed: those that no SSTable of their column family has, as the servers
//! did it.
//!
//! ```text
//!   segment 5   |--- written ---|                  SSTables up to here: the server does not replay these
//!                               |--- written ---|  replayed
//! ```
//!
//! A write that is in an SSTable must not be replayed. An increment up to 2.0 would count twice, and a write whose
//! tombstone was purged by a compaction would come back. The same holds for writes before a TRUNCATE, whose position
//! `system.local` has from 1.2 on.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::log_families::LogFamilies;
use super::schema::{SchemaRow, read_system_rows};
use super::{FamilyName, ImportError, Inventory};
use sstable::{Flushed, LogPosition, SstableError};

/// Intervals of positions in commit logs. Beginnings do not belong to them, ends do.
type Intervals = Vec<(LogPosition, LogPosition)>;

/// Bytes of a position in `system.local`.
const POSITION_BYTES: usize = 12;

/// The writes that are in SSTables, by node and column family.
#[derive(Debug, Default)]
pub(super) struct Replay {
    flushed: HashMap<(usize, FamilyName), Intervals>,
    /// SSTables whose positions cannot be read, and damaged system tables. All writes of their column families are replayed.
    pub unreadable: Vec<SstableError>,
}

impl Replay {
    /// Reads the positions in the SSTables, and the positions of TRUNCATE in the system tables.
    ///
    /// # Errors
    ///
    /// If `system.local` is damaged, unless damage is skipped.
    pub(super) fn of(
        inventory: &Inventory,
        families: &LogFamilies,
        skips_damage: bool,
    ) -> Result<Replay, ImportError> {
        let mut replay = Replay::default();
        let mut last_segments: HashMap<usize, i64> = HashMap::new();
        for log in &inventory.commit_logs {
            let name = log.path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            let id = name.rsplit('-').next().and_then(|id| id.parse().ok()).unwrap_or(i64::MAX);
            let last = last_segments.entry(log.node).or_insert(id);
            *last = (*last).max(id);
        }
        let mut locals = HashMap::new();
        for (node, row) in local_rows(inventory) {
            match row {
                Ok(row) => drop(locals.insert(node, row)),
                Err(error) if skips_damage => replay.unreadable.push(error),
                Err(error) => return Err(error.into()),
            }
        }
        for (name, tables) in &inventory.families {
            for table in tables {
                let Some(last) = last_segments.get(&table.node) else { continue };
                let flushed = match Flushed::of(&table.descriptor) {
                    Ok(flushed) => flushed,
                    Err(error) => {
                        replay.unreadable.push(error);
                        continue;
                    }
                };
                let host = locals.get(&table.node).and_then(|row| row.bytes("host_id"));
                // An SSTable that was copied from another node has positions in the logs of that node.
                if flushed.node.zip(host).is_some_and(|(of, own)| own[..] != of) {
                    continue;
                }
                // Up to 1.1.4 ids of segments came from a clock that restarts with the machine: an SSTable can have a
                // position after all logs. 1.1.6 and later, from `hf` on, ignore such positions.
                let may_be_wrong = !table.descriptor.format.has_lasting_log_positions();
                let mut intervals = flushed.intervals;
                intervals.retain(|(_, end)| !may_be_wrong || end.segment <= *last);
                replay.flushed.entry((table.node, name.clone())).or_default().extend(intervals);
            }
        }
        for (node, row) in &locals {
            for (name, end) in truncations(row, families) {
                let intervals = replay.flushed.entry((*node, name)).or_default();
                intervals.push((LogPosition::NONE, end));
            }
        }
        replay.flushed.values_mut().for_each(join);
        Ok(replay)
    }

    /// Whether a write of a column family in a commit log of a node is in no SSTable.
    pub(super) fn needs(&self, node: usize, family: &FamilyName, position: LogPosition) -> bool {
        let Some(intervals) = self.flushed.get(&(node, family.clone())) else { return true };
        let after = intervals.partition_point(|(start, _)| *start < position);
        let before = after.checked_sub(1).and_then(|at| intervals.get(at));
        before.is_none_or(|(_, end)| *end < position)
    }
}

/// Returns the row of `system.local` of each node that has one.
fn local_rows(inventory: &Inventory) -> HashMap<usize, Result<SchemaRow, SstableError>> {
    let local = FamilyName { keyspace: "system".to_owned(), name: "local".to_owned() };
    let tables = inventory.system.get(&local).map_or(&[][..], Vec::as_slice);
    let mut found = HashMap::new();
    for node in tables.iter().map(|table| table.node) {
        if let Entry::Vacant(place) = found.entry(node) {
            let own: Vec<_> = tables.iter().filter(|table| table.node == node).cloned().collect();
            let rows = read_system_rows(&own, 0, false);
            let row = rows.map(|rows| rows.into_iter().find(|row| row.keyspace == "local"));
            place.insert(row.map(Option::unwrap_or_default));
        }
    }
    found
}

/// Returns the position before which a column family was truncated, for each that was.
fn truncations(row: &SchemaRow, families: &LogFamilies) -> Vec<(FamilyName, LogPosition)> {
    let records = row.entries("truncated_at").filter_map(|(id, record)| {
        let name = families.name_of(id.as_ref().try_into().ok()?)?;
        let (segment, rest) = record.get(..POSITION_BYTES)?.split_first_chunk::<8>()?;
        let position = u32::from_be_bytes(rest.try_into().ok()?);
        Some((name, LogPosition { segment: i64::from_be_bytes(*segment), position }))
    });
    records.collect()
}

/// Sorts intervals, and joins those that overlap.
fn join(intervals: &mut Intervals) {
    intervals.sort();
    let mut joined: Intervals = Vec::with_capacity(intervals.len());
    for (start, end) in intervals.drain(..) {
        match joined.last_mut() {
            Some((_, last)) if start <= *last => *last = end.max(*last),
            _ => joined.push((start, end)),
        }
    }
    *intervals = joined;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_in_intervals_are_not_replayed() {
        let at = |segment, position| LogPosition { segment, position };
        let mut intervals =
            vec![(at(3, 10), at(3, 20)), (at(1, 5), at(2, 7)), (at(2, 7), at(2, 9)), (at(3, 15), at(3, 18))];
        join(&mut intervals);
        assert_eq!(intervals, [(at(1, 5), at(2, 9)), (at(3, 10), at(3, 20))]);
        let name = FamilyName { keyspace: "Shop".to_owned(), name: "Carts".to_owned() };
        let mut replay = Replay::default();
        replay.flushed.insert((0, name.clone()), intervals);
        for (position, is_replayed) in [
            (at(0, 90), true),
            (at(1, 5), true),
            (at(1, 6), false),
            (at(2, 9), false),
            (at(2, 10), true),
            (at(3, 10), true),
            (at(3, 11), false),
            (at(3, 20), false),
            (at(3, 21), true),
        ] {
            assert_eq!(replay.needs(0, &name, position), is_replayed, "{position:?}");
        }
        assert!(replay.needs(1, &name, at(1, 6)), "the logs of another node");
    }
}
