//! Parses the replication of a cluster's keyspaces from a short text.

use std::collections::BTreeMap;

/// The keys of the strategy's class and of its number of copies in CQL's `replication`.
const CLASS: &str = "class";
const FACTOR: &str = "replication_factor";
const SIMPLE: &str = "SimpleStrategy";
const BY_DATA_CENTER: &str = "NetworkTopologyStrategy";

/// Parses `SimpleStrategy:3`, `NetworkTopologyStrategy:3` (3 copies in each data centre) or copies by data centre,
/// `east:3,west:2`. Returns the map of CQL's `replication`.
///
/// # Errors
///
/// The mistake in the text.
pub fn replication(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    let mut class = BY_DATA_CENTER;
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    for part in &parts {
        let (name, copies) = part
            .rsplit_once(':')
            .map(|(name, copies)| (name.trim(), copies.trim()))
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| format!("{part:?} is not a name and a number of copies"))?;
        let copies: u16 =
            copies.parse().map_err(|_| format!("{copies:?} in {part:?} is not a number of copies"))?;
        let key = match name {
            SIMPLE | BY_DATA_CENTER if parts.len() > 1 => {
                return Err(format!("{name} cannot be combined with other parts"));
            }
            SIMPLE => {
                class = SIMPLE;
                FACTOR
            }
            BY_DATA_CENTER => FACTOR,
            CLASS | FACTOR => return Err(format!("{name:?} cannot be the name of a data centre")),
            name => name,
        };
        if found.insert(key.to_owned(), copies.to_string()).is_some() {
            return Err(format!("the data centre {name} is given twice"));
        }
    }
    if found.values().all(|copies| copies == "0") {
        return Err("at least one copy is required".to_owned());
    }
    found.insert(CLASS.to_owned(), class.to_owned());
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strategies_and_data_centres_are_read() {
        for (given, expected) in [
            ("SimpleStrategy:3", [("class", "SimpleStrategy"), ("replication_factor", "3")].as_slice()),
            (
                "NetworkTopologyStrategy: 2",
                &[("class", "NetworkTopologyStrategy"), ("replication_factor", "2")],
            ),
            ("east:3", &[("class", "NetworkTopologyStrategy"), ("east", "3")]),
            ("east:3, us-west:0", &[("class", "NetworkTopologyStrategy"), ("east", "3"), ("us-west", "0")]),
        ] {
            let expected =
                expected.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
            assert_eq!(replication(given), Ok(expected), "{given}");
        }
    }

    #[test]
    fn invalid_replications_are_refused() {
        for (wrong, why) in [
            ("", "is not a name and a number"),
            ("3", "is not a name and a number"),
            (":3", "is not a name and a number"),
            ("SimpleStrategy", "is not a name and a number"),
            ("SimpleStrategy:0", "at least one copy"),
            ("east:0,west:0", "at least one copy"),
            ("SimpleStrategy:many", "not a number"),
            ("east:-1", "not a number"),
            ("east:3,", "is not a name and a number"),
            ("SimpleStrategy:3,east:2", "cannot be combined"),
            ("east:1,NetworkTopologyStrategy:2", "cannot be combined"),
            ("east:3,east:2", "twice"),
            ("class:3", "cannot be the name of a data centre"),
        ] {
            let error = replication(wrong).unwrap_err();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }
}
