//! A Thrift server as one side of a copy: its keyspaces, as it described them last.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::definitions;
use super::error::ThriftCallError;
use super::pages::{CONSISTENCY, ThriftPages};
use super::schema;
use super::value::{Fields, ThriftValue};
use base::marshal::Types;
use base::schema::{CfDef, FamilyName, KeyspaceDef};
use wire::thrift::NOT_COMPRESSED;

/// A server that was reached, and its schema.
pub(crate) struct ThriftServer {
    pub pages: Arc<ThriftPages>,
    types: Types,
    /// The only keyspace of the copy. A login of 0.6 needs it.
    keyspace: Option<String>,
    described: Mutex<Vec<KeyspaceDef>>,
    /// The statements that create the tables of CQL.
    statements: Mutex<BTreeMap<FamilyName, Vec<String>>>,
}

impl ThriftServer {
    /// Reads the schema of a server.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, or describes a schema that is not supported.
    pub(crate) async fn open(
        pages: Arc<ThriftPages>,
        types: Types,
        keyspace: Option<&str>,
    ) -> Result<ThriftServer, String> {
        let described = schema::keyspaces(&pages, &types, keyspace).await?;
        let (keyspace, described) = (keyspace.map(str::to_owned), Mutex::new(described));
        Ok(ThriftServer { pages, types, keyspace, described, statements: Mutex::default() })
    }

    /// Adds tables of CQL, which the server does not describe, with the statements that create them.
    pub(crate) fn add_tables(&self, tables: impl IntoIterator<Item = (Arc<CfDef>, Vec<String>)>) {
        let (mut described, mut all) = (self.described.lock(), self.statements.lock());
        for (cf, statements) in tables {
            all.insert(FamilyName::of(&cf), statements);
            if let Some(keyspace) = described.iter_mut().find(|known| known.name == cf.keyspace) {
                keyspace.column_families.insert(cf.name.clone(), cf);
            }
        }
    }

    /// Returns the statements that create a table of CQL. `None` for other column families.
    pub(crate) fn statements_of(&self, cf: &CfDef) -> Option<Vec<String>> {
        self.statements.lock().get(&FamilyName::of(cf)).cloned()
    }

    /// Returns the keyspaces.
    pub(crate) fn keyspaces(&self) -> Vec<KeyspaceDef> {
        self.described.lock().clone()
    }

    /// Returns the definition of a column family.
    pub(crate) fn column_family(&self, keyspace: &str, name: &str) -> Option<Arc<CfDef>> {
        let described = self.described.lock();
        let keyspace = described.iter().find(|described| described.name == keyspace)?;
        keyspace.column_families.get(name).cloned()
    }

    /// Creates column families of a keyspace as another store defines them, and the keyspace if the server has none. Tables of
    /// CQL are created by the statements of the source. Then reads the schema of the server again.
    ///
    /// # Errors
    ///
    /// If the server refuses a definition, or is of 0.6, whose schema is in its configuration.
    pub(crate) async fn define(
        &self,
        keyspace: &KeyspaceDef,
        families: &[Arc<CfDef>],
        source: Option<&ThriftServer>,
    ) -> Result<(), String> {
        if self.pages.address.is_keyed {
            return Err(
                "a server of 0.6 has its column families in its storage-conf.xml: add them there".to_owned()
            );
        }
        let is_new = !self.described.lock().iter().any(|known| known.name == keyspace.name);
        let (tables, families): (Vec<_>, Vec<_>) =
            families.iter().cloned().partition(|cf| cf.table.is_some());
        for call in definitions::calls(keyspace, &families, is_new) {
            let of_keyspace = (!is_new).then_some(&keyspace.name[..]);
            let made = self.pages.exchange(of_keyspace, call.method, call.arguments).await;
            made.map_err(|error| error.to_string())?;
        }
        let mut made = Vec::new();
        for cf in tables {
            let statements = source.and_then(|source| source.statements_of(&cf)).unwrap_or_default();
            for text in &statements {
                self.execute(&keyspace.name, text).await.map_err(|error| format!("{text}: {error}"))?;
            }
            made.push((cf, statements));
        }
        let described = schema::keyspaces(&self.pages, &self.types, self.keyspace.as_deref()).await?;
        let before = std::mem::replace(&mut *self.described.lock(), described);
        let known = before.iter().flat_map(|keyspace| keyspace.column_families.values().cloned());
        let known = known.filter_map(|cf| self.statements_of(&cf).map(|statements| (cf, statements)));
        self.add_tables(known.chain(made).collect::<Vec<_>>());
        Ok(())
    }

    /// Executes a statement of CQL 3.
    async fn execute(&self, keyspace: &str, text: &str) -> Result<(), ThriftCallError> {
        let arguments =
            [(1, text.into()), (2, ThriftValue::Int(NOT_COMPRESSED)), (3, ThriftValue::Int(CONSISTENCY))];
        let arguments = Fields(arguments.into());
        self.pages.exchange(Some(keyspace), "execute_cql3_query", arguments).await.map(drop)
    }
}
