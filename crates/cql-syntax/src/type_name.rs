//! Parsed types.

/// A type whose names have not been looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeName {
    /// A native type, or a user-defined type of the keyspace.
    Named {
        /// The keyspace of a user-defined type, if the statement names it.
        keyspace: Option<String>,
        /// The name, in lower case unless it was in quotes.
        name: String,
    },
    /// A user-defined type: the statement's language has no native type with this name.
    Users(String),
    /// A class name in quotes.
    Custom(String),
    /// `list<element>`.
    List(Box<TypeName>),
    /// `set<element>`.
    Set(Box<TypeName>),
    /// `map<key, value>`.
    Map(Box<TypeName>, Box<TypeName>),
    /// `tuple<a, b>`.
    Tuple(Vec<TypeName>),
    /// `frozen<type>`: the collection or user-defined type is stored as one value.
    Frozen(Box<TypeName>),
}
