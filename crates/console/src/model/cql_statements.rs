//! The SELECT statements that are tried on a table: one for each way in which an application might ask.
//!
//! ```text
//!   PRIMARY KEY ((a, b), c, d), v
//!
//!   a, b            a partition; ordered both ways; its first row
//!   a               a part of the partition key
//!   a, b, c         a prefix of the clustering columns; a range and several values of each
//!   a, b, d         a clustering column without the one before it
//!   c               a clustering column in all partitions
//!   v               a column, in all partitions and in one
//!   nothing         all rows, their keys, their number, a range of tokens
//! ```
//!
//! Values come from the first row that has them, so that a statement finds something.

use super::cql_text::full_name;
use base::marshal::CqlType;
use base::schema::show::literal;
use base::schema::{CfDef, TableColumn, TableDef, name_text};
use cql::ResultSet;
use db::Database;

/// Columns besides the key for which statements are made.
const COLUMNS_MAX: usize = 6;
/// Clustering columns for which statements are made.
const CLUSTERING_MAX: usize = 4;

/// A statement, and its purpose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub purpose: String,
    /// Without a semicolon. It has markers if there is no sample value.
    pub text: String,
}

/// Makes the statements of a table.
pub(super) struct Candidates<'a> {
    pub database: &'a Database,
    pub cf: &'a CfDef,
    pub def: &'a TableDef,
    pub sample: Option<&'a ResultSet>,
}

impl Candidates<'_> {
    /// Returns the statements, the most useful first.
    pub(super) fn all(&self) -> Vec<Candidate> {
        let mut found = self.of_partition();
        found.extend(self.of_clustering());
        found.extend(self.of_all());
        found.extend(self.of_columns());
        found
    }

    /// Returns a sample value of a column as a literal, or a marker.
    fn value(&self, column: &TableColumn) -> String {
        let sample = self.sample.and_then(|rows| {
            let at = rows.columns.iter().position(|spec| spec.name == column.name)?;
            rows.rows.iter().find_map(|row| row.get(at)?.as_ref())
        });
        sample.map_or("?".to_owned(), |value| literal(self.database.types(), &column.cql_type, value))
    }

    /// Returns an IN relation with two sample values, or with one if there are no more.
    fn several(&self, column: &TableColumn) -> String {
        let mut found: Vec<String> = Vec::new();
        if let Some(rows) = self.sample
            && let Some(at) = rows.columns.iter().position(|spec| spec.name == column.name)
        {
            for value in rows.rows.iter().filter_map(|row| row.get(at)?.as_ref()) {
                let value = literal(self.database.types(), &column.cql_type, value);
                if !found.contains(&value) {
                    found.push(value);
                }
                if found.len() == 2 {
                    break;
                }
            }
        }
        if found.is_empty() {
            found = vec!["?".to_owned(), "?".to_owned()];
        }
        format!("{} IN ({})", name_text(&column.name), found.join(", "))
    }

    fn relation(&self, column: &TableColumn, operator: &str) -> String {
        format!("{} {operator} {}", name_text(&column.name), self.value(column))
    }

    fn equal(&self, columns: &[TableColumn]) -> Vec<String> {
        columns.iter().map(|column| self.relation(column, "=")).collect()
    }

    fn select(&self, purpose: impl Into<String>, relations: &[String], tail: &str) -> Candidate {
        let condition =
            if relations.is_empty() { String::new() } else { format!(" WHERE {}", relations.join(" AND ")) };
        Candidate {
            purpose: purpose.into(),
            text: format!("SELECT * FROM {}{condition}{tail}", full_name(self.cf)),
        }
    }

    fn of_partition(&self) -> Vec<Candidate> {
        let keys = self.equal(&self.def.partition_key);
        let mut found = vec![self.select("a partition by its key", &keys, "")];
        if let Some(first) = self.def.clustering.first() {
            let name = name_text(&first.name);
            let orders = if first.is_reversed { ["DESC", "ASC"] } else { ["ASC", "DESC"] };
            for (order, words) in orders.into_iter().zip(["in the stored order", "in the opposite order"]) {
                let tail = format!(" ORDER BY {name} {order}");
                found.push(self.select(format!("a partition {words}"), &keys, &tail));
            }
            let tail = format!(" ORDER BY {name} {} LIMIT 1", orders[1]);
            found.push(self.select("the last row of a partition", &keys, &tail));
        }
        if let [.., last] = &self.def.partition_key[..] {
            let mut several = keys.clone();
            several.pop();
            several.push(self.several(last));
            found.push(self.select("several partitions by their keys", &several, ""));
        }
        if let [first, _, ..] = &self.def.partition_key[..] {
            let purpose = format!("partitions by {}, a part of their key", first.name);
            found.push(self.select(purpose, &[self.relation(first, "=")], ""));
        }
        found
    }

    fn of_clustering(&self) -> Vec<Candidate> {
        let keys = self.equal(&self.def.partition_key);
        let clustering = &self.def.clustering;
        let mut found = Vec::new();
        let mut prefix = keys.clone();
        for (at, column) in clustering.iter().take(CLUSTERING_MAX).enumerate() {
            let name = name_text(&column.name);
            let with = |relation: String| [&prefix[..], &[relation]].concat();
            let is_row = at + 1 == clustering.len();
            let purpose = if is_row { "a row by its whole key" } else { "rows of a partition by a prefix" };
            found.push(self.select(format!("{purpose}: {name}"), &with(self.relation(column, "=")), ""));
            let purpose = format!("rows of a partition by a range: {name}");
            found.push(self.select(purpose, &with(self.relation(column, ">=")), ""));
            let purpose = format!("rows of a partition by several values: {name}");
            found.push(self.select(purpose, &with(self.several(column)), ""));
            if let Some(before) = at.checked_sub(1).and_then(|before| clustering.get(before)) {
                let purpose = format!("rows of a partition by {name}, without {}", name_text(&before.name));
                let relations = [&keys[..], &[self.relation(column, "=")]].concat();
                found.push(self.select(purpose, &relations, ""));
                let tail = format!(" ORDER BY {name}");
                found.push(self.select(format!("a partition ordered by {name}"), &keys, &tail));
            }
            let purpose = format!("rows of all partitions by {name}");
            found.push(self.select(purpose, &[self.relation(column, "=")], ""));
            prefix.push(self.relation(column, "="));
        }
        found
    }

    fn of_columns(&self) -> Vec<Candidate> {
        let keys = self.equal(&self.def.partition_key);
        let mut found = Vec::new();
        for column in self.def.others.values().take(COLUMNS_MAX) {
            let Some(relation) = self.relation_of_value(column) else { continue };
            let name = name_text(&column.name);
            let everywhere = std::slice::from_ref(&relation);
            found.push(self.select(format!("rows of all partitions by {name}"), everywhere, ""));
            let inside = [&keys[..], everywhere].concat();
            found.push(self.select(format!("rows of a partition by {name}"), &inside, ""));
        }
        found
    }

    /// Returns the relation that an application has for the value of a column; `None` if a collection has no sample.
    fn relation_of_value(&self, column: &TableColumn) -> Option<String> {
        let (CqlType::List { element, .. }
        | CqlType::Set { element, .. }
        | CqlType::Map { value: element, .. }) = &column.cql_type
        else {
            return Some(self.relation(column, "="));
        };
        let rows = self.sample?;
        let at = rows.columns.iter().position(|spec| spec.name == column.name)?;
        let value = rows.rows.iter().find_map(|row| row.get(at)?.as_ref())?;
        let form = base::marshal::CollectionForm::Long;
        let element_value = match &column.cql_type {
            CqlType::Map { .. } => base::marshal::map_from_bytes(value, form)?.into_iter().next()?.1,
            _ => base::marshal::list_from_bytes(value, form)?.into_iter().next()?,
        };
        let literal = literal(self.database.types(), element, &element_value);
        Some(format!("{} CONTAINS {literal}", name_text(&column.name)))
    }

    fn of_all(&self) -> Vec<Candidate> {
        let keys: Vec<String> = self.def.partition_key.iter().map(|column| name_text(&column.name)).collect();
        let values: Vec<String> = self.def.partition_key.iter().map(|column| self.value(column)).collect();
        let (keys, values) = (keys.join(", "), values.join(", "));
        let table = full_name(self.cf);
        let own = |purpose: &str, text: String| Candidate { purpose: purpose.to_owned(), text };
        vec![
            self.select("all rows, in the order of tokens", &[], ""),
            self.select(
                "partitions by a range of tokens",
                &[format!("token({keys}) >= token({values})")],
                "",
            ),
            own("the keys of all partitions", format!("SELECT DISTINCT {keys} FROM {table}")),
            own("the number of rows", format!("SELECT count(*) FROM {table}")),
        ]
    }
}
