//! The kinds of data that are redacted.

use std::str::FromStr;

/// The meaning of bytes in a Thrift call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The value of a column.
    Value,
    /// A row key.
    Key,
    /// The name of a column or super column.
    Name,
}

impl Role {
    const ALL: [Role; 3] = [Role::Value, Role::Key, Role::Name];

    /// Returns the role as the command line and headers of recordings name it.
    pub fn word(self) -> &'static str {
        match self {
            Role::Value => "values",
            Role::Key => "keys",
            Role::Name => "names",
        }
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(word: &str) -> Result<Role, String> {
        Role::ALL
            .into_iter()
            .find(|role| role.word() == word)
            .ok_or_else(|| format!("{word:?} cannot be redacted: use values, keys or names"))
    }
}

/// A set of roles.
#[derive(Debug, Clone, Default)]
pub struct Roles(Vec<Role>);

impl Roles {
    /// Creates a set of roles.
    pub fn new(roles: &[Role]) -> Roles {
        Roles(Role::ALL.into_iter().filter(|role| roles.contains(role)).collect())
    }

    /// Returns whether the set has a role.
    pub fn has(&self, role: Role) -> bool {
        self.0.contains(&role)
    }

    /// Returns the words of the roles, for the header of a recording.
    pub fn words(&self) -> Vec<String> {
        self.0.iter().map(|role| role.word().to_owned()).collect()
    }
}
