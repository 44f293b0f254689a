//! What one user may do, to clients of 0.7 and later.

use std::collections::BTreeMap;

use super::access::Access;

/// How much of a column family a user may do. Who may write may read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    ReadOnly,
    ReadWrite,
}

/// A user's rights, ready to be looked up at every call. Rights only add up: none takes away another.
#[derive(Debug, Clone, Default)]
pub struct Rights {
    changes_keyspaces: bool,
    keyspaces: BTreeMap<Vec<u8>, KeyspaceRights>,
}

#[derive(Debug, Clone, Default)]
struct KeyspaceRights {
    /// Column families may be added, changed and dropped. It says nothing about what is in them.
    changes_families: bool,
    /// What holds for every column family.
    of_all: Option<Level>,
    families: BTreeMap<Vec<u8>, Level>,
}

impl Rights {
    /// Allows to add, change and drop keyspaces.
    pub fn grant_keyspaces(&mut self) {
        self.changes_keyspaces = true;
    }

    /// Allows to add, change and drop column families of a keyspace.
    pub fn grant_definitions(&mut self, keyspace: &str) {
        self.of(keyspace).changes_families = true;
    }

    /// Allows to read and write all column families of a keyspace.
    pub fn grant_data(&mut self, keyspace: &str) {
        self.of(keyspace).of_all = Some(Level::ReadWrite);
    }

    /// Allows to read a column family, or also to write it.
    pub fn grant_family(&mut self, keyspace: &str, family: &str, level: Level) {
        let held = self.of(keyspace).families.entry(family.into()).or_insert(level);
        *held = level.max(*held);
    }

    fn of(&mut self, keyspace: &str) -> &mut KeyspaceRights {
        self.keyspaces.entry(keyspace.into()).or_default()
    }

    /// Whether the user may do this.
    pub fn allow(&self, access: Access<'_>) -> bool {
        match access {
            Access::AddKeyspace | Access::UpdateKeyspace { .. } | Access::DropKeyspace { .. } => {
                self.changes_keyspaces
            }
            Access::AddFamily { keyspace }
            | Access::UpdateFamily { keyspace, .. }
            | Access::DropFamily { keyspace, .. } => {
                self.keyspaces.get(keyspace).is_some_and(|rights| rights.changes_families)
            }
            Access::Read { keyspace, family } => self.level(keyspace, family) >= Some(Level::ReadOnly),
            Access::Write { keyspace, family } => self.level(keyspace, family) >= Some(Level::ReadWrite),
        }
    }

    fn level(&self, keyspace: &[u8], family: &[u8]) -> Option<Level> {
        let rights = self.keyspaces.get(keyspace)?;
        rights.families.get(family).copied().max(rights.of_all)
    }
}
