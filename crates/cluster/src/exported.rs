//! The table of a column family for code that writes its files instead of statements.

use std::sync::Arc;

use bytes::Bytes;

use super::keyspaces::replication;
use super::names::class_of;
use super::table::{Table, quoted};
use base::schema::{CfDef, KeyspaceDef};
use store::StoreError;

/// The table in which a gateway stores a column family.
#[derive(Debug)]
pub struct ClusterTable(Table);

impl ClusterTable {
    /// Returns the table of a column family.
    ///
    /// # Errors
    /// `Mismatch` if a cluster cannot store the column family.
    pub fn of(cf: &Arc<CfDef>) -> Result<ClusterTable, StoreError> {
        Table::of(cf).map(ClusterTable)
    }

    /// Returns the statements that create the table and its index.
    pub fn statements(&self) -> Vec<String> {
        let table = self.0.definition(None);
        std::iter::once(table).chain(self.0.index_definition()).collect()
    }

    /// Returns the class names of the types of the key, of the clustering columns and of the values.
    pub fn classes(&self) -> (String, Vec<String>, String) {
        let columns = self.0.columns();
        let class = |column: &str| {
            columns.iter().find(|(name, _)| *name == column).map(|(_, cql_type)| class_of(cql_type))
        };
        let forms = std::iter::once(("column1", &self.0.outer));
        let forms = forms.chain(self.0.inner.as_ref().map(|inner| ("column2", inner)));
        let clustering = forms.map(|(column, form)| {
            let class = class(column).unwrap_or_default();
            if form.is_descending {
                format!("{}ReversedType({class})", base::marshal::PACKAGE)
            } else {
                class
            }
        });
        (class("key").unwrap_or_default(), clustering.collect(), class("value").unwrap_or_default())
    }

    /// Returns the clustering values of a name: the value of a column or super column, and then of a column in it.
    pub fn clustering(&self, names: &[Bytes]) -> Vec<Bytes> {
        let forms = std::iter::once(&self.0.outer).chain(&self.0.inner);
        names.iter().zip(forms).map(|(name, form)| form.encode(name)).collect()
    }
}

/// Returns the statement that creates a keyspace.
pub fn keyspace_statement(keyspace: &KeyspaceDef) -> String {
    format!(
        "CREATE KEYSPACE IF NOT EXISTS {} WITH replication = {} AND durable_writes = {}",
        quoted(&keyspace.name),
        replication(keyspace, None),
        keyspace.durable_writes
    )
}
