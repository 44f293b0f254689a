//! The keyspaces in the cassandra.yaml of 0.7.

use super::apply::{Effect, YamlSetting, apply, entry, list, map, row, wrong_shape};
use super::column_family;
use super::draft::YamlDraft;
use super::mistake::{SCALAR, YamlMistake};
use super::node::{Entry, YamlNode};
use crate::keyspace::strategy;
use crate::mistake::Mistake;
use crate::reading::ConfigReader;
use crate::releases::YAML_IN_0_7 as IN_0_7;
use base::schema::KeyspaceDef;

/// The settings of a keyspace (`RawKeyspace`).
pub static KEYSPACE_SETTINGS: &[YamlSetting<KeyspaceDef>] = &[
    row(
        "name",
        "",
        IN_0_7,
        "The keyspace's name. Required; any letter case of `system` is reserved.",
        Effect::Value(|keyspace, value| {
            if value.text.eq_ignore_ascii_case("system") {
                return Err(Mistake::ReservedKeyspace);
            }
            keyspace.name = value.not_empty()?;
            Ok(())
        }),
    ),
    row(
        "replica_placement_strategy",
        "SimpleStrategy",
        IN_0_7,
        "Only shown to clients: one server has no replicas to place.",
        Effect::Value(|keyspace, value| {
            keyspace.strategy_class = strategy(value)?;
            Ok(())
        }),
    ),
    row(
        "strategy_options",
        "",
        IN_0_7,
        "Only shown to clients.",
        Effect::Node(|keyspace, entry, reading| {
            for option in map("strategy_options", &entry.value, reading) {
                match option.value.text() {
                    Some(text) => {
                        keyspace.strategy_options.insert(option.key.value.clone(), text.value);
                    }
                    None => wrong_shape(&option.key.value, SCALAR, &option.value, reading),
                }
            }
        }),
    ),
    row(
        "replication_factor",
        "1",
        IN_0_7,
        "Consistency levels are checked against it: with 2 or more, ALL has too few nodes.",
        Effect::Value(|keyspace, value| {
            keyspace.replication_factor = value.at_least(0)?;
            Ok(())
        }),
    ),
    row(
        "column_families",
        "",
        IN_0_7,
        "A list of column families, see below.",
        // Read after the keyspace's name is known.
        Effect::Node(|_, _, _| {}),
    ),
];

/// Reads the list of keyspaces.
pub fn read(draft: &mut YamlDraft, entry: &Entry, reading: &mut ConfigReader<'_>) {
    for node in list(entry, reading) {
        if let Some(keyspace) = read_keyspace(node, reading) {
            let line = reading.line(node.span);
            match draft.keyspace_lines.get(&keyspace.name) {
                Some(&first_line) => {
                    reading.error(node.span, Mistake::KeyspaceTwice { name: keyspace.name, first_line });
                }
                None => {
                    draft.keyspace_lines.insert(keyspace.name.clone(), line);
                    draft.keyspaces.push(keyspace);
                }
            }
        }
    }
}

/// Reads a keyspace; `None` if it has no usable name.
fn read_keyspace(node: &YamlNode, reading: &mut ConfigReader<'_>) -> Option<KeyspaceDef> {
    let entries = map("a keyspace", node, reading);
    let mut keyspace = KeyspaceDef::new("");
    keyspace.is_configured = true;
    apply(KEYSPACE_SETTINGS, &[], &mut keyspace, entries, reading);
    if !entries.is_empty() && entry(entries, "name").is_none() {
        reading.error(node.span, YamlMistake::Missing { what: "a keyspace", key: "name" }.into());
    }
    if let Some(families) = entry(entries, "column_families") {
        column_family::read_all(&mut keyspace, families, reading);
    }
    (!keyspace.name.is_empty()).then_some(keyspace)
}
