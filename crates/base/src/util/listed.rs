//! Lists on one line, cut after the first items.

use std::fmt::Display;

/// Returns the first `max` items with commas between them, and the number of the others: `a, b and 3 more`.
pub fn listed<T: Display>(items: &[T], max: usize) -> String {
    let (shown, others) = items.split_at(items.len().min(max));
    let shown: Vec<String> = shown.iter().map(ToString::to_string).collect();
    let more = if others.is_empty() { String::new() } else { format!(" and {} more", others.len()) };
    shown.join(", ") + &more
}

/// Returns a number with its noun: `1 keyspace`, `2 column families`.
pub fn counted(number: u64, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if number == 1 => format!("1 {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_after_the_first_ones_are_counted() {
        assert_eq!(listed(&["a", "b", "c"], 2), "a, b and 1 more");
        assert_eq!(listed(&["a", "b"], 2), "a, b");
        assert_eq!(listed::<u8>(&[], 2), "");
    }

    #[test]
    fn nouns_have_the_form_of_their_number() {
        let all = [counted(1, "keyspace"), counted(0, "keyspace"), counted(2, "column family")];
        assert_eq!(all, ["1 keyspace", "0 keyspaces", "2 column families"]);
    }
}
