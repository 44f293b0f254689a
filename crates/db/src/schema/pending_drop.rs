//! The record of a drop that has begun, for the servers that share the store.

use crate::login::Resource;

/// The prefix of the record of a pending drop; the names of the keyspace and of the table follow, each after a slash.
const DROPPED_RECORD: &str = "dropped";

/// Returns the name of the record of a pending drop.
pub(super) fn mark_of(dropped: &Resource) -> Option<String> {
    match dropped {
        Resource::Keyspace(keyspace) => Some(format!("{DROPPED_RECORD}/{keyspace}")),
        Resource::Table(keyspace, table) => Some(format!("{DROPPED_RECORD}/{keyspace}/{table}")),
        _ => None,
    }
}

/// Returns the resource that a record marks as a pending drop; `None` for any other record.
pub(super) fn resource_of(record: &str) -> Option<Resource> {
    let mut names = record.strip_prefix(DROPPED_RECORD)?.strip_prefix('/')?.split('/').map(str::to_owned);
    match (names.next()?, names.next()) {
        (keyspace, None) => Some(Resource::Keyspace(keyspace)),
        (keyspace, Some(table)) => Some(Resource::Table(keyspace, table)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_dropped_resources_round_trip() {
        let table = Resource::Table("Ks".to_owned(), "Cf".to_owned());
        for resource in [Resource::Keyspace("Ks".to_owned()), table] {
            assert_eq!(resource_of(&mark_of(&resource).unwrap()), Some(resource.clone()));
        }
        assert_eq!(mark_of(&Resource::AllKeyspaces), None);
        for other in ["keyspace/Ks", "dropped", "droppedKs", "role/dropped"] {
            assert_eq!(resource_of(other), None, "{other}");
        }
    }
}
