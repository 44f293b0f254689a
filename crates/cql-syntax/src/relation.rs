//! The conditions of WHERE and IF.

use super::{Part, Term};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Eq,
    Neq,
    Lt,
    Lte,
    Gt,
    Gte,
    Contains,
    ContainsKey,
}

/// The right side of IN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InValues {
    List(Vec<Term>),
    /// The index of a marker for the whole list.
    Marker(usize),
}

/// One condition of WHERE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Relation {
    /// `c > 1`, or with an element `m['k'] = 1`.
    Column { column: String, element: Option<Term>, operator: Operator, value: Term },
    /// `c IN (1, 2)`.
    In { column: String, values: InValues },
    /// `(a, b) > (1, 2)`; the value is a tuple or a marker.
    Columns { columns: Vec<String>, operator: Operator, value: Term },
    /// `(a, b) IN ((1, 2), (3, 4))`.
    ColumnsIn { columns: Vec<String>, values: InValues },
    /// `token(a, b) > 5`.
    Token { columns: Vec<String>, operator: Operator, value: Term },
}

/// One condition of IF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    pub column: String,
    /// `IF m['k'] = 1`, `IF a.street = 'x'`.
    pub part: Option<Part>,
    pub test: Test,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    Compare(Operator, Term),
    In(InValues),
}

/// The conditions of a modification on the existing row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Conditions {
    #[default]
    None,
    IfExists,
    IfNotExists,
    If(Vec<Condition>),
}
