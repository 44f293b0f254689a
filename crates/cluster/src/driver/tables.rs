//! The tables that a gateway has used.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::RwLock;

use super::table::PreparedTable;
use base::schema::CfDef;
use store::Result;

/// The tables that have been used, by keyspace and name.
#[derive(Debug, Default)]
pub(super) struct PreparedTables {
    by_name: RwLock<HashMap<String, HashMap<String, Arc<PreparedTable>>>>,
}

impl PreparedTables {
    /// Returns the table of a column family with this definition.
    pub(super) fn of(&self, cf: &Arc<CfDef>) -> Result<Arc<PreparedTable>> {
        let known = self.by_name.read().get(&cf.keyspace).and_then(|tables| tables.get(&cf.name)).cloned();
        if let Some(table) = known.filter(|table| Arc::ptr_eq(&table.cf, cf)) {
            return Ok(table);
        }
        let table = Arc::new(PreparedTable::of(cf)?);
        let mut tables = self.by_name.write();
        tables.entry(cf.keyspace.clone()).or_default().insert(cf.name.clone(), table.clone());
        Ok(table)
    }

    /// Forgets the table of a column family that was dropped or has another definition.
    pub(super) fn forget(&self, cf: &CfDef) {
        if let Some(tables) = self.by_name.write().get_mut(&cf.keyspace) {
            tables.remove(&cf.name);
        }
    }
}
