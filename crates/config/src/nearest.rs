//! Suggests the name that was probably meant.

use strsim::osa_distance;

/// Longer names are not compared, because comparison takes quadratic time.
const NAME_BYTES_MAX: usize = 128;

/// Shorter beginnings of names suggest nothing.
const PREFIX_BYTES_MIN: usize = 3;

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

#[cfg(test)]
mod tests {
    use super::nearest;

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
