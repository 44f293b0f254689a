//! Suggests the name that was probably meant.

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
    let letters: Vec<char> = given.chars().collect();
    let allowed = (letters.len() / 3).max(1);
    let candidates = candidates.into_iter().filter(|candidate| candidate.len() <= NAME_BYTES_MAX);
    let candidates: Vec<(&str, String)> = candidates.map(|name| (name, name.to_lowercase())).collect();
    let misspelt = candidates
        .iter()
        .map(|(name, lower)| (distance(&letters, &lower.chars().collect::<Vec<_>>()), *name))
        .filter(|(distance, name)| *distance <= allowed && *distance < name.len())
        .min_by_key(|(distance, _)| *distance);
    if let Some((_, name)) = misspelt {
        return Some(name);
    }
    let is_shortened = |lower: &String| given.len() >= PREFIX_BYTES_MIN && lower.starts_with(&given);
    let shortened = candidates.iter().filter(|(_, lower)| is_shortened(lower));
    shortened.map(|(name, _)| *name).min_by_key(|name| name.len())
}

/// Returns the edit distance of two texts; a swap of neighbours is one edit (optimal string alignment).
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before_last = vec![0; right.len() + 1];
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for i in 1..=left.len() {
        let mut row = vec![i; right.len() + 1];
        for j in 1..=right.len() {
            let same = left[i - 1] == right[j - 1];
            row[j] = (last[j - 1] + usize::from(!same)).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[right.len()]
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
