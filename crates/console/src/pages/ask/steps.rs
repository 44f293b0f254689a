//! The requests to the store, with the requests of one slice together: a long slice is read in pages.

use std::sync::Arc;

use bytes::Bytes;

use base::model::{Bounds, Predicate, ReadCommand, SliceRange};
use base::schema::CfDef;
use store::StoreRequest;

/// The rows that a step reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StepRows {
    Key(Bytes),
    Scan(Bounds),
}

/// Requests that read the same slice of the same rows.
#[derive(Debug, Clone)]
pub(super) struct ReadStep {
    pub cf: Arc<CfDef>,
    pub rows: StepRows,
    pub super_column: Option<Bytes>,
    /// The predicate of the first request.
    pub predicate: Predicate,
    /// The number of requests.
    pub requests: usize,
}

/// Groups requests, in the order of their first ones.
pub(super) fn read_steps(requests: &[StoreRequest]) -> Vec<ReadStep> {
    let mut steps: Vec<ReadStep> = Vec::new();
    for request in requests {
        let (rows, command) = match request {
            StoreRequest::Read { key, command } => (StepRows::Key(key.clone()), command),
            StoreRequest::Scan(scan) => (StepRows::Scan(scan.bounds.clone()), &scan.read),
            StoreRequest::Write(_) => continue,
        };
        match steps.iter_mut().find(|step| step.goes_on(&rows, command)) {
            Some(step) => step.requests += 1,
            None => steps.push(ReadStep {
                cf: command.cf.clone(),
                rows,
                super_column: command.super_column.clone(),
                predicate: command.predicate.clone(),
                requests: 1,
            }),
        }
    }
    steps
}

impl ReadStep {
    /// Returns whether a request reads more of the same slice: a later page begins where the page before has ended, so
    /// only the other end is the same. A scan continues in the same way with its rows.
    fn goes_on(&self, rows: &StepRows, command: &ReadCommand) -> bool {
        let same_rows = match (&self.rows, rows) {
            (StepRows::Scan(_), StepRows::Scan(_)) => true,
            (one, other) => one == other,
        };
        let same_names = match (&self.predicate, &command.predicate) {
            (Predicate::Range(one), Predicate::Range(other)) => {
                one.finish == other.finish && one.reversed == other.reversed
            }
            (one, other) => one == other,
        };
        let same_family = self.cf.name == command.cf.name && self.cf.keyspace == command.cf.keyspace;
        same_family && same_rows && same_names && self.super_column == command.super_column
    }

    /// Returns the slice, if it reads one.
    pub(super) fn slice(&self) -> Option<&SliceRange> {
        match &self.predicate {
            Predicate::Range(range) => Some(range),
            Predicate::Names(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::compat::Behaviour;
    use base::util::Release;

    fn read(key: &'static str, start: &'static str, finish: &'static str) -> StoreRequest {
        let command = ReadCommand {
            cf: Arc::new(CfDef::new("k", "f")),
            super_column: None,
            predicate: Predicate::Range(SliceRange {
                start: start.into(),
                finish: finish.into(),
                reversed: false,
                count: 10,
            }),
            behaviour: Behaviour::of(Release::V2_1),
            with_tombstones: false,
            gc_before: 0,
            now_s: 0,
        };
        StoreRequest::Read { key: key.into(), command }
    }

    #[test]
    fn the_pages_of_a_slice_are_one_step() {
        let requests = [
            read("a", "", "x"),
            read("a", "m", "x"),
            read("b", "", "x"),
            read("a", "", "c"),
            read("a", "p", "x"),
        ];
        let steps = read_steps(&requests);
        let seen: Vec<_> = steps
            .iter()
            .map(|step| (step.rows.clone(), step.slice().unwrap().finish.clone(), step.requests))
            .collect();
        let key = |key: &'static str| StepRows::Key(key.into());
        assert_eq!(seen, [(key("a"), "x".into(), 3), (key("b"), "x".into(), 1), (key("a"), "c".into(), 1)]);
        assert_eq!(steps[0].slice().unwrap().start, "");
    }
}
