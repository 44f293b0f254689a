//! Collects mistakes, warnings and notes while a file is read, and detects the release that it was written for.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::ConfigError;
use super::mistake::Mistake;
use super::note::Note;
use super::releases::{Releases, WITH_STORAGE_CONF};
use super::source::{SourceText, TextSpan};
use super::xml::XmlNode;
use base::marshal::Types;
use base::util::{Release, is_invisible, listed};

/// Maximum number of notes about single places; further ones are counted.
const NOTES_MAX: usize = 50;

/// Maximum number of collected mistakes, to bound memory.
const ERRORS_MAX: usize = 1000;

/// Lines of an element without effect that a note lists; further ones are counted.
const LINES_SHOWN: usize = 3;

/// Returns the place where an element or attribute with a name is known.
pub(crate) type ParentOf = fn(&str) -> Option<&'static str>;

/// The state of one reading.
pub(crate) struct ConfigReader<'a> {
    pub types: &'a Types,
    /// Tells where an element or attribute is known, if it is known elsewhere.
    pub parent_of: ParentOf,
    source: &'a Arc<SourceText>,
    pub errors: Vec<ConfigError>,
    /// Notes with their offsets, to sort them in the order of the file.
    notes: Vec<(usize, Note)>,
    notes_left_out: usize,
    /// Accepted elements and attributes without effect, with their lines.
    inert: BTreeMap<&'static str, Vec<usize>>,
    /// The releases that have every element seen so far.
    releases: base::compat::Span,
}

impl<'a> ConfigReader<'a> {
    pub(crate) fn new(
        source: &'a Arc<SourceText>,
        types: &'a Types,
        parent_of: ParentOf,
    ) -> ConfigReader<'a> {
        ConfigReader {
            types,
            parent_of,
            source,
            errors: Vec::new(),
            notes: Vec::new(),
            notes_left_out: 0,
            inert: BTreeMap::new(),
            releases: WITH_STORAGE_CONF,
        }
    }

    pub(crate) fn error(&mut self, span: TextSpan, mistake: Mistake) {
        if self.errors.len() < ERRORS_MAX {
            self.errors.push(ConfigError::new(mistake, span, self.source));
        }
    }

    /// Adds a note. The text is only made if the note is kept.
    pub(crate) fn note(&mut self, span: TextSpan, text: impl FnOnce() -> String) {
        self.add(span, false, text);
    }

    /// Adds a warning: an element, attribute or setting at this place is ignored or has a harmful value.
    pub(crate) fn warn(&mut self, span: TextSpan, text: impl FnOnce() -> String) {
        self.add(span, true, text);
    }

    /// Warns that an element with children was given before.
    pub(crate) fn warn_of_second(&mut self, node: &XmlNode) {
        let name = &node.name.value;
        self.warn(node.name.span, || format!("a second {name} is ignored; the first one counts"));
    }

    fn add(&mut self, span: TextSpan, is_warning: bool, text: impl FnOnce() -> String) {
        if self.notes.len() >= NOTES_MAX {
            self.notes_left_out += 1;
            return;
        }
        let place = self.source.location(span.start);
        self.notes.push((span.start, Note { text: format!("{place}: {}", text()), is_warning }));
    }

    /// Records an element or attribute without effect.
    pub(crate) fn inert(&mut self, tag: &'static str, span: TextSpan) {
        let line = self.line(span);
        let lines = self.inert.entry(tag).or_default();
        if lines.last() != Some(&line) {
            lines.push(line);
        }
    }

    /// Records the releases that have an element in the file.
    pub(crate) fn seen(&mut self, releases: Releases) {
        if let Some(releases) = releases {
            self.releases = self.releases.and(releases);
        }
    }

    /// Returns the position of a character in a span or in the blanks around it; the whole span if the character is
    /// written as a reference.
    pub(crate) fn place_of(&self, character: char, within: TextSpan) -> TextSpan {
        let text = &self.source.text;
        let before = text.get(..within.start).unwrap_or_default().trim_end_matches(is_blank);
        let after = text.get(within.end..).unwrap_or_default();
        let end = text.len() - after.trim_start_matches(is_blank).len();
        match text.get(before.len()..end).and_then(|around| around.find(character)) {
            Some(at) => {
                let start = before.len() + at;
                TextSpan { start, end: start + character.len_utf8() }
            }
            None => within,
        }
    }

    /// Returns the name of the file in messages.
    pub(crate) fn file(&self) -> &str {
        &self.source.file
    }

    pub(crate) fn line(&self, span: TextSpan) -> usize {
        self.source.line(span.start)
    }

    /// Returns the only release that has all elements of the file; `None` if several or none have.
    pub(crate) fn release_hint(&self) -> Option<Release> {
        self.releases.only_release()
    }

    /// Returns the notes as sentences: those with positions in the order of the file, then one line about elements
    /// without effect.
    pub(crate) fn into_notes(mut self) -> Vec<Note> {
        self.notes.sort();
        let mut notes: Vec<Note> = self.notes.into_iter().map(|(_, note)| note).collect();
        if self.notes_left_out > 0 {
            notes
                .push(Note::of(format!("{}: and {} more like these", self.source.file, self.notes_left_out)));
        }
        if !self.inert.is_empty() {
            let named: Vec<String> = self.inert.iter().map(|(tag, lines)| with_lines(tag, lines)).collect();
            let named = named.join(", ");
            notes.push(Note::of(format!("{}: accepted, without effect here: {named}", self.source.file)));
        }
        notes
    }
}

/// Returns a text like `StoragePort (line 7)` or `KeysCached (lines 8, 9, 12 and 31 more)`.
fn with_lines(tag: &str, lines: &[usize]) -> String {
    let word = if lines.len() == 1 { "line" } else { "lines" };
    format!("{tag} ({word} {})", listed(lines, LINES_SHOWN))
}

/// Returns whether a character may surround a value.
fn is_blank(letter: char) -> bool {
    letter.is_whitespace() || is_invisible(letter)
}
