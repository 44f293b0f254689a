//! Parsed values.

use super::TypeName;

/// The kind of a constant. Messages name it in capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConstantKind {
    String,
    Integer,
    Uuid,
    Float,
    Boolean,
    Hex,
    /// `1y2mo`, of 3.10.
    Duration,
}

/// A value without a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// The text is without quotes; the text of a blob keeps its `0x`.
    Constant {
        kind: ConstantKind,
        text: String,
    },
    Null,
    /// `?` or `:name`: the index in the statement's list of markers.
    Marker(usize),
    List(Vec<Term>),
    /// A set. `{}` may also be an empty map.
    Set(Vec<Term>),
    Map(Vec<(Term, Term)>),
    Tuple(Vec<Term>),
    /// `{field: value}`.
    User(Vec<(String, Term)>),
    Function {
        keyspace: Option<String>,
        name: String,
        arguments: Vec<Term>,
    },
    /// `(int)3`.
    Cast {
        cql_type: TypeName,
        term: Box<Term>,
    },
}
