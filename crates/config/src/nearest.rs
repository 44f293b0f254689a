//! Suggests the name that was probably meant.

use std::path::Path;

use strsim::osa_distance;

/// Longer names are not compared, because comparison takes quadratic time.
const NAME_BYTES_MAX: usize = 128;

/// Shorter beginnings of names suggest nothing.
const PREFIX_BYTES_MIN: usize = 3;

/// Entries of a directory that are compared with a path.
const ENTRIES_MAX: usize = 1000;

/// Returns the candidate that `given` most likely misspells: at most one letter in three is wrong, missing, added or
/// swapped with its neighbour. If there is none, returns the shortest candidate that begins with `given`, such as
/// `TimeUUIDType` for `TimeUUID`. Letter case is ignored.
pub fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if given.len() > NAME_BYTES_MAX {
        return None;
    }
    let given = given.to_lowercase();
    let allowed = (given.chars().count() / 3).max(1);
    let candidates = candidates.into_iter().filter(|candidate| candidate.len() <= NAME_BYTES_MAX);
    let candidates: Vec<(&str, String)> = candidates.map(|name| (name, name.to_lowercase())).collect();
    let misspelt = candidates
        .iter()
        .map(|(name, lower)| (osa_distance(&given, lower), *name))
        .filter(|(distance, name)| *distance <= allowed && *distance < name.len())
        .min_by_key(|(distance, _)| *distance);
    if let Some((_, name)) = misspelt {
        return Some(name);
    }
    if given.len() < PREFIX_BYTES_MIN {
        return None;
    }
    let shortened = candidates.iter().filter(|(_, lower)| lower.starts_with(&given));
    shortened.map(|(name, _)| *name).min_by_key(|name| name.len())
}

/// Returns the end of a message about an unknown name: `; did you mean UTF8Type?`. Empty if no candidate is similar.
pub fn suggestion<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    nearest(given, candidates).map(|meant| format!("; did you mean {meant}?")).unwrap_or_default()
}

/// Returns the same about a path that does not exist. The candidates are the files and directories beside it.
pub fn path_suggestion(path: &Path) -> String {
    let Some(given) = path.file_name().map(|name| name.to_string_lossy()) else { return String::new() };
    let directory = path.parent().unwrap_or(Path::new(""));
    let searched = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let entries = std::fs::read_dir(searched).into_iter().flatten().flatten().take(ENTRIES_MAX);
    let names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let meant = nearest(&given, names.iter().map(String::as_str)).map(|name| directory.join(name));
    meant.map(|meant| format!("; did you mean {}?", meant.display())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_compared_with_its_neighbours() {
        let hint = |path: &str| path_suggestion(Path::new(path));
        assert_eq!(hint("src/nearst.rs"), "; did you mean src/nearest.rs?");
        assert_eq!(hint("Cargo.tml"), "; did you mean Cargo.toml?");
        for unlike in ["src/cassandra.yaml", "nowhere/nearst.rs", "..", ""] {
            assert_eq!(hint(unlike), "", "{unlike}");
        }
    }

    #[test]
    fn misspellings_have_a_suggestion_and_other_words_have_none() {
        let types = ["AsciiType", "BytesType", "LongType", "TimeUUIDType", "UTF8Type"];
        for (given, meant) in [
            ("UTF8Typ", Some("UTF8Type")),
            ("utf8type", Some("UTF8Type")),
            ("UFT8Type", Some("UTF8Type")),
            ("ByteType", Some("BytesType")),
            ("UTF8", Some("UTF8Type")),
            ("timeuuid", Some("TimeUUIDType")),
            ("StringType", None),
            ("By", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(given, types), meant, "{given}");
        }
    }
}
