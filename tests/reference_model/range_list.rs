//! The range tombstones of one level as Cassandra 2.1 keeps them: a list of runs that do not overlap.
//!
//! A read by names asks the list for the run of each name, and keeps that run for the next names which it reaches. So
//! the places where runs are cut decide what a read by names sees. Names are numbers here: 1 is the smallest bound,
//! or asked name, of the level, 0 is before all names and [`usize::MAX`] after them.
//!
//! ```text
//!   tombstones          a..c @5    b..b @7           runs of both
//!                       |--------------|
//!                              |             ->      a..b @5 | b..b @7 | b..c @5
//!
//!   names a and b are asked for: a finds a..b, which reaches b. So b @6 is shown.
//!   only b is asked for: of the three runs that hold b, b..b @7 is the latest. So b @6 is hidden.
//! ```

use std::cmp::Ordering;

use bytes::Bytes;
use thriftstore::marshal::AbstractType;
use thriftstore::model::RangeDeletion;

const AFTER_ALL: usize = usize::MAX;

/// The names between two others, both included, that were deleted last at one timestamp.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Run {
    start: usize,
    finish: usize,
    timestamp: i64,
}

/// Returns those of the asked names that a read takes to be in the run of an earlier asked name.
pub fn names_in_earlier_runs(
    ranges: &[RangeDeletion],
    asked: &[Bytes],
    comparator: &dyn AbstractType,
) -> Vec<Bytes> {
    let mut known: Vec<&Bytes> = asked.iter().collect();
    known.extend(ranges.iter().flat_map(|range| [&range.start, &range.finish]));
    known.retain(|name| !name.is_empty());
    known.sort_by(|one, other| comparator.compare(one, other));
    known.dedup_by(|one, other| comparator.compare(one, other) == Ordering::Equal);
    let number = |name: &Bytes| {
        1 + known.iter().position(|other| comparator.compare(name, other) == Ordering::Equal).unwrap()
    };
    let runs = runs_of(ranges, number);
    let mut asked: Vec<usize> = asked.iter().map(number).collect();
    asked.sort_unstable();
    asked.dedup();
    let mut found: Option<Run> = None;
    let mut reached = Vec::new();
    for name in asked {
        if found.is_some_and(|run| name <= run.finish) {
            reached.push(known[name - 1].clone());
        } else {
            found = latest_at(&runs, name);
        }
    }
    reached
}

/// The latest run that holds a name; of two with the same timestamp the second.
fn latest_at(runs: &[Run], name: usize) -> Option<Run> {
    let holding = runs.iter().filter(|run| run.start <= name && name <= run.finish);
    holding.max_by_key(|run| run.timestamp).copied()
}

/// Cuts tombstones into runs. 2.1 cuts them in the order in which they arrive. No store remembers that order, so the
/// rule is that they arrive by timestamp, and those of one timestamp by their bounds.
fn runs_of(ranges: &[RangeDeletion], number: impl Fn(&Bytes) -> usize) -> Vec<Run> {
    let run = |range: &RangeDeletion| Run {
        start: if range.start.is_empty() { 0 } else { number(&range.start) },
        finish: if range.finish.is_empty() { AFTER_ALL } else { number(&range.finish) },
        timestamp: range.deletion.marked_for_delete_at,
    };
    let mut tombstones: Vec<Run> = ranges.iter().map(run).collect();
    tombstones.retain(|run| run.start <= run.finish);
    tombstones.sort_by_key(|run| (run.timestamp, run.start, run.finish));
    tombstones.into_iter().fold(Vec::new(), |runs, tombstone| laid(&runs, tombstone))
}

/// Lays a tombstone over a list of runs and returns the new list.
fn laid(runs: &[Run], tombstone: Run) -> Vec<Run> {
    let mut list = Vec::new();
    // What is left of the tombstone to be laid.
    let mut rest = Some(tombstone);
    for (at, run) in runs.iter().enumerate() {
        let is_last = at + 1 == runs.len();
        rest = match rest {
            None => {
                list.push(*run);
                None
            }
            Some(new) if run.finish < new.start => {
                list.push(*run);
                Some(new)
            }
            Some(new) if run.finish == new.start => beginning_at_the_end_of(*run, new, &mut list),
            Some(new) if new.timestamp > run.timestamp => over(*run, new, is_last, &mut list),
            Some(new) => beside(*run, new, &mut list),
        };
    }
    list.extend(rest);
    list
}

/// A run ends where the tombstone begins. Both hold that name, unless the run is nothing but that name: then the later
/// one has it.
fn beginning_at_the_end_of(run: Run, new: Run, list: &mut Vec<Run>) -> Option<Run> {
    let is_one_name = run.start == run.finish;
    if is_one_name && new.timestamp > run.timestamp {
        return Some(new);
    }
    list.push(run);
    let is_covered = is_one_name && new.start == new.finish;
    (!is_covered).then_some(new)
}

/// The tombstone is later than the run and takes its place as far as it reaches. 2.1 cuts it where the run ends,
/// unless that was the last run.
fn over(run: Run, new: Run, is_last: bool, list: &mut Vec<Run>) -> Option<Run> {
    if run.start < new.start {
        list.push(Run { finish: new.start, ..run });
    }
    let only_touches = new.finish == run.start && run.start != run.finish;
    if new.finish < run.start || only_touches {
        list.extend([new, run]);
        return None;
    }
    if new.finish < run.finish {
        list.extend([new, Run { start: new.finish, ..run }]);
        return None;
    }
    if new.finish == run.finish || is_last {
        list.push(new);
        return None;
    }
    list.push(Run { finish: run.finish, ..new });
    Some(Run { start: run.finish, ..new })
}

/// The run stays. The tombstone has what is before the run and what is after it.
fn beside(run: Run, new: Run, list: &mut Vec<Run>) -> Option<Run> {
    if new.start < run.start {
        list.push(Run { finish: new.finish.min(run.start), ..new });
    }
    list.push(run);
    (new.finish > run.finish).then_some(Run { start: run.finish, ..new })
}
