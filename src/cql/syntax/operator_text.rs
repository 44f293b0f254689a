//! Operators as messages show them.

use super::Operator;
use crate::compat::Behaviour;
use crate::util::Release;

/// Returns an operator's sign, or its word in releases that have words for them.
pub fn operator_text(operator: Operator, release: Release) -> &'static str {
    let (sign, word) = match operator {
        Operator::Eq => ("=", "EQ"),
        Operator::Neq => ("!=", "NEQ"),
        Operator::Lt => ("<", "LT"),
        Operator::Lte => ("<=", "LTE"),
        Operator::Gt => (">", "GT"),
        Operator::Gte => (">=", "GTE"),
        Operator::Contains => ("CONTAINS", "CONTAINS"),
        Operator::ContainsKey => ("CONTAINS KEY", "CONTAINS KEY"),
    };
    if Behaviour::of(release).cql.operators_are_words { word } else { sign }
}
