//! The column families of a store.

use std::collections::HashMap;
use std::sync::Arc;

use super::family::Family;
use crate::schema::CfDef;
use crate::storage::StoreError;

/// Column families that are defined, and what is known of others.
#[derive(Default, Clone)]
pub struct Families {
    /// By keyspace, then name.
    pub by_name: HashMap<String, HashMap<String, Arc<Family>>>,
    /// With their gc_grace in seconds.
    pub by_id: HashMap<u32, (Arc<Family>, i32)>,
    /// Held on the disk but not defined.
    pub undefined: Vec<String>,
}

impl Families {
    /// The trees of a column family.
    pub fn family(&self, cf: &CfDef) -> Result<&Arc<Family>, StoreError> {
        let found = self.by_name.get(&cf.keyspace).and_then(|families| families.get(&cf.name));
        found.ok_or_else(|| {
            StoreError::Mismatch(format!("column family {}.{} is not in the store", cf.keyspace, cf.name))
        })
    }
}
