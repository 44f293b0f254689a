//! One keyspace's definition.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::CfDef;
use crate::marshal::UserType;
use crate::util::SharedMap;

/// A keyspace: its column families and how an old cluster would have replicated it.
#[derive(Debug, Clone)]
pub struct KeyspaceDef {
    pub name: String,
    pub replication_factor: i32,
    /// Full Java class name of the replica placement strategy.
    pub strategy_class: String,
    pub column_families: SharedMap<String, Arc<CfDef>>,
    /// The free text that 0.4 calls RowKey, for describe_keyspace's "Desc".
    pub row_key_label: String,
    /// What the strategy was told (0.7 and later); the replication factor among it where it said so.
    pub strategy_options: BTreeMap<String, String>,
    /// Said by clients from 0.8 on, and repeated to them; this server logs every write.
    pub durable_writes: bool,
    /// What CREATE TYPE made, by name.
    pub user_types: SharedMap<String, Arc<UserType>>,
    /// The configuration file defines it, so that clients cannot change it.
    pub is_configured: bool,
}

impl KeyspaceDef {
    /// The strategy's class name as 0.7 and later call it: they renamed those of 0.6.
    pub fn modern_strategy_class(&self) -> &str {
        match &*self.strategy_class {
            "org.apache.cassandra.locator.RackUnawareStrategy" => {
                "org.apache.cassandra.locator.SimpleStrategy"
            }
            "org.apache.cassandra.locator.RackAwareStrategy" => {
                "org.apache.cassandra.locator.OldNetworkTopologyStrategy"
            }
            "org.apache.cassandra.locator.DatacenterShardStategy"
            | "org.apache.cassandra.locator.DatacenterShardStrategy" => {
                "org.apache.cassandra.locator.NetworkTopologyStrategy"
            }
            class => class,
        }
    }

    /// A keyspace without column families, replicated once.
    pub fn new(name: &str) -> KeyspaceDef {
        KeyspaceDef {
            name: name.to_owned(),
            replication_factor: 1,
            strategy_class: "org.apache.cassandra.locator.RackUnawareStrategy".to_owned(),
            column_families: SharedMap::new(),
            row_key_label: "ROW_KEY".to_owned(),
            strategy_options: BTreeMap::new(),
            durable_writes: true,
            user_types: SharedMap::new(),
            is_configured: false,
        }
    }
}
