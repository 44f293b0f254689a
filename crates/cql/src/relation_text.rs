//! Relations as error messages quote them.

use crate::values::term_text;
use base::util::Release;
use cql_syntax::{InValues, Operator, Relation, operator_text};

/// Returns the text of a relation, in the style of the release.
pub fn relation_text(relation: &Relation, release: Release) -> String {
    let sign = |operator: &Operator| operator_text(*operator, release);
    let tuple = |columns: &[String]| format!("({})", columns.join(", "));
    match relation {
        Relation::Column { column, element: None, operator, value } => {
            format!("{column} {} {}", sign(operator), term_text(value))
        }
        Relation::Column { column, element: Some(element), operator, value } => {
            format!("{column}[{}] {} {}", term_text(element), sign(operator), term_text(value))
        }
        Relation::In { column, values } => format!("{column} IN {}", values_text(values)),
        Relation::Columns { columns, operator, value } => {
            format!("{} {} {}", tuple(columns), sign(operator), term_text(value))
        }
        Relation::ColumnsIn { columns, values } => {
            let values = match values {
                InValues::List(terms) => tuple(&terms.iter().map(term_text).collect::<Vec<_>>()),
                InValues::Marker(_) => "?".to_owned(),
            };
            format!("{} IN {values}", tuple(columns))
        }
        Relation::Token { columns, operator, value } => {
            format!("token{} {} {}", tuple(columns), sign(operator), term_text(value))
        }
    }
}

fn values_text(values: &InValues) -> String {
    match values {
        InValues::List(terms) => {
            format!("[{}]", terms.iter().map(term_text).collect::<Vec<_>>().join(", "))
        }
        InValues::Marker(_) => "?".to_owned(),
    }
}
