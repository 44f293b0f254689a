//! The statement that creates a table of CQL.

use std::fmt;

use base::marshal::CqlType;
use base::schema::name_text;
use cql::values::TypeScope;
use cql_syntax::{Statement, parse};

/// The default of `gc_grace_seconds`: ten days.
const GC_GRACE_S: i32 = 864_000;

/// A column, of a key or not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StatementColumn {
    /// Its name, without quotes.
    pub name: String,
    /// Its type in CQL.
    pub cql_type: String,
    pub is_static: bool,
}

/// A table. Its names are as they are stored, without quotes.
#[derive(Debug, Clone, Default)]
pub(super) struct TableStatement {
    pub keyspace: String,
    pub name: String,
    /// The columns of the partition key.
    pub keys: Vec<String>,
    /// The clustering columns, and whether each is in descending order.
    pub clustering: Vec<(String, bool)>,
    /// All columns.
    pub columns: Vec<StatementColumn>,
    pub gc_grace_s: Option<i32>,
}

impl TableStatement {
    /// Adds a column.
    pub(super) fn add(&mut self, name: &str, cql_type: &str, is_static: bool) {
        let column = StatementColumn { name: name.to_owned(), cql_type: cql_type.to_owned(), is_static };
        self.columns.push(column);
    }

    /// Returns the name of the table with its keyspace.
    pub(super) fn table(&self) -> String {
        format!("{}.{}", name_text(&self.keyspace), name_text(&self.name))
    }
}

impl fmt::Display for StatementColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.is_static { " static" } else { "" };
        write!(f, "{} {}{kind}", name_text(&self.name), self.cql_type)
    }
}

impl fmt::Display for TableStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns: Vec<String> = self.columns.iter().map(StatementColumn::to_string).collect();
        let keys: Vec<String> = self.keys.iter().map(|name| name_text(name)).collect();
        write!(
            f,
            "CREATE TABLE {} ({}, PRIMARY KEY (({})",
            self.table(),
            columns.join(", "),
            keys.join(", ")
        )?;
        for (name, _) in &self.clustering {
            write!(f, ", {}", name_text(name))?;
        }
        write!(f, ")) WITH gc_grace_seconds = {}", self.gc_grace_s.unwrap_or(GC_GRACE_S))?;
        for (at, (name, is_descending)) in self.clustering.iter().enumerate() {
            let before = if at == 0 { " AND CLUSTERING ORDER BY (" } else { ", " };
            write!(f, "{before}{} {}", name_text(name), if *is_descending { "DESC" } else { "ASC" })?;
        }
        if self.clustering.is_empty() { Ok(()) } else { write!(f, ")") }
    }
}

/// Returns the type of a text of CQL. `None` if it is not one, or has a user type that the keyspace does not have.
pub(super) fn type_of(text: &str, scope: &TypeScope<'_>) -> Option<CqlType> {
    let statement = format!("CREATE TABLE a.b (k int PRIMARY KEY, v {text})");
    let Statement::CreateTable(create) = parse(&statement).ok()?.statement else { return None };
    let [_, column] = &create.columns[..] else { return None };
    scope.resolve(&column.cql_type).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal::Types;
    use base::schema::KeyspaceDef;

    #[test]
    fn names_are_quoted_and_orders_kept() {
        let mut table = TableStatement {
            keyspace: "Shop".to_owned(),
            name: "carts".to_owned(),
            keys: vec!["id".to_owned()],
            clustering: vec![("At".to_owned(), true)],
            ..TableStatement::default()
        };
        table.add("id", "int", false);
        table.add("At", "timeuuid", false);
        table.add("owner", "text", true);
        assert_eq!(
            table.to_string(),
            "CREATE TABLE \"Shop\".carts (id int, \"At\" timeuuid, owner text static, PRIMARY KEY ((id), \"At\")) \
             WITH gc_grace_seconds = 864000 AND CLUSTERING ORDER BY (\"At\" DESC)"
        );
    }

    #[test]
    fn texts_that_are_no_types_have_none() {
        let (keyspace, types) = (KeyspaceDef::new("Shop"), Types::builtin());
        let scope = TypeScope::of_existing(&keyspace, &types);
        assert_eq!(type_of("map<text, int>", &scope).unwrap().to_string(), "map<text, int>");
        for text in ["", "unknown", "int, w int", "int); DROP TABLE a.b; --"] {
            assert!(type_of(text, &scope).is_none(), "{text}");
        }
    }
}
