//! Parses DESCRIBE.

use super::Parser;
use crate::{Describe, Described, ElementKind, Result, Statement};

/// The words that list all elements of a kind.
const LISTS: [(&str, ElementKind); 5] = [
    ("KEYSPACES", ElementKind::Keyspace),
    ("TABLES", ElementKind::Table),
    ("TYPES", ElementKind::Type),
    ("FUNCTIONS", ElementKind::Function),
    ("AGGREGATES", ElementKind::Aggregate),
];

/// The words before the name of one element.
const ELEMENTS: [(&[&str], ElementKind); 6] = [
    (&["TABLE"], ElementKind::Table),
    (&["INDEX"], ElementKind::Index),
    (&["MATERIALIZED", "VIEW"], ElementKind::View),
    (&["TYPE"], ElementKind::Type),
    (&["FUNCTION"], ElementKind::Function),
    (&["AGGREGATE"], ElementKind::Aggregate),
];

impl Parser<'_> {
    /// Parses DESCRIBE or DESC, or returns `None`.
    pub(super) fn describe(&mut self) -> Result<Option<Statement>> {
        if !self.eat_word("DESCRIBE") && !self.eat_word("DESC") {
            return Ok(None);
        }
        let what = self.described()?;
        let with_internals = self.eat_word("WITH");
        if with_internals {
            self.expect_word("INTERNALS")?;
        }
        Ok(Some(Statement::Describe(Describe { what, with_internals })))
    }

    fn described(&mut self) -> Result<Described> {
        if self.eat_last_word("CLUSTER") {
            return Ok(Described::Cluster);
        }
        if self.eat_words(&["FULL", "KEYSPACE"]) {
            return Ok(Described::Schema { is_full: true });
        }
        // Everywhere else, SCHEMA means the same as KEYSPACE.
        if self.is_word(0, "KEYSPACE") && self.raw(0).eq_ignore_ascii_case("SCHEMA") {
            self.advance();
            return Ok(Described::Schema { is_full: false });
        }
        for (word, kind) in LISTS {
            if self.eat_last_word(word) {
                return Ok(Described::List(kind));
            }
        }
        let is_only = self.eat_words(&["ONLY", "KEYSPACE"]);
        if is_only || self.eat_word("KEYSPACE") {
            let name = if self.is_name(0) { Some(self.name()?) } else { None };
            return Ok(Described::Keyspace { name, is_only });
        }
        for (words, kind) in ELEMENTS {
            // A word that is not reserved may itself be the name of the element.
            if self.are_words(words) && (self.is_name(words.len()) || !self.is_name(0)) {
                words.iter().for_each(|_| self.advance());
                return Ok(Described::Element { kind, name: self.table_name()? });
            }
        }
        // A name alone may be a keyspace.
        Ok(Described::Named(self.qualified_name()?))
    }

    /// Consumes a keyword, unless it is the keyspace in `word.name`.
    fn eat_last_word(&mut self, word: &str) -> bool {
        !self.is_symbol(1, ".") && self.eat_word(word)
    }
}
