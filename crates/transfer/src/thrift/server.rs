//! A Thrift server as one side of a copy: its keyspaces, as it described them last.

use std::sync::Arc;

use parking_lot::Mutex;

use super::definitions;
use super::pages::ThriftPages;
use super::schema;
use base::marshal::Types;
use base::schema::{CfDef, KeyspaceDef};

/// A server that was reached, and its schema.
pub(crate) struct ThriftServer {
    pub pages: Arc<ThriftPages>,
    types: Types,
    /// The only keyspace of the copy. A login of 0.6 needs it.
    keyspace: Option<String>,
    described: Mutex<Vec<KeyspaceDef>>,
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
        Ok(ThriftServer { pages, types, keyspace, described })
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

    /// Creates column families of a keyspace as another store defines them, and the keyspace if the server has none. Then
    /// reads the schema of the server again.
    ///
    /// # Errors
    ///
    /// If the server refuses a definition, or is of 0.6, whose schema is in its configuration.
    pub(crate) async fn define(&self, keyspace: &KeyspaceDef, families: &[Arc<CfDef>]) -> Result<(), String> {
        if self.pages.address.is_keyed {
            return Err(
                "a server of 0.6 has its column families in its storage-conf.xml: add them there".to_owned()
            );
        }
        let is_new = !self.described.lock().iter().any(|known| known.name == keyspace.name);
        for call in definitions::calls(keyspace, families, is_new) {
            let of_keyspace = (!is_new).then_some(&keyspace.name[..]);
            let made = self.pages.exchange(of_keyspace, call.method, call.arguments).await;
            made.map_err(|error| error.to_string())?;
        }
        *self.described.lock() =
            schema::keyspaces(&self.pages, &self.types, self.keyspace.as_deref()).await?;
        Ok(())
    }
}
