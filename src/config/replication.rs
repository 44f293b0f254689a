//! How the keyspaces of a cluster are replicated, in one short text.

use std::collections::BTreeMap;

/// The key of the strategy's class in what CQL calls `replication`, and that of its number of copies.
const CLASS: &str = "class";
const FACTOR: &str = "replication_factor";
const SIMPLE: &str = "SimpleStrategy";
const BY_DATA_CENTER: &str = "NetworkTopologyStrategy";

/// Reads `SimpleStrategy:3`, `NetworkTopologyStrategy:3` (so many copies in each data centre) or copies by data centre,
/// `east:3,west:2`: what CQL calls `replication`. An error says what is wrong.
pub fn replication(text: &str) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    let mut class = BY_DATA_CENTER;
    let parts: Vec<&str> = text.split(',').map(str::trim).collect();
    for part in &parts {
        let (name, copies) = part
            .rsplit_once(':')
            .map(|(name, copies)| (name.trim(), copies.trim()))
            .filter(|(name, _)| !name.is_empty())
            .ok_or_else(|| format!("{part:?} says not what is replicated and how often"))?;
        let copies: u16 =
            copies.parse().map_err(|_| format!("{copies:?} in {part:?} is no number of copies"))?;
        let key = match name {
            SIMPLE | BY_DATA_CENTER if parts.len() > 1 => {
                return Err(format!("{name} stands alone, or copies by data centre without it"));
            }
            SIMPLE => {
                class = SIMPLE;
                FACTOR
            }
            BY_DATA_CENTER => FACTOR,
            CLASS | FACTOR => return Err(format!("{name:?} is no name of a data centre")),
            name => name,
        };
        if found.insert(key.to_owned(), copies.to_string()).is_some() {
            return Err(format!("the data centre {name} stands twice"));
        }
    }
    if found.values().all(|copies| copies == "0") {
        return Err("there has to be one copy at least".to_owned());
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
    fn what_says_no_replication_is_refused() {
        for (wrong, why) in [
            ("", "says not"),
            ("3", "says not"),
            (":3", "says not"),
            ("SimpleStrategy", "says not"),
            ("SimpleStrategy:0", "one copy"),
            ("east:0,west:0", "one copy"),
            ("SimpleStrategy:many", "no number"),
            ("east:-1", "no number"),
            ("east:3,", "says not"),
            ("SimpleStrategy:3,east:2", "stands alone"),
            ("east:1,NetworkTopologyStrategy:2", "stands alone"),
            ("east:3,east:2", "twice"),
            ("class:3", "no name of a data centre"),
        ] {
            let error = replication(wrong).unwrap_err();
            assert!(error.contains(why), "{wrong}: {error}");
        }
    }
}
