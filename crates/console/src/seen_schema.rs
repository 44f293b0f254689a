//! The keyspaces and column families that a visitor sees: for the side bar, and for the lists of forms.

use std::fmt;
use std::sync::{Arc, OnceLock};

use base::compat::features::releases::NEWEST;
use base::schema::{CfDef, KeyspaceDef};
use db::{Access, Database, User, is_reserved};

/// Returns whether a user may read a column family.
pub(crate) fn may_read(cf: &CfDef, user: &User) -> bool {
    let access = Access::Read { keyspace: cf.keyspace.as_bytes(), family: cf.name.as_bytes() };
    user.check(access, NEWEST).is_ok()
}

/// Returns the column families of a keyspace that a user may read.
pub(crate) fn readable<'a>(
    keyspace: &'a KeyspaceDef,
    user: &'a User,
) -> impl Iterator<Item = &'a Arc<CfDef>> {
    keyspace.column_families.values().filter(|cf| may_read(cf, user))
}

/// Returns whether a user sees a keyspace: superusers see all, others those with a column family that they may read.
pub(crate) fn may_see(keyspace: &KeyspaceDef, user: &User) -> bool {
    user.may_everything() || readable(keyspace, user).next().is_some()
}

/// A keyspace with the column families that the visitor may read.
pub(crate) struct SeenKeyspace {
    pub name: String,
    /// Whether it belongs to the server.
    pub is_reserved: bool,
    pub families: Vec<Arc<CfDef>>,
}

/// The keyspaces of a visitor. They are looked up when a page needs them: requests of programs do not.
pub(crate) struct SeenSchema {
    database: Arc<Database>,
    user: User,
    keyspaces: OnceLock<Vec<SeenKeyspace>>,
}

impl fmt::Debug for SeenSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeenSchema").field("user", &self.user).finish_non_exhaustive()
    }
}

impl SeenSchema {
    pub(crate) fn new(database: Arc<Database>, user: User) -> SeenSchema {
        SeenSchema { database, user, keyspaces: OnceLock::new() }
    }

    /// Returns the keyspaces in the order of their names, those of the server among them.
    pub(crate) fn keyspaces(&self) -> &[SeenKeyspace] {
        self.keyspaces.get_or_init(|| {
            let catalog = self.database.catalog();
            let seen = catalog.keyspaces.values().filter(|keyspace| may_see(keyspace, &self.user));
            seen.map(|keyspace| SeenKeyspace {
                name: keyspace.name.clone(),
                is_reserved: is_reserved(self.database.store().capabilities(), &keyspace.name),
                families: readable(keyspace, &self.user).cloned().collect(),
            })
            .collect()
        })
    }

    /// Returns the keyspaces of users.
    pub(crate) fn own(&self) -> impl Iterator<Item = &SeenKeyspace> {
        self.keyspaces().iter().filter(|keyspace| !keyspace.is_reserved)
    }
}
