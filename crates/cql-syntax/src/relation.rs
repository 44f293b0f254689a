//! The conditions of WHERE and IF.

use super::{Part, Term};

/// The operator of a condition, except IN.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `=`.
    Eq,
    /// `!=`.
    Neq,
    /// `<`.
    Lt,
    /// `<=`.
    Lte,
    /// `>`.
    Gt,
    /// `>=`.
    Gte,
    /// `CONTAINS`: an element of a list or set, or a value of a map.
    Contains,
    /// `CONTAINS KEY`: a key of a map.
    ContainsKey,
}

/// The right side of IN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InValues {
    /// `(1, 2)`, which may be empty.
    List(Vec<Term>),
    /// The index of a marker for the whole list.
    Marker(usize),
}

/// One condition of WHERE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relation {
    /// `c > 1`, or with an element `m['k'] = 1`.
    Column {
        /// The restricted column.
        column: String,
        /// The key or index in brackets.
        element: Option<Term>,
        /// The comparison.
        operator: Operator,
        /// The compared value.
        value: Term,
    },
    /// `c IN (1, 2)`.
    In {
        /// The restricted column.
        column: String,
        /// The values of which one must be equal.
        values: InValues,
    },
    /// `(a, b) > (1, 2)`; the value is a tuple or a marker.
    Columns {
        /// The clustering columns in parentheses.
        columns: Vec<String>,
        /// The comparison.
        operator: Operator,
        /// A tuple with a value for each column, or a marker.
        value: Term,
    },
    /// `(a, b) IN ((1, 2), (3, 4))`.
    ColumnsIn {
        /// The clustering columns in parentheses.
        columns: Vec<String>,
        /// Tuples, or a marker for each of them or for all.
        values: InValues,
    },
    /// `token(a, b) > 5`.
    Token {
        /// The columns of the partition key.
        columns: Vec<String>,
        /// The comparison.
        operator: Operator,
        /// The compared token, or a call of `token`.
        value: Term,
    },
}

/// One condition of IF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The column whose existing value is tested.
    pub column: String,
    /// `IF m['k'] = 1`, `IF a.street = 'x'`.
    pub part: Option<Part>,
    /// The comparison with the existing value.
    pub test: Test,
}

/// The right side of a condition of IF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// `= 1`.
    Compare(Operator, Term),
    /// `IN (1, 2)`.
    In(InValues),
}

/// The conditions of a modification on the existing row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Conditions {
    /// The modification is unconditional.
    #[default]
    None,
    /// `IF EXISTS`: the row exists.
    IfExists,
    /// `IF NOT EXISTS`: the row does not exist.
    IfNotExists,
    /// `IF a = 1 AND b = 2`: all conditions are met.
    If(Vec<Condition>),
}
