//! The secrets that prepared statements can have.

use std::ops::BitOrAssign;

use crate::limits::TRAFFIC_PREPARED_MAX;
use crate::newest::Newest;

/// The secrets that the statements of a call can have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StatementKind {
    /// Bound values and errors can have a password.
    pub has_passwords: bool,
    /// The result can have hashes of passwords, or the statements of other clients.
    pub reads_secrets: bool,
}

impl StatementKind {
    /// Returns whether a statement names the hashes of passwords, their keyspace or the keyspace of traces.
    pub(super) fn reads_secrets(text: &str) -> bool {
        const NAMES: [&[u8]; 3] = [b"salted_hash", b"system_auth", b"system_traces"];
        let is_at = |at: usize, name: &&[u8]| {
            text.as_bytes().get(at..at + name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name))
        };
        let starts = text.bytes().enumerate().filter(|(_, byte)| matches!(byte, b's' | b'S'));
        starts.map(|(at, _)| at).any(|at| NAMES.iter().any(|name| is_at(at, name)))
    }
}

impl BitOrAssign for StatementKind {
    fn bitor_assign(&mut self, other: StatementKind) {
        self.has_passwords |= other.has_passwords;
        self.reads_secrets |= other.reads_secrets;
    }
}

/// The kinds of prepared statements, by the ids of the server. Connections share them.
#[derive(Debug)]
pub(super) struct PreparedKinds(Newest<StatementKind>);

impl Default for PreparedKinds {
    fn default() -> PreparedKinds {
        PreparedKinds(Newest::new(TRAFFIC_PREPARED_MAX))
    }
}

impl PreparedKinds {
    /// Remembers a statement, and forgets the oldest if there are too many.
    pub(super) fn add(&mut self, id: &[u8], kind: StatementKind) {
        self.0.put(id, kind);
    }

    /// Returns the kind of a statement; `None` if it was prepared before the recording began, or was forgotten.
    pub(super) fn get(&self, id: &[u8]) -> Option<StatementKind> {
        self.0.get(id).copied()
    }
}
