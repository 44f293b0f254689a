//! The requests of the journal, counted.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::pages::home::count;
use crate::present::escaped;
use db::faults::{Journal, JournalEntry};

/// Groups of requests that the page shows.
const GROUPS_MAX: usize = 100;

/// Requests of one method to one column family.
pub(super) struct AskedGroup {
    pub method: String,
    pub place: String,
    pub requests: String,
    pub failed: String,
}

/// Counts the requests of the journal. Returns the most frequent groups, and how many are left out.
pub(super) fn asked(journal: &Journal) -> (Vec<AskedGroup>, usize) {
    let mut groups: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    journal.visit(|entry| {
        let (requests, failed) = groups.entry((method_of(entry), place_of(entry))).or_default();
        *requests += 1;
        *failed += u64::from(entry.error.is_some());
    });
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, (requests, _))| Reverse(*requests));
    let left_out = groups.len().saturating_sub(GROUPS_MAX);
    let shown = groups.into_iter().take(GROUPS_MAX).map(|((method, place), (requests, failed))| AskedGroup {
        method: escaped(method.as_bytes()),
        place: escaped(place.as_bytes()),
        requests: count(requests),
        failed: count(failed),
    });
    (shown.collect(), left_out)
}

/// Returns the method; of a CQL statement also its first word.
fn method_of(entry: &JournalEntry) -> String {
    match &entry.statement {
        Some(statement) => format!("{} {statement}", entry.method),
        None => entry.method.clone(),
    }
}

fn place_of(entry: &JournalEntry) -> String {
    let family = entry.rows.first().map(|row| row.column_family.as_str());
    let parts = [entry.keyspace.as_deref(), family];
    parts.into_iter().flatten().collect::<Vec<_>>().join(".")
}
