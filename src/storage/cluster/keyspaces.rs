//! Keyspaces and tables of the cluster as the schema wants them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;

use super::link::Link;
use super::rows::all;
use super::table::{Table, quoted};
use super::values::Values;
use crate::schema::{CfDef, KeyspaceDef};
use crate::storage::StoreError;

/// What the cluster has in a keyspace: each table's columns with their types, and which tables have an index.
#[derive(Debug, Default)]
pub struct Known {
    tables: BTreeMap<String, BTreeMap<String, String>>,
    indexed: BTreeSet<String>,
}

impl Known {
    pub async fn of(link: &Link, keyspace: &str) -> Result<Known, StoreError> {
        let name = || Values::default().bytes(Bytes::copy_from_slice(keyspace.as_bytes()));
        let columns = "SELECT table_name, column_name, type, clustering_order FROM system_schema.columns WHERE \
                       keyspace_name = ?";
        let mut known = Known::default();
        for row in texts(link, columns, name()).await? {
            if let [table, column, of, order] = &row[..] {
                let direction = if order == "desc" { " desc" } else { "" };
                let columns = known.tables.entry(table.clone()).or_default();
                columns.insert(column.clone(), format!("{of}{direction}"));
            }
        }
        let indexes = "SELECT table_name FROM system_schema.indexes WHERE keyspace_name = ?";
        known.indexed = texts(link, indexes, name()).await?.into_iter().flatten().collect();
        Ok(known)
    }

    pub fn has(&self, table: &str) -> bool {
        self.tables.contains_key(table)
    }

    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    pub fn is_indexed(&self, table: &str) -> bool {
        self.indexed.contains(table)
    }

    /// Whether a table that is there can hold the column family. Keys and values may be bytes whatever they are
    /// said to be. Errors: `Mismatch`.
    pub fn check(&self, table: &Table) -> Result<(), StoreError> {
        let Some(there) = self.tables.get(&table.cf.name) else { return Ok(()) };
        let mut forms = vec![&table.outer];
        forms.extend(&table.inner);
        let mut forms = forms.into_iter();
        for (column, of) in table.columns() {
            let is_name = column.starts_with("column");
            let wanted = match forms.next().filter(|_| is_name) {
                Some(form) if form.is_descending => format!("{of} desc"),
                _ => of.to_owned(),
            };
            match there.get(column) {
                Some(found) if *found == wanted || !is_name && found == "blob" => {}
                Some(found) if !is_name => {
                    return Err(StoreError::Mismatch(format!(
                        "the table {} on the cluster has {column} {found}, and what is asked for needs {wanted}: the type \
                         of a table's column cannot be changed there. Only a column family that was made with more than \
                         one validator, or with BytesType, takes values of every type",
                        table.quoted_name
                    )));
                }
                found => {
                    return Err(StoreError::Mismatch(format!(
                        "the table {} on the cluster is not one of this column family: it should have {column} {wanted}, \
                         and has {}. Rename the column family, or drop the table if nobody needs it",
                        table.quoted_name,
                        found.map_or("no such column", String::as_str)
                    )));
                }
            }
        }
        Ok(())
    }
}

/// The rows of an answer of texts.
async fn texts(link: &Link, query: &str, values: Values) -> Result<Vec<Vec<String>>, StoreError> {
    let page = link.ask(query, values).await?;
    let rows = page.map(|page| all(&page)).transpose()?.unwrap_or_default();
    let text = |field: Option<Bytes>| String::from_utf8_lossy(&field.unwrap_or_default()).into_owned();
    Ok(rows.into_iter().map(|row| row.into_iter().map(text).collect()).collect())
}

/// A keyspace's replication as CQL writes it: what the operator says for all, else what the schema says.
pub fn replication(keyspace: &KeyspaceDef, for_all: Option<&BTreeMap<String, String>>) -> String {
    if let Some(options) = for_all {
        return map(options);
    }
    let class = keyspace.modern_strategy_class().rsplit('.').next().unwrap_or_default();
    let mut options = keyspace.strategy_options.clone();
    let factor = || keyspace.replication_factor.max(1).to_string();
    // The placement of 0.6 by racks has no name there that ScyllaDB knows too; this is what came after it.
    let class = if class == "OldNetworkTopologyStrategy" { "NetworkTopologyStrategy" } else { class };
    match class {
        "SimpleStrategy" => options.retain(|name, _| name == "replication_factor"),
        _ => options.retain(|name, _| name != "replication_factor"),
    }
    if options.is_empty() {
        options.insert("replication_factor".to_owned(), factor());
    }
    options.insert("class".to_owned(), class.to_owned());
    map(&options)
}

/// A map as CQL writes it.
pub fn map(options: &BTreeMap<String, String>) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
    let entries: Vec<String> =
        options.iter().map(|(name, value)| format!("{}: {}", quoted(name), quoted(value))).collect();
    format!("{{{}}}", entries.join(", "))
}

/// Makes what a keyspace lacks. `before` is what this front knew of it.
pub async fn make(
    link: &Link,
    keyspace: &KeyspaceDef,
    before: Option<&KeyspaceDef>,
    for_all: Option<&BTreeMap<String, String>>,
) -> Result<(), StoreError> {
    let name = quoted(&keyspace.name);
    let wanted = replication(keyspace, for_all);
    let durable = keyspace.durable_writes;
    let known = Known::of(link, &keyspace.name).await?;
    if known.is_empty() {
        link.define(&format!(
            "CREATE KEYSPACE IF NOT EXISTS {name} WITH replication = {wanted} AND durable_writes = {durable}"
        ))
        .await?;
    }
    let is_changed = |before: &KeyspaceDef| {
        replication(before, for_all) != wanted || before.durable_writes != keyspace.durable_writes
    };
    if before.is_some_and(is_changed) {
        link.define(&format!(
            "ALTER KEYSPACE {name} WITH replication = {wanted} AND durable_writes = {durable}"
        ))
        .await?;
    }
    for cf in keyspace.column_families.values() {
        let before = before.and_then(|before| before.column_families.get(&cf.name));
        make_table(link, &known, cf, before).await?;
    }
    Ok(())
}

async fn make_table(
    link: &Link,
    known: &Known,
    cf: &Arc<CfDef>,
    before: Option<&Arc<CfDef>>,
) -> Result<(), StoreError> {
    let table = Table::of(cf)?;
    if known.has(&cf.name) {
        known.check(&table)?;
    } else {
        link.define(&table.definition()).await?;
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

    fn keyspace(class: &str, options: &[(&str, &str)]) -> KeyspaceDef {
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        KeyspaceDef {
            strategy_class: format!("org.apache.cassandra.locator.{class}"),
            strategy_options: options.collect(),
            replication_factor: 3,
            ..KeyspaceDef::new("Ks")
        }
    }

    #[test]
    fn replication_is_what_the_schema_says() {
        let text = |class: &str, options: &[(&str, &str)]| replication(&keyspace(class, options), None);
        assert_eq!(
            text("RackUnawareStrategy", &[]),
            "{'class': 'SimpleStrategy', 'replication_factor': '3'}"
        );
        assert_eq!(
            text("SimpleStrategy", &[("replication_factor", "2")]),
            "{'class': 'SimpleStrategy', 'replication_factor': '2'}"
        );
        assert_eq!(
            text("RackAwareStrategy", &[]),
            "{'class': 'NetworkTopologyStrategy', 'replication_factor': '3'}"
        );
        assert_eq!(
            text("NetworkTopologyStrategy", &[("dc1", "3"), ("dc2", "2")]),
            "{'class': 'NetworkTopologyStrategy', 'dc1': '3', 'dc2': '2'}"
        );
    }

    #[test]
    fn the_operator_has_the_last_word_about_replication() {
        let for_all = BTreeMap::from([
            ("class".to_owned(), "NetworkTopologyStrategy".to_owned()),
            ("o'dc".to_owned(), "3".to_owned()),
        ]);
        assert_eq!(
            replication(&keyspace("SimpleStrategy", &[]), Some(&for_all)),
            "{'class': 'NetworkTopologyStrategy', 'o''dc': '3'}"
        );
    }

    #[test]
    fn a_table_of_something_else_is_not_taken_for_ours() {
        let table = Table::of(&Arc::new(CfDef::new("Ks", "Cf"))).unwrap();
        let known = |columns: &[(&str, &str)]| Known {
            tables: BTreeMap::from([(
                "Cf".to_owned(),
                columns.iter().map(|(name, of)| ((*name).to_owned(), (*of).to_owned())).collect(),
            )]),
            indexed: BTreeSet::new(),
        };
        assert!(known(&[("key", "blob"), ("column1", "blob"), ("value", "blob")]).check(&table).is_ok());
        for columns in [
            &[("id", "int")][..],
            &[("key", "blob"), ("column1", "text"), ("value", "blob")],
            &[("key", "blob"), ("column1", "blob desc"), ("value", "blob")],
            &[("key", "blob"), ("column1", "blob"), ("value", "text")],
        ] {
            assert!(matches!(known(columns).check(&table), Err(StoreError::Mismatch(_))), "{columns:?}");
        }
    }
}
