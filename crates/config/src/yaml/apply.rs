//! A row of a table of settings, and the function that applies a table to a mapping.

use super::mistake::{LIST, MAP, SCALAR, YamlMistake};
use super::node::{Content, Entry, YamlNode};
use crate::element::{has_invisible, unknown};
use crate::mistake::Mistake;
use crate::reading::ConfigReader;
use crate::value::Value;
use base::compat::Span as Releases;

/// A known setting with an effect. `T` has its value.
pub struct YamlSetting<T> {
    pub key: &'static str,
    /// The default value; empty if there is none.
    pub default: &'static str,
    /// The releases whose files have it.
    pub releases: Releases,
    pub meaning: &'static str,
    pub effect: Effect<T>,
}

/// The effect of a setting.
pub enum Effect<T> {
    /// Sets a single value.
    Value(fn(&mut T, &Value<'_>) -> Result<(), Mistake>),
    /// Reads a list, a mapping, or anything else.
    Node(fn(&mut T, &Entry, &mut ConfigReader<'_>)),
}

/// A setting without an effect: its key and the reason.
pub type InertSetting = (&'static str, &'static str);

/// Makes a row: key, default, releases, meaning and effect.
pub const fn row<T>(
    key: &'static str,
    default: &'static str,
    releases: Releases,
    meaning: &'static str,
    effect: Effect<T>,
) -> YamlSetting<T> {
    YamlSetting { key, default, releases, meaning, effect }
}

/// Returns the entry with a key.
pub fn entry<'e>(entries: &'e [Entry], key: &str) -> Option<&'e Entry> {
    entries.iter().find(|entry| entry.key.value == key)
}

/// Applies the entries of a mapping. An absent value is ignored, as if the setting were not there.
pub fn apply<T>(
    rows: &[YamlSetting<T>],
    inert: &[InertSetting],
    target: &mut T,
    entries: &[Entry],
    reading: &mut ConfigReader<'_>,
) {
    for entry in entries {
        let key = entry.key.value.as_str();
        if let Some(row) = rows.iter().find(|row| row.key == key) {
            if !matches!(entry.value.content, Content::Absent) {
                apply_row(row, target, entry, reading);
            }
        } else if let Some((key, _)) = inert.iter().find(|(known, _)| *known == key) {
            reading.inert(key, entry.key.span);
        } else {
            let known = rows.iter().map(|row| row.key).chain(inert.iter().map(|(known, _)| *known));
            unknown(&entry.key, "setting", known, reading);
        }
    }
}

fn apply_row<T>(row: &YamlSetting<T>, target: &mut T, entry: &Entry, reading: &mut ConfigReader<'_>) {
    match row.effect {
        Effect::Node(read) => read(target, entry, reading),
        Effect::Value(set) => {
            let Some(text) = entry.value.text() else {
                return wrong_shape(row.key, SCALAR, &entry.value, reading);
            };
            if has_invisible(row.key, &text, reading) {
                return;
            }
            let value =
                Value { tag: row.key, raw: &text.value, text: text.value.trim(), types: reading.types };
            if let Err(mistake) = set(target, &value) {
                reading.error(text.span, mistake);
            }
        }
    }
}

/// Returns the nodes of a list; none, with a mistake, if the value is something else.
pub fn list<'e>(entry: &'e Entry, reading: &mut ConfigReader<'_>) -> &'e [YamlNode] {
    match &entry.value.content {
        Content::List(nodes) => nodes,
        _ => {
            wrong_shape(&entry.key.value, LIST, &entry.value, reading);
            &[]
        }
    }
}

/// Returns the entries of a mapping; none, with a mistake, if the value is something else.
pub fn map<'n>(key: &str, node: &'n YamlNode, reading: &mut ConfigReader<'_>) -> &'n [Entry] {
    match &node.content {
        Content::Map(entries) => entries,
        _ => {
            wrong_shape(key, MAP, node, reading);
            &[]
        }
    }
}

/// Reports a value of the wrong shape.
pub fn wrong_shape(key: &str, wanted: &'static str, node: &YamlNode, reading: &mut ConfigReader<'_>) {
    let found = node.content.kind();
    reading.error(node.span, YamlMistake::WrongShape { key: key.to_owned(), wanted, found }.into());
}

/// Returns the value of a boolean as YAML 1.1 has it: true, yes or on, in any letter case.
pub fn boolean(value: &Value<'_>) -> Result<bool, Mistake> {
    match value.text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" => Ok(true),
        "false" | "no" | "off" => Ok(false),
        _ => value.boolean(),
    }
}
