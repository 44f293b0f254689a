//! The name of a column family.

use std::fmt;

use super::CfDef;

/// A column family by the names of its keyspace and its own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FamilyName {
    /// The name of the keyspace.
    pub keyspace: String,
    /// The name in the keyspace.
    pub name: String,
}

impl FamilyName {
    /// Returns the name of a column family.
    pub fn of(cf: &CfDef) -> FamilyName {
        FamilyName { keyspace: cf.keyspace.clone(), name: cf.name.clone() }
    }
}

impl fmt::Display for FamilyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.keyspace, self.name)
    }
}
