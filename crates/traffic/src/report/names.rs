//! Counts by name, with bounded memory.
//!
//! Names are sent by clients: there may be any number of them, and each may be long. A table keeps the first names up to
//! its limit and counts all others together.

use std::collections::BTreeMap;

use crate::limits::REPORT_NAME_CHARS_MAX;

/// Counts of type `T` by name.
#[derive(Debug)]
pub struct NameTable<T> {
    max: usize,
    entries: BTreeMap<String, T>,
    others: Option<T>,
}

impl<T: Default> NameTable<T> {
    /// Creates a table of at most `max` names.
    pub fn new(max: usize) -> NameTable<T> {
        NameTable { max, entries: BTreeMap::new(), others: None }
    }

    /// Returns the counts of a name, or the counts of all other names if the table is full.
    pub fn of(&mut self, name: &str) -> &mut T {
        let name = short(name, REPORT_NAME_CHARS_MAX);
        let is_known = self.entries.contains_key(name.as_ref());
        if !is_known && self.entries.len() >= self.max {
            return self.others.get_or_insert_default();
        }
        self.entries.entry(name.into_owned()).or_default()
    }

    /// Returns all names with their counts. The last may be the counts of all names that had no place, as `None`.
    pub fn iter(&self) -> impl Iterator<Item = (Option<&str>, &T)> {
        let named = self.entries.iter().map(|(name, counts)| (Some(name.as_str()), counts));
        named.chain(self.others.iter().map(|counts| (None, counts)))
    }
}

/// Returns the name of a table as it is shown. It is empty if a write may be for any table.
pub(crate) fn shown_table(table: &str) -> &str {
    if table.is_empty() { "(any table)" } else { table }
}

/// Returns a text of at most `max` characters. A longer one is cut, and its length in bytes is added.
pub fn short(text: &str, max: usize) -> std::borrow::Cow<'_, str> {
    match text.char_indices().nth(max) {
        None => text.into(),
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], text.len()).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_above_the_limit_are_counted_together() {
        let mut table = NameTable::<u64>::new(2);
        for name in ["a", "b", "c", "a", "d"] {
            *table.of(name) += 1;
        }
        let counts: Vec<_> = table.iter().map(|(name, count)| (name, *count)).collect();
        assert_eq!(counts, [(Some("a"), 2), (Some("b"), 1), (None, 2)]);
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        assert_eq!(short("日本", 2), "日本");
        assert_eq!(short("日本語", 2), "日本… (9 bytes)");
    }
}
