//! Values as a statement writes them.

use super::TypeName;

/// What kind of constant was written; messages name it in capitals.
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

/// A value, not yet of any type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// The text is that of the constant, without quotes; a blob's keeps its `0x`.
    Constant {
        kind: ConstantKind,
        text: String,
    },
    Null,
    /// `?` or `:name`: the place in the list of the statement's markers.
    Marker(usize),
    List(Vec<Term>),
    /// `{}` too, which may be an empty map.
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
