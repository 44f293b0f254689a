//! The keyspace of a schema on the cluster: its replication, and the statement that creates it.

use std::collections::BTreeMap;

use base::schema::{KeyspaceDef, quoted_name, quoted_text};

/// Returns the statement that creates a keyspace.
pub fn keyspace_statement(keyspace: &KeyspaceDef) -> String {
    format!(
        "CREATE KEYSPACE IF NOT EXISTS {} WITH replication = {} AND durable_writes = {}",
        quoted_name(&keyspace.name),
        replication(keyspace, None),
        keyspace.durable_writes
    )
}

/// Returns a keyspace's replication as a map of CQL: the operator's for all keyspaces if there is one, otherwise the
/// schema's.
pub(crate) fn replication(keyspace: &KeyspaceDef, for_all: Option<&BTreeMap<String, String>>) -> String {
    if let Some(options) = for_all {
        return map(options);
    }
    let class = keyspace.modern_strategy_class().rsplit('.').next().unwrap_or_default();
    let mut options = keyspace.strategy_options.clone();
    // The rack-aware strategy of 0.6 has no class that ScyllaDB knows too. NetworkTopologyStrategy is its successor.
    let class = if class == "OldNetworkTopologyStrategy" { "NetworkTopologyStrategy" } else { class };
    match class {
        "SimpleStrategy" => options.retain(|name, _| name == "replication_factor"),
        _ => options.retain(|name, _| name != "replication_factor"),
    }
    if options.is_empty() {
        options.insert("replication_factor".to_owned(), keyspace.replication_factor.max(1).to_string());
    }
    options.insert("class".to_owned(), class.to_owned());
    map(&options)
}

/// Returns a map as CQL writes it.
pub(crate) fn map(options: &BTreeMap<String, String>) -> String {
    let entries: Vec<String> = options
        .iter()
        .map(|(name, value)| format!("{}: {}", quoted_text(name), quoted_text(value)))
        .collect();
    format!("{{{}}}", entries.join(", "))
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
    fn replication_is_taken_from_the_schema() {
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
    fn replication_set_by_the_operator_wins() {
        let for_all = BTreeMap::from([
            ("class".to_owned(), "NetworkTopologyStrategy".to_owned()),
            ("o'dc".to_owned(), "3".to_owned()),
        ]);
        assert_eq!(
            replication(&keyspace("SimpleStrategy", &[]), Some(&for_all)),
            "{'class': 'NetworkTopologyStrategy', 'o''dc': '3'}"
        );
    }
}
