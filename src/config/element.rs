//! One row of a table of elements or attributes, and how a table is applied to a node.

use std::collections::BTreeMap;

use super::characters::{CodePoint, is_invisible};
use super::home::home_of;
use super::mistake::Mistake;
use super::nearest::nearest;
use super::reading::ConfigReader;
use super::releases::Releases;
use super::value::Value;
use super::xml::{Node, Text};

/// An element or attribute that is understood. `T` is what its value is put into.
pub struct Element<T> {
    pub tag: &'static str,
    /// Used when it is absent; empty where there is nothing to use.
    pub default: &'static str,
    pub unit: &'static str,
    /// The first and the last release whose files have it; `None`: only thriftstore's have.
    pub releases: Releases,
    pub meaning: &'static str,
    pub set: Set<T>,
}

/// The element and the attribute whose text is for people: it may have any character.
const FREE_TEXT: &str = "Comment";

/// What becomes of an element.
pub enum Set<T> {
    /// Its text is a value.
    Value(fn(&mut T, &Value<'_>) -> Result<(), Mistake>),
    /// It holds other elements.
    Children(fn(&mut T, &Node, &mut ConfigReader<'_>)),
    /// Its text must be right, and means nothing here.
    Nothing(fn(&Value<'_>) -> Result<(), Mistake>),
}

impl<T> Set<T> {
    pub fn means_something(&self) -> bool {
        !matches!(self, Set::Nothing(_))
    }
}

/// Sets everything that the node's children say. As in the old server the first of several equal elements
/// counts, and an empty one is as good as none.
pub fn apply_children<T>(
    rows: &[Element<T>],
    others: &[&str],
    target: &mut T,
    node: &Node,
    reading: &mut ConfigReader<'_>,
) {
    let mut first_lines = BTreeMap::new();
    for child in &node.children {
        let name = child.name.value.as_str();
        let Some(row) = rows.iter().find(|row| row.tag == name) else {
            if !others.contains(&name) {
                let known = rows.iter().map(|row| row.tag).chain(others.iter().copied());
                unknown(&child.name, "element", known, reading);
            }
            continue;
        };
        reading.seen(row.releases);
        if let Set::Children(read) = row.set {
            read(target, child, reading);
            continue;
        }
        if child.text.value.trim().is_empty() {
            continue;
        }
        let line = reading.line(child.name.span);
        if let Some(first) = first_lines.get(row.tag) {
            let text = || format!("a second {name} is ignored; the one on line {first} counts");
            reading.note(child.name.span, text);
            continue;
        }
        first_lines.insert(row.tag, line);
        apply(row, target, &child.name, &child.text, reading);
        for grandchild in &child.children {
            unknown(&grandchild.name, "element", std::iter::empty(), reading);
        }
    }
}

/// Sets everything that the node's attributes say.
pub fn apply_attributes<T>(rows: &[Element<T>], target: &mut T, node: &Node, reading: &mut ConfigReader<'_>) {
    for attribute in &node.attributes {
        match rows.iter().find(|row| row.tag == attribute.name.value) {
            Some(row) => {
                reading.seen(row.releases);
                apply(row, target, &attribute.name, &attribute.value, reading);
            }
            None => unknown(&attribute.name, "attribute", rows.iter().map(|row| row.tag), reading),
        }
    }
}

/// Whether a value has a character that nobody sees, which is a mistake.
pub fn has_invisible(tag: &str, text: &Text, reading: &mut ConfigReader<'_>) -> bool {
    let Some(character) = text.value.chars().find(|character| is_invisible(*character)) else { return false };
    let mistake = Mistake::InvisibleCharacter { tag: tag.to_owned(), character: CodePoint(character) };
    reading.error(reading.place_of(character, text.span), mistake);
    true
}

fn apply<T>(row: &Element<T>, target: &mut T, name: &Text, text: &Text, reading: &mut ConfigReader<'_>) {
    if row.tag != FREE_TEXT && has_invisible(row.tag, text, reading) {
        return;
    }
    let value = Value { tag: row.tag, raw: &text.value, text: text.value.trim(), types: reading.types };
    let outcome = match row.set {
        Set::Value(set) => set(target, &value),
        Set::Nothing(check) => {
            reading.inert(row.tag, name.span);
            check(&value)
        }
        Set::Children(_) => Ok(()),
    };
    if let Err(mistake) = outcome {
        let span = if mistake.is_about_the_name() { name.span } else { text.span };
        reading.error(span, mistake);
    }
}

/// Notes what nobody knows: ignored, as ever, but not silently.
pub fn unknown<'k>(
    name: &Text,
    what: &str,
    known: impl Iterator<Item = &'k str>,
    reading: &mut ConfigReader<'_>,
) {
    let given = &name.value;
    reading.note(name.span, || {
        let hint = match (nearest(given, known), home_of(given)) {
            (_, Some(home)) => format!("; it belongs {home}"),
            (Some(meant), None) => format!("; did you mean {meant}?"),
            (None, None) => String::new(),
        };
        format!("unknown {what} {given} is ignored{hint}")
    });
}
