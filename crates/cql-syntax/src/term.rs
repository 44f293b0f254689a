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
        text: Box<str>,
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
    Function(Box<FunctionCall>),
    /// `(int)3`.
    Cast {
        cql_type: Box<TypeName>,
        term: Box<Term>,
    },
}

// A statement has up to half a million terms.
const _: () = assert!(size_of::<Term>() <= 32);

/// The call of a function in a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionCall {
    pub keyspace: Option<String>,
    pub name: String,
    pub arguments: Vec<Term>,
}
