//! Reports of data that was not imported: the first ones with their text, and how many there are.
//!
//! A damaged file of many gigabytes can have a damage in each of its blocks, so the number of texts in memory is limited.

use std::path::PathBuf;

use bytes::Bytes;

use base::util::hex;

/// Reports that are kept with their text.
const FIRST_MAX: usize = 1_000;

/// A part of a file that was not imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// The damaged file.
    pub path: PathBuf,
    /// The description: what is wrong, and what is lost.
    pub what: String,
}

/// Reports.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Losses {
    first: Vec<Lost>,
    count: u64,
    /// Reports of damage without which everything was imported.
    harmless: u64,
}

impl Losses {
    /// Counts a report, and keeps its text if it is among the first `FIRST_MAX`.
    pub fn add(&mut self, lost: Lost) {
        self.count += 1;
        if self.first.len() < FIRST_MAX {
            self.first.push(lost);
        }
    }

    /// Adds a report of damage, such as of an Index file, without which everything was imported.
    pub(super) fn add_harmless(&mut self, damage: Lost) {
        self.add(damage);
        self.harmless += 1;
    }

    /// Adds the reports of another file.
    pub fn append(&mut self, other: Losses) {
        self.count += other.count;
        self.harmless += other.harmless;
        let room = FIRST_MAX - self.first.len();
        self.first.extend(other.first.into_iter().take(room));
    }

    /// Returns the first reports.
    pub fn first(&self) -> &[Lost] {
        &self.first
    }

    /// Returns the number of all reports.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the number of reports of damage without which everything was imported.
    pub fn harmless(&self) -> u64 {
        self.harmless
    }

    /// Whether there are no reports.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the number of reports whose text was not kept.
    pub fn without_text(&self) -> u64 {
        self.count - self.first.len() as u64
    }
}

/// Returns a row key as `sstable show --key` takes it: as text, or in hex.
pub(super) fn shown_key(row_key: &Bytes) -> String {
    match std::str::from_utf8(row_key) {
        Ok(text) if !text.is_empty() && !text.chars().any(char::is_control) => format!("{text:?}"),
        _ => format!("0x{}", hex(row_key)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_reports_have_a_text() {
        let lost = |number: usize| Lost { path: PathBuf::from("a"), what: number.to_string() };
        let (mut one, mut other) = (Losses::default(), Losses::default());
        (0..FIRST_MAX - 1).for_each(|number| one.add(lost(number)));
        assert_eq!((one.count(), one.without_text()), (FIRST_MAX as u64 - 1, 0));
        (0..FIRST_MAX + 5).for_each(|number| other.add(lost(FIRST_MAX + number)));
        assert_eq!((other.first().len(), other.without_text()), (FIRST_MAX, 5));
        one.append(other);
        assert_eq!((one.first().len(), one.count()), (FIRST_MAX, 2 * FIRST_MAX as u64 + 4));
        assert_eq!(one.first().last(), Some(&lost(FIRST_MAX)));
    }
}
