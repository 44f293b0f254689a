//! Creates and checks keyspaces and tables of the cluster for a schema.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use uuid::Uuid;

use super::link::Link;
use super::rows::number;
use super::table::PreparedTable;
use super::values::DriverValues;
use crate::keyspace::replication;
use base::schema::{CfDef, KeyspaceDef, quoted_name};
use store::{Result, StoreError};

/// The tables of a keyspace on the cluster, with their columns, and which of them have an index.
#[derive(Debug, Default)]
pub(super) struct KnownTables {
    tables: BTreeMap<String, BTreeMap<String, Column>>,
    indexed: BTreeSet<String>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Column {
    /// `partition_key`, `clustering`, `regular` or `static`.
    kind: String,
    /// Position among the columns of its kind; -1 for regular columns.
    position: i64,
    cql_type: String,
    is_descending: bool,
}

impl Column {
    fn is_of_key(&self) -> bool {
        self.kind == "partition_key" || self.kind == "clustering"
    }
}

impl fmt::Display for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = if self.is_descending { " descending" } else { "" };
        write!(f, "{}{order} ({})", self.cql_type, self.kind.replace('_', " "))
    }
}

impl KnownTables {
    pub(super) async fn of(link: &Link, keyspace: &str) -> Result<KnownTables> {
        let name = || DriverValues::default().bytes(Bytes::copy_from_slice(keyspace.as_bytes()));
        let columns = "SELECT table_name, column_name, kind, position, type, clustering_order FROM \
                       system_schema.columns WHERE keyspace_name = ?";
        let mut known = KnownTables::default();
        for row in rows_of(link, columns, name()).await? {
            if let [table, column, kind, position, of, order] = &row[..] {
                let column_of = Column {
                    kind: text(kind),
                    position: number(position).unwrap_or(-1),
                    cql_type: text(of),
                    is_descending: order.as_ref() == b"desc",
                };
                known.tables.entry(text(table)).or_default().insert(text(column), column_of);
            }
        }
        let indexes = "SELECT table_name FROM system_schema.indexes WHERE keyspace_name = ?";
        known.indexed = rows_of(link, indexes, name()).await?.iter().flatten().map(text).collect();
        Ok(known)
    }

    pub(super) fn has(&self, table: &str) -> bool {
        self.tables.contains_key(table)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    pub(super) fn is_indexed(&self, table: &str) -> bool {
        self.indexed.contains(table)
    }

    /// Checks that an existing table can store the column family. Keys and values may have the type `blob` in place of
    /// their own.
    ///
    /// # Errors
    /// `Mismatch` if a column is missing or has another type, or the table has another key.
    pub(super) fn check(&self, table: &PreparedTable) -> Result<()> {
        let Some(existing) = self.tables.get(&table.cf.name) else { return Ok(()) };
        let wanted = wanted(table);
        for (name, wanted) in &wanted {
            let Some(found) = existing.get(*name) else {
                return Err(wrong_column(table, name, wanted, None));
            };
            let may_be_bytes = found.cql_type == "blob" && !name.starts_with("column");
            let is_same_type = found.cql_type == wanted.cql_type || may_be_bytes;
            if *found == (Column { cql_type: found.cql_type.clone(), ..wanted.clone() }) && is_same_type {
                continue;
            }
            if !is_same_type && !name.starts_with("column") {
                return Err(StoreError::Mismatch(format!(
                    "the table {} on the cluster has {name} {}, but the column family needs {}: the type of a table's \
                     column cannot be changed. Only a column family that was created with more than one validator, \
                     or with BytesType, accepts values of every type",
                    table.quoted_name, found.cql_type, wanted.cql_type
                )));
            }
            return Err(wrong_column(table, name, wanted, Some(found)));
        }
        let mut of_key = existing.iter().filter(|(_, column)| column.is_of_key());
        match of_key.find(|(name, _)| wanted.iter().all(|(other, _)| other != *name)) {
            Some((name, found)) => Err(StoreError::Mismatch(format!(
                "the table {} on the cluster is not one of this column family: its key also has {name} {found}. Rename \
                 the column family, or drop the table if it is not needed",
                table.quoted_name
            ))),
            None => Ok(()),
        }
    }
}

/// Returns the columns that a column family's table must have.
fn wanted(table: &PreparedTable) -> Vec<(&'static str, Column)> {
    let forms = [("column1", 0, Some(&table.outer)), ("column2", 1, table.inner.as_ref())];
    let mut columns = Vec::new();
    for (name, of) in table.columns() {
        let form = forms.iter().find(|(column, ..)| *column == name);
        let (kind, position) = match (name, form) {
            (_, Some((_, position, _))) => ("clustering", *position),
            ("key", _) => ("partition_key", 0),
            _ => ("regular", -1),
        };
        let is_descending = form.and_then(|(.., form)| *form).is_some_and(|form| form.is_descending);
        columns
            .push((name, Column { kind: kind.to_owned(), position, cql_type: of.to_owned(), is_descending }));
    }
    columns
}

fn wrong_column(table: &PreparedTable, name: &str, wanted: &Column, found: Option<&Column>) -> StoreError {
    let found = found.map_or("no such column".to_owned(), Column::to_string);
    StoreError::Mismatch(format!(
        "the table {} on the cluster is not one of this column family: it must have {name} {wanted}, but has {found}. \
         Rename the column family, or drop the table if it is not needed",
        table.quoted_name
    ))
}

/// Runs a query and returns its rows, with nulls as empty values.
async fn rows_of(link: &Link, query: &str, values: DriverValues) -> Result<Vec<Vec<Bytes>>> {
    let rows = link.ask(query, values).await?;
    Ok(rows.into_iter().map(|row| row.into_iter().map(Option::unwrap_or_default).collect()).collect())
}

fn text(bytes: &Bytes) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Creates a keyspace and its tables if the cluster lacks them, and applies changes. `before` is the definition that
/// this gateway knew before.
pub(super) async fn create_missing(
    link: &Link,
    keyspace: &KeyspaceDef,
    before: Option<&KeyspaceDef>,
    for_all: Option<&BTreeMap<String, String>>,
) -> Result<()> {
    let name = quoted_name(&keyspace.name);
    let wanted = replication(keyspace, for_all);
    let durable = keyspace.durable_writes;
    let known = KnownTables::of(link, &keyspace.name).await?;
    if known.is_empty() {
        link.define(&format!(
            "CREATE KEYSPACE IF NOT EXISTS {name} WITH replication = {wanted} AND durable_writes = {durable}"
        ))
        .await?;
    }
    if let Some(before) = before
        && (replication(before, for_all) != wanted || before.durable_writes != durable)
    {
        link.define(&format!(
            "ALTER KEYSPACE {name} WITH replication = {wanted} AND durable_writes = {durable}"
        ))
        .await?;
    }
    for cf in keyspace.column_families.values() {
        let before = before.and_then(|before| before.column_families.get(&cf.name));
        create_table(link, &known, cf, before).await?;
    }
    Ok(())
}

async fn create_table(
    link: &Link,
    known: &KnownTables,
    cf: &Arc<CfDef>,
    before: Option<&Arc<CfDef>>,
) -> Result<()> {
    let table = PreparedTable::of(cf)?;
    if known.has(&cf.name) {
        known.check(&table)?;
    } else {
        link.define(&table.definition(Some(Uuid::new_v4()))).await?;
    }
    match (table.index_definition(), known.is_indexed(&cf.name)) {
        (Some(definition), false) => link.define(&definition).await?,
        (None, true) if before.is_some_and(|before| before.indexed_columns().next().is_some()) => {
            link.define(&table.index_removal()).await?;
        }
        _ => {}
    }
    if before.is_some_and(|before| before.gc_grace_s != cf.gc_grace_s) {
        link.define(&format!("ALTER TABLE {} WITH gc_grace_seconds = {}", table.quoted_name, cf.gc_grace_s))
            .await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the cluster's description of a table with these columns.
    fn known(name: &str, columns: &[(&'static str, Column)]) -> KnownTables {
        let columns = columns.iter().map(|(name, column)| ((*name).to_owned(), column.clone())).collect();
        KnownTables { tables: BTreeMap::from([(name.to_owned(), columns)]), indexed: BTreeSet::new() }
    }

    fn table(comparator: &str, subcomparator: Option<&str>) -> PreparedTable {
        let types = base::marshal::Types::builtin();
        let mut cf = CfDef { comparator: types.parse(comparator).unwrap(), ..CfDef::new("Ks", "Cf") };
        if let Some(of) = subcomparator {
            let subcomparator = types.parse(of).unwrap();
            cf.column_type = base::schema::ColumnType::Super { subcomparator };
        }
        PreparedTable::of(&Arc::new(cf)).unwrap()
    }

    #[test]
    fn a_table_of_the_column_family_is_accepted() {
        for (outer, inner) in [
            ("BytesType", None),
            ("ReversedType(LongType)", None),
            ("UTF8Type", Some("ReversedType(TimeUUIDType)")),
            ("ReversedType(TimeUUIDType)", Some("UTF8Type")),
        ] {
            let table = table(outer, inner);
            known("Cf", &wanted(&table)).check(&table).unwrap();
        }
        // Further columns are accepted, and so are keys and values of type blob.
        let table = table("BytesType", None);
        let mut columns = wanted(&table);
        columns.push(("more", Column { cql_type: "text".to_owned(), ..columns[2].1.clone() }));
        known("Cf", &columns).check(&table).unwrap();
    }

    #[test]
    fn a_table_with_other_columns_is_refused() {
        let table = table("ReversedType(LongType)", None);
        let ours = wanted(&table);
        let changed = |change: fn(&mut Vec<(&'static str, Column)>)| {
            let mut columns = ours.clone();
            change(&mut columns);
            known("Cf", &columns).check(&table)
        };
        for change in [
            (|columns: &mut Vec<(&'static str, Column)>| columns.truncate(1)) as fn(&mut Vec<_>),
            |columns| columns[1].1.is_descending = false,
            |columns| columns[1].1.cql_type = "text".to_owned(),
            |columns| columns[2].1.cql_type = "text".to_owned(),
            // Each row would have one column.
            |columns| columns[1].1.kind = "regular".to_owned(),
            |columns| {
                let second = Column { position: 1, ..columns[1].1.clone() };
                columns.push(("column2", second));
            },
        ] {
            assert!(matches!(changed(change), Err(StoreError::Mismatch(_))));
        }
    }
}
