//! Operators as error messages print them.

use std::fmt::{Display, Formatter, Result};

use super::Operator;
use base::compat::Behaviour;
use base::util::Release;

/// The operators with their signs and their names.
const TEXTS: [(Operator, &str, &str); 8] = [
    (Operator::Eq, "=", "EQ"),
    (Operator::Neq, "!=", "NEQ"),
    (Operator::Lt, "<", "LT"),
    (Operator::Lte, "<=", "LTE"),
    (Operator::Gt, ">", "GT"),
    (Operator::Gte, ">=", "GTE"),
    (Operator::Contains, "CONTAINS", "CONTAINS"),
    (Operator::ContainsKey, "CONTAINS KEY", "CONTAINS KEY"),
];

impl Operator {
    /// Returns the operator with a sign such as `>=`.
    pub(crate) fn of_sign(sign: &str) -> Option<Operator> {
        TEXTS.iter().find(|(_, text, _)| *text == sign).map(|(operator, ..)| *operator)
    }
}

impl Display for Operator {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(TEXTS[*self as usize].1)
    }
}

/// Returns an operator's sign, or its name in releases that print names.
pub fn operator_text(operator: Operator, release: Release) -> &'static str {
    let (_, sign, word) = TEXTS[operator as usize];
    if Behaviour::of(release).cql.operators_are_words { word } else { sign }
}
