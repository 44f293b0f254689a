//! Writes terms as error messages print them.

use super::type_scope::type_text;
use cql_syntax::{ConstantKind, Term};

/// Returns a term as the old servers print it: texts in quotes, markers as `?`.
pub fn term_text(term: &Term) -> String {
    let list = |terms: &[Term]| terms.iter().map(term_text).collect::<Vec<_>>().join(", ");
    match term {
        Term::Constant { kind: ConstantKind::String, text } => format!("'{text}'"),
        Term::Constant { text, .. } => text.to_string(),
        Term::Null => "null".to_owned(),
        Term::Marker(_) => "?".to_owned(),
        Term::List(elements) => format!("[{}]", list(elements)),
        Term::Set(elements) => format!("{{{}}}", list(elements)),
        Term::Map(entries) => {
            let entry = |(key, value): &(Term, Term)| format!("{}:{}", term_text(key), term_text(value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Term::Tuple(fields) => format!("({})", list(fields)),
        Term::User(fields) => {
            let field = |(name, value): &(String, Term)| format!("{name}:{}", term_text(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Term::Function(call) => {
            let keyspace = call.keyspace.as_ref().map(|keyspace| format!("{keyspace}.")).unwrap_or_default();
            format!("{keyspace}{}({})", call.name, list(&call.arguments))
        }
        Term::Cast { cql_type, term } => format!("({}){}", type_text(cql_type), term_text(term)),
    }
}
