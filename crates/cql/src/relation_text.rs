//! Relations as error messages quote them.

use crate::values::{term_text, terms_text};
use base::util::Release;
use cql_syntax::{InValues, Relation, operator_text};

/// Returns the text of a relation, in the style of the release.
pub(crate) fn relation_text(relation: &Relation, release: Release) -> String {
    let (left, operator, value) = match relation {
        Relation::In { column, values: InValues::List(terms) } => {
            return format!("{column} IN [{}]", terms_text(terms));
        }
        Relation::In { column, values: InValues::Marker(_) } => return format!("{column} IN ?"),
        Relation::ColumnsIn { columns, values: InValues::List(terms) } => {
            return format!("({}) IN ({})", columns.join(", "), terms_text(terms));
        }
        Relation::ColumnsIn { columns, values: InValues::Marker(_) } => {
            return format!("({}) IN ?", columns.join(", "));
        }
        Relation::Column { column, element: None, operator, value } => (column.clone(), operator, value),
        Relation::Column { column, element: Some(element), operator, value } => {
            (format!("{column}[{}]", term_text(element)), operator, value)
        }
        Relation::Columns { columns, operator, value } => {
            (format!("({})", columns.join(", ")), operator, value)
        }
        Relation::Token { columns, operator, value } => {
            (format!("token({})", columns.join(", ")), operator, value)
        }
    };
    format!("{left} {} {}", operator_text(*operator, release), term_text(value))
}
