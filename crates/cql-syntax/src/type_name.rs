//! Parsed types.

/// A type whose names have not been looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeName {
    /// A native type, or a user-defined type of the keyspace.
    Named {
        keyspace: Option<String>,
        name: String,
    },
    /// A user-defined type: the statement's language has no native type with this name.
    Users(String),
    /// A class name in quotes.
    Custom(String),
    List(Box<TypeName>),
    Set(Box<TypeName>),
    Map(Box<TypeName>, Box<TypeName>),
    Tuple(Vec<TypeName>),
    Frozen(Box<TypeName>),
}
