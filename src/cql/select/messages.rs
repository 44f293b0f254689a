//! Relations as messages quote them.

use crate::cql::syntax::{ConstantKind, InValues, Operator, Relation, Term, TypeName};
use crate::util::Release;

pub(super) const NEEDS_FILTERING: &str = "Cannot execute this query as it might involve data filtering and thus may have \
     unpredictable performance. If you want to execute this query despite the performance unpredictability, use ALLOW \
     FILTERING";

/// An operator's sign; 1.2 has words for them.
pub(super) fn operator_text(operator: Operator, release: Release) -> &'static str {
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
    if release < Release::V2_0 { word } else { sign }
}

/// A relation as it was written, more or less.
pub(super) fn relation_text(relation: &Relation, release: Release) -> String {
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
        Relation::ColumnsIn { columns, values } => format!("{} IN {}", tuple(columns), values_text(values)),
        Relation::Token { columns, operator, value } => {
            format!("token{} {} {}", tuple(columns), sign(operator), term_text(value))
        }
    }
}

fn values_text(values: &InValues) -> String {
    match values {
        InValues::List(terms) => format!("[{}]", joined(terms)),
        InValues::Marker(_) => "?".to_owned(),
    }
}

fn joined(terms: &[Term]) -> String {
    terms.iter().map(term_text).collect::<Vec<_>>().join(", ")
}

/// A term as it was written. The parser has capped how deep terms nest.
pub(super) fn term_text(term: &Term) -> String {
    match term {
        Term::Constant { kind: ConstantKind::String, text } => format!("'{text}'"),
        Term::Constant { text, .. } => text.clone(),
        Term::Null => "null".to_owned(),
        Term::Marker(_) => "?".to_owned(),
        Term::List(terms) => format!("[{}]", joined(terms)),
        Term::Set(terms) => format!("{{{}}}", joined(terms)),
        Term::Map(entries) => {
            let entry = |(key, value): &(Term, Term)| format!("{}: {}", term_text(key), term_text(value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
        Term::Tuple(terms) => format!("({})", joined(terms)),
        Term::User(fields) => {
            let field = |(name, value): &(String, Term)| format!("{name}: {}", term_text(value));
            format!("{{{}}}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        Term::Function { name, arguments, .. } => format!("{name}({})", joined(arguments)),
        Term::Cast { cql_type, term } => format!("({}){}", type_text(cql_type), term_text(term)),
    }
}

fn type_text(name: &TypeName) -> String {
    match name {
        TypeName::Named { name, .. } => name.clone(),
        TypeName::Custom(class) => format!("'{class}'"),
        TypeName::List(element) => format!("list<{}>", type_text(element)),
        TypeName::Set(element) => format!("set<{}>", type_text(element)),
        TypeName::Map(key, value) => format!("map<{}, {}>", type_text(key), type_text(value)),
        TypeName::Tuple(fields) => {
            format!("tuple<{}>", fields.iter().map(type_text).collect::<Vec<_>>().join(", "))
        }
        TypeName::Frozen(inner) => format!("frozen<{}>", type_text(inner)),
    }
}
