//! Suggests the name that was probably meant.

/// Longer names are not compared, because comparison takes quadratic time.
const NAME_BYTES_MAX: usize = 128;

/// Returns the candidate of which `given` is most likely a misspelling: at most one letter in three is wrong, missing,
/// added or swapped with its neighbour. Letter case is ignored.
pub fn nearest<'a>(given: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if given.len() > NAME_BYTES_MAX {
        return None;
    }
    let given: Vec<char> = given.to_lowercase().chars().collect();
    let allowed = (given.len() / 3).max(1);
    candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= NAME_BYTES_MAX)
        .map(|candidate| (distance(&given, &candidate.to_lowercase().chars().collect::<Vec<_>>()), candidate))
        .filter(|(distance, candidate)| *distance <= allowed && *distance < candidate.len())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
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
        let types = ["AsciiType", "BytesType", "LongType", "UTF8Type"];
        for (given, meant) in [
            ("UTF8Typ", Some("UTF8Type")),
            ("utf8type", Some("UTF8Type")),
            ("UFT8Type", Some("UTF8Type")),
            ("ByteType", Some("BytesType")),
            ("StringType", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(nearest(given, types), meant, "{given}");
        }
    }
}
