//! A row of a table of elements or attributes, and the functions that apply a table to a node.

use std::collections::BTreeMap;

use super::characters::CodePoint;
use super::mistake::Mistake;
use super::nearest::nearest;
use super::reading::ConfigReader;
use super::releases::Releases;
use super::value::Value;
use super::xml::{Node, Text};
use base::util::is_invisible;

/// A known element or attribute. `T` has its value.
pub struct Element<T> {
    pub tag: &'static str,
    /// The default value; empty if there is none.
    pub default: &'static str,
    pub unit: &'static str,
    /// The first and the last release whose files have it; `None` if it is an extension of thriftstore.
    pub releases: Releases,
    pub meaning: &'static str,
    pub set: Set<T>,
}

/// The element and attribute with text for people, which may have any character.
const FREE_TEXT: &str = "Comment";

/// The effect of an element or attribute.
pub enum Set<T> {
    /// Sets a value.
    Value(fn(&mut T, &Value<'_>) -> Result<(), Mistake>),
    /// Contains other elements.
    Children(fn(&mut T, &Node, &mut ConfigReader<'_>)),
    /// Has no effect, but its text is checked.
    Nothing(fn(&Value<'_>) -> Result<(), Mistake>),
}

impl<T> Set<T> {
    /// Returns whether the element has an effect.
    pub fn has_effect(&self) -> bool {
        !matches!(self, Set::Nothing(_))
    }
}

/// Makes a row of a table of elements.
pub const fn row<T>(
    tag: &'static str,
    default: &'static str,
    unit: &'static str,
    releases: Releases,
    meaning: &'static str,
    set: Set<T>,
) -> Element<T> {
    Element { tag, default, unit, releases, meaning, set }
}

/// Applies all children of a node. As in old servers, the first of several equal elements counts, and an empty element
/// is ignored.
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
            reading.warn(child.name.span, || {
                format!("a second {name} is ignored; the one on line {first} counts")
            });
            continue;
        }
        first_lines.insert(row.tag, line);
        apply(row, target, &child.name, &child.text, reading);
        for grandchild in &child.children {
            unknown(&grandchild.name, "element", std::iter::empty(), reading);
        }
    }
}

/// Applies all attributes of a node.
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

/// Reports an invisible character in a value. Returns whether there is one.
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

/// Notes an unknown element or attribute. It is ignored as in old servers, but not silently.
pub fn unknown<'k>(
    name: &Text,
    what: &str,
    known: impl Iterator<Item = &'k str>,
    reading: &mut ConfigReader<'_>,
) {
    let given = &name.value;
    let parent = (reading.parent_of)(given);
    reading.warn(name.span, || format!("unknown {what} {given} is ignored{}", hint(given, known, parent)));
}

/// Returns a hint for an unknown name: the nearest known name, or the parent of the element.
fn hint<'k>(given: &str, known: impl Iterator<Item = &'k str>, parent: Option<&str>) -> String {
    match (nearest(given, known), parent) {
        (_, Some(parent)) => format!("; it belongs {parent}"),
        (Some(meant), None) => format!("; did you mean {meant}?"),
        (None, None) => String::new(),
    }
}
