//! Writes in commit logs of column families that are not imported, and why.
//!
//! Commit logs of 0.7 and later name column families by numbers or ids. So a write of a column family that the target does
//! not define can be one of three things:
//!
//! ```text
//!   the old schema or a directory has the id    its name is known: the user must define it
//!   the old schema is there, without the id     it was dropped: its writes are of no use
//!   the old schema is not there                 nothing is known of it: the user must give the whole data directory
//! ```

use std::collections::BTreeMap;
use std::fmt;

use super::FamilyName;

/// Column families whose writes are counted one by one.
const FAMILIES_MAX: usize = 1_000;
/// Column families of a kind that are printed.
const SHOWN_MAX: usize = 20;

/// A column family, or the known facts about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unfound {
    /// The target does not define it.
    Undefined(FamilyName),
    /// Neither the old schema nor directories have its number or id.
    Unnamed(String),
    /// The old schema does not have it any more.
    Dropped(String),
}

impl fmt::Display for Unfound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfound::Undefined(name) => name.fmt(f),
            Unfound::Unnamed(id) | Unfound::Dropped(id) => f.write_str(id),
        }
    }
}

/// The numbers of writes by column family.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UnfoundWrites {
    counts: BTreeMap<Unfound, u64>,
    /// Writes of further column families.
    further: u64,
}

impl UnfoundWrites {
    /// Counts writes of a column family.
    pub fn add(&mut self, family: Unfound, writes: u64) {
        if let Some(count) = self.counts.get_mut(&family) {
            *count += writes;
        } else if self.counts.len() < FAMILIES_MAX {
            self.counts.insert(family, writes);
        } else {
            self.further += writes;
        }
    }

    /// Adds the writes of another log.
    pub fn append(&mut self, other: UnfoundWrites) {
        self.further += other.further;
        other.counts.into_iter().for_each(|(family, writes)| self.add(family, writes));
    }

    /// Returns how many writes the user can have imported by another command: all but those of dropped column families.
    pub fn missing(&self) -> u64 {
        let missing = self.counts.iter().filter(|(family, _)| !matches!(family, Unfound::Dropped(_)));
        missing.map(|(_, writes)| writes).sum::<u64>() + self.further
    }

    /// Returns the column families with their writes that the target does not define.
    pub fn undefined(&self) -> Option<String> {
        self.shown(|family| matches!(family, Unfound::Undefined(_)))
    }

    /// Returns those whose names are not known.
    pub fn unnamed(&self) -> Option<String> {
        self.shown(|family| matches!(family, Unfound::Unnamed(_)))
    }

    /// Returns those that were dropped.
    pub fn dropped(&self) -> Option<String> {
        self.shown(|family| matches!(family, Unfound::Dropped(_)))
    }

    /// Returns the number of writes of further column families.
    pub fn further(&self) -> u64 {
        self.further
    }

    fn shown(&self, is_shown: impl Fn(&Unfound) -> bool) -> Option<String> {
        let of_kind: Vec<_> = self.counts.iter().filter(|(family, _)| is_shown(family)).collect();
        let first = of_kind.iter().take(SHOWN_MAX);
        let mut shown: Vec<String> = first.map(|(family, writes)| format!("{family} ({writes})")).collect();
        let others = of_kind.len() - shown.len();
        if others > 0 {
            shown.push(format!("{others} others"));
        }
        (!shown.is_empty()).then(|| shown.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_are_counted_by_kind_and_the_lists_are_limited() {
        let mut writes = UnfoundWrites::default();
        let name = |number: usize| FamilyName { keyspace: "Shop".to_owned(), name: format!("Carts{number}") };
        writes.add(Unfound::Undefined(name(1)), 2);
        writes.add(Unfound::Undefined(name(1)), 3);
        writes.add(Unfound::Dropped("the number 7 in Shop".to_owned()), 4);
        assert_eq!(writes.undefined().unwrap(), "Shop.Carts1 (5)");
        assert_eq!(writes.dropped().unwrap(), "the number 7 in Shop (4)");
        assert_eq!((writes.unnamed(), writes.missing()), (None, 5));
        let mut many = UnfoundWrites::default();
        (0..FAMILIES_MAX + 9).for_each(|number| many.add(Unfound::Unnamed(number.to_string()), 1));
        assert_eq!(many.further(), 9);
        writes.append(many);
        assert_eq!(writes.missing(), 5 + FAMILIES_MAX as u64 + 9);
        assert!(writes.unnamed().unwrap().ends_with(&format!("{} others", FAMILIES_MAX - 2 - SHOWN_MAX)));
    }
}
