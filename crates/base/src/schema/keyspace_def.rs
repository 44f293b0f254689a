//! The definition of a keyspace.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::CfDef;
use crate::marshal::UserType;
use crate::util::SharedMap;

/// A keyspace: its column families and its replication, which only a cluster uses.
#[derive(Debug, Clone)]
pub struct KeyspaceDef {
    /// Unique in the catalog.
    pub name: String,
    /// Copies of each row, in the words of the schema; consistency levels are checked against it.
    pub replication_factor: i32,
    /// The full Java class name of the replication strategy.
    pub strategy_class: String,
    /// Column families by their names.
    pub column_families: SharedMap<String, Arc<CfDef>>,
    /// The label RowKey of 0.4, for the "Desc" of describe_keyspace.
    pub row_key_label: String,
    /// The options of the strategy (0.7 and later), with the replication factor if it was set there.
    pub strategy_options: BTreeMap<String, String>,
    /// Set by clients from 0.8 on and returned to them. The embedded store logs every write anyway.
    pub durable_writes: bool,
    /// The user types, by name.
    pub user_types: SharedMap<String, Arc<UserType>>,
    /// Whether the configuration file defines it, so that clients cannot change it.
    pub is_configured: bool,
}

impl KeyspaceDef {
    /// Returns the strategy's class name of 0.7 and later, which renamed the classes of 0.6.
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

    /// Returns a keyspace without column families and with replication factor 1.
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
