//! Parsed values.

use smol_str::SmolStr;

use super::TypeName;

/// The kind of a constant. Messages name it in capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
pub enum ConstantKind {
    /// `'text'` or `$$text$$`.
    String,
    /// `-12`.
    Integer,
    /// A UUID without quotes.
    Uuid,
    /// `1.5e3`, `NaN` or `Infinity`.
    Float,
    /// `true` or `false`, in any case.
    Boolean,
    /// A blob: `0xcafe`.
    Hex,
    /// `1y2mo`, of 3.10.
    Duration,
}

/// A value without a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// The text is without quotes; the text of a blob keeps its `0x`.
    Constant {
        /// The kind of the constant, by its syntax.
        kind: ConstantKind,
        /// The constant without quotes.
        text: SmolStr,
    },
    /// `null`.
    Null,
    /// `?` or `:name`: the index in the statement's list of markers.
    Marker(usize),
    /// `[a, b]`.
    List(Vec<Term>),
    /// A set. `{}` may also be an empty map.
    Set(Vec<Term>),
    /// `{a: b, c: d}`, in the order of the text.
    Map(Vec<(Term, Term)>),
    /// `(a, b)`.
    Tuple(Vec<Term>),
    /// `{field: value}`.
    User(Vec<(String, Term)>),
    /// `f(a, b)`.
    Function(Box<FunctionCall>),
    /// `(int)3`.
    Cast {
        /// The type in parentheses.
        cql_type: Box<TypeName>,
        /// The value behind it.
        term: Box<Term>,
    },
}

// A statement has up to half a million terms.
const _: () = assert!(size_of::<Term>() <= 32);

/// The call of a function in a term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionCall {
    /// The keyspace, if the term names it.
    pub keyspace: Option<String>,
    /// The function's name, which keeps its case.
    pub name: String,
    /// The arguments in the order of the text.
    pub arguments: Vec<Term>,
}
