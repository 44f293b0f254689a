//! Formats parts of statements as the old servers print them in messages.

use std::fmt::{Display, Formatter, Result};

use super::{Assignment, ConstantKind, InValues, Operation, Relation, Selector, TableName, Term, TypeName};

/// Prints items separated by commas.
struct Joined<'a, T>(&'a [T]);

impl<T: Display> Display for Joined<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (at, one) in self.0.iter().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{one}")?;
        }
        Ok(())
    }
}

fn pairs<K: Display, V: Display>(f: &mut Formatter<'_>, pairs: &[(K, V)]) -> Result {
    f.write_str("{")?;
    for (at, (key, value)) in pairs.iter().enumerate() {
        let comma = if at == 0 { "" } else { ", " };
        write!(f, "{comma}{key}:{value}")?;
    }
    f.write_str("}")
}

fn call<T: Display>(f: &mut Formatter<'_>, keyspace: Option<&str>, name: &str, arguments: &[T]) -> Result {
    if let Some(keyspace) = keyspace {
        write!(f, "{keyspace}.")?;
    }
    write!(f, "{name}({})", Joined(arguments))
}

impl Display for TableName {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.keyspace {
            Some(keyspace) => write!(f, "{keyspace}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl Display for Term {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Term::Constant { kind: ConstantKind::String, text } => write!(f, "'{text}'"),
            Term::Constant { text, .. } => f.write_str(text),
            Term::Null => f.write_str("null"),
            Term::Marker(_) => f.write_str("?"),
            Term::List(elements) => write!(f, "[{}]", Joined(elements)),
            Term::Set(elements) => write!(f, "{{{}}}", Joined(elements)),
            Term::Map(entries) => pairs(f, entries),
            Term::Tuple(elements) => write!(f, "({})", Joined(elements)),
            Term::User(fields) => pairs(f, fields),
            Term::Function(of) => call(f, of.keyspace.as_deref(), &of.name, &of.arguments),
            Term::Cast { cql_type, term } => write!(f, "({cql_type}){term}"),
        }
    }
}

impl Display for TypeName {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            TypeName::Named { keyspace: Some(keyspace), name } => write!(f, "{keyspace}.{name}"),
            TypeName::Named { keyspace: None, name } | TypeName::Users(name) => f.write_str(name),
            TypeName::Custom(class) => write!(f, "'{class}'"),
            TypeName::List(element) => write!(f, "list<{element}>"),
            TypeName::Set(element) => write!(f, "set<{element}>"),
            TypeName::Map(key, value) => write!(f, "map<{key}, {value}>"),
            TypeName::Tuple(elements) => write!(f, "tuple<{}>", Joined(elements)),
            TypeName::Frozen(inner) => write!(f, "frozen<{inner}>"),
        }
    }
}

impl Display for Selector {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Selector::Column(name) => f.write_str(name),
            Selector::WriteTime(column) => write!(f, "writetime({column})"),
            Selector::Ttl(column) => write!(f, "ttl({column})"),
            Selector::CountRows => f.write_str("count(*)"),
            Selector::Cast { of, cql_type } => write!(f, "cast({of} as {cql_type})"),
            Selector::Function { keyspace, name, arguments } => call(f, keyspace.as_deref(), name, arguments),
            Selector::Field { of, field } => write!(f, "{of}.{field}"),
        }
    }
}

impl Display for InValues {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            InValues::List(values) => write!(f, "({})", Joined(values)),
            InValues::Marker(_) => f.write_str("?"),
        }
    }
}

impl Display for Relation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Relation::Column { column, element: None, operator, value } => {
                write!(f, "{column} {operator} {value}")
            }
            Relation::Column { column, element: Some(element), operator, value } => {
                write!(f, "{column}[{element}] {operator} {value}")
            }
            // The old servers print a Java list here, in brackets.
            Relation::In { column, values: InValues::List(values) } => {
                write!(f, "{column} IN [{}]", Joined(values))
            }
            Relation::In { column, values } => write!(f, "{column} IN {values}"),
            Relation::Columns { columns, operator, value } => {
                write!(f, "({}) {operator} {value}", Joined(columns))
            }
            Relation::ColumnsIn { columns, values } => write!(f, "({}) IN {values}", Joined(columns)),
            Relation::Token { columns, operator, value } => {
                write!(f, "token({}) {operator} {value}", Joined(columns))
            }
        }
    }
}

impl Display for Assignment {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let column = &self.column;
        match &self.operation {
            Operation::Set(value) => write!(f, "{column} = {value}"),
            Operation::SetElement { key, value } => write!(f, "{column}[{key}] = {value}"),
            Operation::SetField { field, value } => write!(f, "{column}.{field} = {value}"),
            Operation::Add(value) => write!(f, "{column} = {column} + {value}"),
            Operation::Subtract(value) => write!(f, "{column} = {column} - {value}"),
            // Cassandra prints a minus instead of the plus.
            Operation::Prepend(value) => write!(f, "{column} = {value} - {column}"),
        }
    }
}
