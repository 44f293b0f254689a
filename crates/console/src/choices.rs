//! The lists from which forms choose a keyspace and a column family.

use super::present::escaped;
use super::seen_schema::SeenSchema;

/// Column families in one list. A server with more offers those of the chosen keyspace.
const FAMILIES_MAX: usize = 1000;
/// Keyspaces in one list.
const KEYSPACES_MAX: usize = 500;

/// A name to choose.
pub(crate) struct Choice {
    pub value: String,
    pub shown: String,
    pub is_chosen: bool,
}

/// A keyspace to choose, with its column families.
pub(crate) struct KeyspaceChoice {
    pub keyspace: Choice,
    pub families: Vec<Choice>,
}

/// The keyspaces and column families that a visitor sees, and those that a form names otherwise.
pub(crate) struct Choices {
    pub keyspaces: Vec<KeyspaceChoice>,
}

impl Choices {
    /// Returns the choices of a form that has chosen a keyspace and a column family, or empty texts.
    pub(crate) fn of(schema: &SeenSchema, keyspace: &str, family: &str) -> Choices {
        let all = schema.keyspaces();
        let families: usize = all.iter().map(|known| known.families.len()).sum();
        let is_long = families > FAMILIES_MAX;
        let choice = |value: &str, chosen: &str| Choice {
            value: value.to_owned(),
            shown: escaped(value.as_bytes()),
            is_chosen: value == chosen,
        };
        // The keyspaces of users come first.
        let (reserved, own): (Vec<_>, Vec<_>) = all.iter().partition(|known| known.is_reserved);
        let mut keyspaces = Vec::new();
        for known in own.into_iter().chain(reserved).take(KEYSPACES_MAX) {
            let is_chosen = known.name == keyspace;
            let listed = known.families.iter().filter(|_| is_chosen || !is_long).take(FAMILIES_MAX);
            let chosen = if is_chosen { family } else { "" };
            let families = listed.map(|cf| choice(&cf.name, chosen)).collect();
            keyspaces.push(KeyspaceChoice { keyspace: choice(&known.name, keyspace), families });
        }
        if !keyspace.is_empty() && !keyspaces.iter().any(|known| known.keyspace.is_chosen) {
            keyspaces.push(KeyspaceChoice { keyspace: choice(keyspace, keyspace), families: Vec::new() });
        }
        let has_family = keyspaces.iter().flat_map(|known| &known.families).any(|family| family.is_chosen);
        if !family.is_empty() && !has_family {
            match keyspaces.iter_mut().find(|known| known.keyspace.is_chosen) {
                Some(known) => known.families.push(choice(family, family)),
                None => keyspaces.push(KeyspaceChoice {
                    keyspace: choice("", keyspace),
                    families: vec![choice(family, family)],
                }),
            }
        }
        Choices { keyspaces }
    }
}
