//! Types as a statement writes them.

/// A type's text, not yet looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeName {
    /// One of Cassandra's own, or of the keyspace's types.
    Named {
        keyspace: Option<String>,
        name: String,
    },
    /// One of the keyspace's types: in the statement's language the name is none of Cassandra's own.
    Users(String),
    /// A class in quotes.
    Custom(String),
    List(Box<TypeName>),
    Set(Box<TypeName>),
    Map(Box<TypeName>, Box<TypeName>),
    Tuple(Vec<TypeName>),
    Frozen(Box<TypeName>),
}
