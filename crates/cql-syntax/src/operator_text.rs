//! Operators as error messages print them.

use super::Operator;
use base::compat::Behaviour;
use base::util::Release;

/// Returns an operator's sign, or its name in releases that print names.
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
