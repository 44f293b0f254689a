//! One keyspace's definition.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::CfDef;

/// A keyspace: its column families and how an old cluster would have replicated it.
#[derive(Debug, Clone)]
pub struct KeyspaceDef {
    pub name: String,
    pub replication_factor: i32,
    /// Full Java class name of the replica placement strategy.
    pub strategy_class: String,
    pub column_families: BTreeMap<String, Arc<CfDef>>,
    /// The free text that 0.4 calls RowKey, for describe_keyspace's "Desc".
    pub row_key_label: String,
}

impl KeyspaceDef {
    /// A keyspace without column families, replicated once.
    pub fn new(name: &str) -> KeyspaceDef {
        KeyspaceDef {
            name: name.to_owned(),
            replication_factor: 1,
            strategy_class: "org.apache.cassandra.locator.RackUnawareStrategy".to_owned(),
            column_families: BTreeMap::new(),
            row_key_label: "ROW_KEY".to_owned(),
        }
    }
}
