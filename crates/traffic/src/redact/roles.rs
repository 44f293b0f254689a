//! The kinds of data that are redacted.

use std::str::FromStr;

/// The meaning of bytes in a Thrift call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataRole {
    /// The value of a column.
    Value,
    /// A row key.
    Key,
    /// The name of a column or super column.
    Name,
}

impl DataRole {
    const ALL: [DataRole; 3] = [DataRole::Value, DataRole::Key, DataRole::Name];

    /// Returns the role as the command line and headers of recordings name it.
    pub fn word(self) -> &'static str {
        match self {
            DataRole::Value => "values",
            DataRole::Key => "keys",
            DataRole::Name => "names",
        }
    }
}

impl FromStr for DataRole {
    type Err = String;

    fn from_str(word: &str) -> Result<DataRole, String> {
        DataRole::ALL
            .into_iter()
            .find(|role| role.word() == word)
            .ok_or_else(|| format!("{word:?} cannot be redacted: use values, keys or names"))
    }
}

/// A set of roles.
#[derive(Debug, Clone, Default)]
pub struct DataRoles(Vec<DataRole>);

impl DataRoles {
    /// Creates a set of roles.
    pub fn new(roles: &[DataRole]) -> DataRoles {
        DataRoles(DataRole::ALL.into_iter().filter(|role| roles.contains(role)).collect())
    }

    /// Returns whether the set has a role.
    pub fn has(&self, role: DataRole) -> bool {
        self.0.contains(&role)
    }

    /// Returns the words of the roles, for the header of a recording.
    pub fn words(&self) -> Vec<String> {
        self.0.iter().map(|role| role.word().to_owned()).collect()
    }
}
