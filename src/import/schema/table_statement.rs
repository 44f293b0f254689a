//! The statement that creates a table of CQL.

use std::fmt;

use crate::cql::values::name_text;

/// The default of `gc_grace_seconds`: ten days.
const GC_GRACE_S: i32 = 864_000;

/// A table. Its names are as they are stored, without quotes.
#[derive(Debug, Default)]
pub struct TableStatement {
    pub keyspace: String,
    pub name: String,
    /// The columns of the partition key.
    pub keys: Vec<String>,
    /// The clustering columns, and whether each is in descending order.
    pub clustering: Vec<(String, bool)>,
    /// Filled by [`TableStatement::add`].
    pub columns: Vec<String>,
    pub gc_grace_s: Option<i32>,
}

impl TableStatement {
    /// Adds a column, of a key or not, with its type in CQL.
    pub fn add(&mut self, name: &str, cql_type: &str, is_static: bool) {
        let kind = if is_static { " static" } else { "" };
        self.columns.push(format!("{} {cql_type}{kind}", name_text(name)));
    }

    /// Returns the name of the table with its keyspace.
    pub fn table(&self) -> String {
        format!("{}.{}", name_text(&self.keyspace), name_text(&self.name))
    }
}

impl fmt::Display for TableStatement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<String> = self.keys.iter().map(|name| name_text(name)).collect();
        write!(
            f,
            "CREATE TABLE {} ({}, PRIMARY KEY (({})",
            self.table(),
            self.columns.join(", "),
            keys.join(", ")
        )?;
        for (name, _) in &self.clustering {
            write!(f, ", {}", name_text(name))?;
        }
        write!(f, ")) WITH gc_grace_seconds = {}", self.gc_grace_s.unwrap_or(GC_GRACE_S))?;
        let order = |(name, is_descending): &(String, bool)| {
            format!("{} {}", name_text(name), if *is_descending { "DESC" } else { "ASC" })
        };
        if !self.clustering.is_empty() {
            let order: Vec<String> = self.clustering.iter().map(order).collect();
            write!(f, " AND CLUSTERING ORDER BY ({})", order.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
