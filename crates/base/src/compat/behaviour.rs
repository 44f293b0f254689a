//! The behaviour of a release: all its rules.

use super::Line;
use super::rules::{CellRules, CqlRules, LoginRules, ReadRules, SchemaRules, WireRules, WriteRules};
use crate::util::Release;

/// The behaviour of one release where releases differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Behaviour {
    /// The release, whose comparators, messages and features apply.
    pub release: Release,
    /// Rules of cells and tombstones.
    pub cells: CellRules,
    /// Rules of reads over Thrift.
    pub reads: ReadRules,
    /// Rules of writes over Thrift.
    pub writes: WriteRules,
    /// Rules of definitions of keyspaces and column families.
    pub schema: SchemaRules,
    /// Rules of logins and permissions.
    pub logins: LoginRules,
    /// Rules of Thrift messages.
    pub wire: WireRules,
    /// Rules of CQL 3 statements.
    pub cql: CqlRules,
}

impl Behaviour {
    /// Returns the behaviour of a release.
    pub fn of(release: Release) -> &'static Behaviour {
        &TABLE[release as usize]
    }

    /// Returns whether a cell that expires at `expires_at_s` has expired at `now_s`. Both are seconds since 1970.
    pub fn is_expired(&self, expires_at_s: i32, now_s: i32) -> bool {
        if self.cells.expires_when_second_begins { now_s >= expires_at_s } else { now_s > expires_at_s }
    }

    /// Returns the release's line.
    pub fn line(&self) -> Line {
        Line::of(self.release)
    }

    const fn row(release: Release) -> Behaviour {
        let line = Line::of(release);
        Behaviour {
            release,
            cells: CellRules::of(line),
            reads: ReadRules::of(line),
            writes: WriteRules::of(line),
            schema: SchemaRules::of(line),
            logins: LoginRules::of(line),
            wire: WireRules::of(line),
            cql: CqlRules::of(line),
        }
    }
}

impl From<&Behaviour> for Line {
    fn from(behaviour: &Behaviour) -> Line {
        Line::of(behaviour.release)
    }
}

/// One row per release, in the order of [`Release::ALL`].
static TABLE: [Behaviour; Release::ALL.len()] = {
    let mut table = [const { Behaviour::row(Release::V0_3) }; Release::ALL.len()];
    let mut at = 0;
    while at < table.len() {
        assert!(Release::ALL[at] as usize == at, "a release would have the rules of another one");
        table[at] = Behaviour::row(Release::ALL[at]);
        at += 1;
    }
    table
};
