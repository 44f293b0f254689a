//! A server whose tables are exported.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::client::NativeExchange;
use super::schema;
use super::walk::NativeWalk;
use crate::endpoint::{Endpoint, NativeAddress};
use base::marshal::Types;
use base::partitioner::Murmur3Partitioner;
use base::schema::{Catalog, CfDef, FamilyName};
use base::util::Clock;

/// A server that was reached, and its schema.
pub struct NativeSource {
    /// The name, the same in every run.
    pub name: String,
    /// The definitions of its tables.
    pub(crate) definitions: Arc<Endpoint>,
    /// Tables that cannot be read, with the reasons, and objects that are not exported.
    pub left_out: Vec<String>,
    client: Arc<Mutex<NativeExchange>>,
    clock: Arc<Clock>,
}

impl NativeSource {
    /// Connects, and reads the schema.
    ///
    /// # Errors
    ///
    /// If the server cannot be reached, or its schema cannot be read.
    pub async fn open(
        address: &NativeAddress,
        types: &Types,
        clock: &Arc<Clock>,
    ) -> Result<NativeSource, String> {
        let name = format!("native:{}", address.address);
        let failed = |why: String| format!("{name}: {why}");
        let mut client = NativeExchange::connect(address).await.map_err(failed)?;
        let found = schema::read(&mut client, types).await.map_err(failed)?;
        let partitioner = Arc::new(Murmur3Partitioner);
        let definitions = Endpoint::in_memory(&name, Catalog::default(), types, partitioner, clock);
        let definitions = Arc::new(definitions.map_err(|error| error.to_string())?);
        let database = definitions.writable().map_err(|error| error.to_string())?;
        let defined = found.define(database).await;
        let left_out = [found.missing, found.left_out, defined.failed].concat();
        let client = Arc::new(Mutex::new(client));
        Ok(NativeSource { name, definitions, left_out, client, clock: clock.clone() })
    }

    /// Returns whether CQL shows the columns of a table. Of Super column families it shows a map that depends on the release.
    pub(crate) fn can_read(cf: &CfDef) -> bool {
        !cf.is_super()
    }

    /// Returns the Super column families.
    pub fn unreadable(&self) -> Vec<FamilyName> {
        let keyspaces = self.definitions.keyspaces();
        let families = keyspaces.iter().flat_map(|keyspace| keyspace.column_families.values());
        families.filter(|cf| !NativeSource::can_read(cf)).map(|cf| FamilyName::of(cf)).collect()
    }

    pub(crate) fn read(&self, cf: &Arc<CfDef>) -> NativeWalk {
        NativeWalk::new(self.name.clone(), self.client.clone(), self.clock.clone(), cf.clone())
    }
}
