//! `<Keyspaces>` and `<Keyspace>`: the keyspaces.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::column_family::{self, FAMILY};
use super::draft::Draft;
use super::element::{Element, Set, apply_attributes, apply_children, row, unknown};
use super::mistake::{Mistake, UnknownName};
use super::reading::ConfigReader;
use super::releases::{ALL, IN_0_4, IN_0_5, IN_0_6};
use super::source::Span;
use super::value::Value;
use super::xml::Node;
use base::schema::{CfDef, KeyspaceDef};

pub const KEYSPACE: &str = "Keyspace";

/// The package of replica placement strategies.
const STRATEGY_PACKAGE: &str = "org.apache.cassandra.locator.";

/// The strategies of all releases. They are only shown to clients: one server has no replicas to place.
const STRATEGIES: &[&str] = &[
    "RackUnawareStrategy",
    "RackAwareStrategy",
    "DatacenterShardStrategy",
    // Misspelt in a release, and so in its files.
    "DatacenterShardStategy",
    "SimpleStrategy",
    "OldNetworkTopologyStrategy",
    "NetworkTopologyStrategy",
    "LocalStrategy",
];

/// The replication settings of a keyspace, as far as they are given.
#[derive(Debug, Clone, Default)]
pub struct Replication {
    pub strategy_class: Option<String>,
    pub factor: Option<i32>,
}

/// The values of a `<Keyspace>` while it is read.
#[derive(Debug, Default)]
pub struct KeyspaceDraft {
    pub name: String,
    pub replication: Replication,
    pub row_key_label: Option<String>,
    pub column_families: BTreeMap<String, CfDef>,
}

pub static KEYSPACE_ATTRIBUTES: &[Element<KeyspaceDraft>] = &[row(
    "Name",
    "",
    "",
    ALL,
    "The keyspace's name. Required; any letter case of `system` is reserved.",
    Set::Value(|draft, value| {
        if value.text.eq_ignore_ascii_case("system") {
            return Err(Mistake::ReservedKeyspace);
        }
        draft.name = value.not_empty()?;
        Ok(())
    }),
)];

pub static KEYSPACE_ELEMENTS: &[Element<KeyspaceDraft>] = &[
    row(
        "ReplicaPlacementStrategy",
        "that of Storage",
        "class",
        IN_0_6,
        "Only shown to clients: one server has no replicas to place.",
        Set::Value(|draft, value| {
            draft.replication.strategy_class = Some(strategy(value)?);
            Ok(())
        }),
    ),
    row(
        "ReplicationFactor",
        "that of Storage",
        "copies",
        IN_0_6,
        "Consistency levels are checked against it: with 2 or more, ALL has too few nodes.",
        Set::Value(|draft, value| {
            draft.replication.factor = Some(value.at_least(0)?);
            Ok(())
        }),
    ),
    row("EndPointSnitch", "", "class", IN_0_6, "There are no other nodes.", Set::Nothing(|_| Ok(()))),
    row(
        "RowKey",
        "ROW_KEY",
        "",
        IN_0_4,
        "The name of row keys in describe_keyspace.",
        Set::Value(|draft, value| {
            draft.row_key_label = Some(value.text.to_owned());
            Ok(())
        }),
    ),
    row(
        "KeysCachedFraction",
        "",
        "fraction",
        IN_0_5,
        "All column families share the storage engine's cache.",
        Set::Nothing(|value| value.double().map(drop)),
    ),
];

/// Returns the full class name of a replica placement strategy: one of Cassandra's, or a class of another package.
pub fn strategy(value: &Value<'_>) -> Result<String, Mistake> {
    let short = value.text.strip_prefix(STRATEGY_PACKAGE).unwrap_or(value.text);
    if STRATEGIES.contains(&short) {
        return Ok(format!("{STRATEGY_PACKAGE}{short}"));
    }
    if short.contains('.') && !value.text.starts_with("org.apache.cassandra.") {
        return Ok(value.text.to_owned());
    }
    Err(Mistake::UnknownStrategy(UnknownName::new(value.text, STRATEGIES.iter().copied())))
}

/// Reads a `<Keyspaces>` element. As in old servers there may be several.
pub fn read_keyspaces(draft: &mut Draft, node: &Node, reading: &mut ConfigReader<'_>) {
    for child in &node.children {
        if child.name.value == KEYSPACE {
            read_keyspace(draft, child, reading);
        } else {
            unknown(&child.name, "element", std::iter::once(KEYSPACE), reading);
        }
    }
}

/// Reads one `<Keyspace>`. Two keyspaces with one name are an error; old servers merged them silently.
pub fn read_keyspace(draft: &mut Draft, node: &Node, reading: &mut ConfigReader<'_>) {
    let mut keyspace = KeyspaceDraft::default();
    apply_attributes(KEYSPACE_ATTRIBUTES, &mut keyspace, node, reading);
    let name = node.attribute("Name");
    if name.is_none() {
        reading.error(node.name.span, Mistake::KeyspaceWithoutName);
    }
    apply_children(KEYSPACE_ELEMENTS, &[FAMILY], &mut keyspace, node, reading);
    note_factor_of_zero(&keyspace, node, reading);

    let mut first_lines = BTreeMap::new();
    for child in node.children.iter().filter(|child| child.name.value == FAMILY) {
        let Some(family) = column_family::read(&keyspace.name, child, reading) else { continue };
        let span = child.attribute("Name").map_or(child.name.span, |name| name.value.span);
        if let Some(first_line) = first_lines.insert(family.name.clone(), reading.line(span)) {
            first_lines.insert(family.name.clone(), first_line);
            let mistake = Mistake::FamilyTwice {
                keyspace: keyspace.name.clone(),
                name: family.name.clone(),
                first_line,
            };
            reading.error(span, mistake);
        }
        keyspace.column_families.insert(family.name.clone(), family);
    }

    let span = name.map_or(node.name.span, |name| name.value.span);
    if !keyspace.name.is_empty() {
        add(draft, keyspace, span, reading);
    }
}

fn add(draft: &mut Draft, keyspace: KeyspaceDraft, span: Span, reading: &mut ConfigReader<'_>) {
    let line = reading.line(span);
    match draft.keyspace_lines.get(&keyspace.name) {
        Some(&first_line) => {
            reading.error(span, Mistake::KeyspaceTwice { name: keyspace.name, first_line });
        }
        None => {
            draft.keyspace_lines.insert(keyspace.name.clone(), line);
            draft.keyspaces.push(keyspace);
        }
    }
}

fn note_factor_of_zero(keyspace: &KeyspaceDraft, node: &Node, reading: &mut ConfigReader<'_>) {
    if let (Some(0), Some(factor)) = (keyspace.replication.factor, node.child("ReplicationFactor")) {
        reading.warn(factor.text.span, || {
            "with 0 copies every read and write fails with UnavailableException".to_owned()
        });
    }
}

impl KeyspaceDraft {
    /// Sets defaults from `<Storage>`.
    pub fn finish(self, shared: &Replication, gc_grace_s: i32) -> KeyspaceDef {
        let mut keyspace = KeyspaceDef::new(&self.name);
        keyspace.is_configured = true;
        if let Some(factor) = self.replication.factor.or(shared.factor) {
            keyspace.replication_factor = factor;
        }
        if let Some(class) = self.replication.strategy_class.or_else(|| shared.strategy_class.clone()) {
            keyspace.strategy_class = class;
        }
        if let Some(label) = self.row_key_label {
            keyspace.row_key_label = label;
        }
        keyspace.column_families = self
            .column_families
            .into_iter()
            .map(|(name, family)| (name, Arc::new(CfDef { gc_grace_s, ..family })))
            .collect();
        keyspace
    }
}
