//! Writes terms as error messages print them.

use super::type_scope::type_text;
use crate::comma_list::comma_list;
use cql_syntax::{ConstantKind, Term};

/// Returns a term as the old servers print it: texts in quotes, markers as `?`.
pub(crate) fn term_text(term: &Term) -> String {
    match term {
        Term::Constant { kind: ConstantKind::String, text } => format!("'{text}'"),
        Term::Constant { text, .. } => text.to_string(),
        Term::Null => "null".to_owned(),
        Term::Marker(_) => "?".to_owned(),
        Term::List(elements) => format!("[{}]", terms_text(elements)),
        Term::Set(elements) => format!("{{{}}}", terms_text(elements)),
        Term::Map(entries) => {
            let entries =
                entries.iter().map(|(key, value)| format!("{}:{}", term_text(key), term_text(value)));
            format!("{{{}}}", comma_list(entries))
        }
        Term::Tuple(fields) => format!("({})", terms_text(fields)),
        Term::User(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("{name}:{}", term_text(value)));
            format!("{{{}}}", comma_list(fields))
        }
        Term::Function(call) => {
            let keyspace = call.keyspace.as_ref().map(|keyspace| format!("{keyspace}.")).unwrap_or_default();
            format!("{keyspace}{}({})", call.name, terms_text(&call.arguments))
        }
        Term::Cast { cql_type, term } => format!("({}){}", type_text(cql_type), term_text(term)),
    }
}

/// Returns terms as the old servers print them, separated by commas.
pub(crate) fn terms_text(terms: &[Term]) -> String {
    comma_list(terms.iter().map(term_text))
}
