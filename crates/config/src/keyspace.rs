//! The settings of a keyspace: `<Keyspace>`, and an item of `keyspaces` in the cassandra.yaml of 0.7.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::apply::{ConfigBlock, entry, map, unknown, warn_of_text, wrong_shape};
use super::column_family::{self, FAMILY};
use super::draft::Draft;
use super::mistake::{Mistake, UnknownName};
use super::reading::ConfigReader;
use super::setting::{SettingParts, SettingTarget, assign, unset};
use super::value::SettingValue;
use super::xml::XmlNode;
use super::yaml::{Entry, SCALAR, YamlContent};
use base::schema::{CfDef, KeyspaceDef};

pub(crate) const KEYSPACE: &str = "Keyspace";

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
pub(crate) struct Replication {
    pub strategy_class: Option<String>,
    pub factor: Option<i32>,
}

/// The values of a keyspace while it is read.
#[derive(Debug, Default)]
pub(crate) struct KeyspaceDraft {
    name: String,
    replication: Replication,
    strategy_options: BTreeMap<String, String>,
    row_key_label: Option<String>,
    column_families: BTreeMap<String, CfDef>,
}

/// The settings of `RawKeyspace` of 0.7, and of 0.4 to 0.6.
impl SettingTarget for KeyspaceDraft {
    fn part(&self) -> &'static str {
        KEYSPACE
    }

    fn set(&mut self, id: &str, value: &SettingValue<'_>) -> Result<(), Mistake> {
        match id {
            "Name" if value.text.eq_ignore_ascii_case("system") => Err(Mistake::ReservedKeyspace),
            "Name" => assign(&mut self.name, value.not_empty()),
            "ReplicaPlacementStrategy" => assign(&mut self.replication.strategy_class, strategy(value)),
            "ReplicationFactor" => assign(&mut self.replication.factor, value.at_least(0)),
            "RowKey" => assign(&mut self.row_key_label, Ok(value.text.to_owned())),
            _ => unset(id),
        }
    }

    fn read(&mut self, id: &str, given: SettingParts<'_>, reading: &mut ConfigReader<'_>) {
        // Column families are read when the name of the keyspace is known.
        if let ("strategy_options", SettingParts::Entry(entry)) = (id, given) {
            read_options(self, entry, reading);
        }
    }
}

/// Returns the full class name of a replica placement strategy: one of Cassandra's, or a class of another package.
pub(crate) fn strategy(value: &SettingValue<'_>) -> Result<String, Mistake> {
    let short = value.text.strip_prefix(STRATEGY_PACKAGE).unwrap_or(value.text);
    if STRATEGIES.contains(&short) {
        return Ok(format!("{STRATEGY_PACKAGE}{short}"));
    }
    if short.contains('.') && !value.text.starts_with("org.apache.cassandra.") {
        return Ok(value.text.to_owned());
    }
    Err(Mistake::UnknownStrategy(UnknownName::new(value.text, STRATEGIES.iter().copied())))
}

fn read_options(draft: &mut KeyspaceDraft, entry: &Entry, reading: &mut ConfigReader<'_>) {
    for option in map(&entry.key.value, &entry.value, reading) {
        match option.value.text() {
            Some(text) => {
                draft.strategy_options.insert(option.key.value.clone(), text.value);
            }
            None => wrong_shape(&option.key.value, SCALAR, &option.value, reading),
        }
    }
}

/// Reads all keyspaces in a `<Keyspaces>` element, of which there may be several as in old servers, or in `keyspaces`.
pub(crate) fn read_keyspaces(draft: &mut Draft, given: SettingParts<'_>, reading: &mut ConfigReader<'_>) {
    match given {
        SettingParts::Element(node) => {
            warn_of_text(node, reading);
            for child in &node.children {
                if child.name.value == KEYSPACE {
                    read_keyspace(draft, ConfigBlock::Element(child), reading);
                } else {
                    unknown(&child.name, "element", std::iter::once(KEYSPACE), reading);
                }
            }
        }
        SettingParts::Entry(entry) => {
            for block in ConfigBlock::items("a keyspace", entry, reading) {
                read_keyspace(draft, block, reading);
            }
        }
    }
}

/// Reads one keyspace. Two keyspaces with one name are an error; old servers merged them silently.
pub(crate) fn read_keyspace(draft: &mut Draft, block: ConfigBlock<'_>, reading: &mut ConfigReader<'_>) {
    let mut keyspace = KeyspaceDraft::default();
    block.apply(&mut keyspace, reading);
    block.check_name("a keyspace", reading);
    if let ConfigBlock::Element(node) = block {
        warn_of_no_copies(&keyspace, node, reading);
    }
    read_families(&mut keyspace, block, reading);

    let span = block.name_span();
    if keyspace.name.is_empty() {
        return;
    }
    if let Some(&first_line) = draft.keyspace_lines.get(&keyspace.name) {
        reading.error(span, Mistake::KeyspaceTwice { name: keyspace.name, first_line });
        return;
    }
    draft.keyspace_lines.insert(keyspace.name.clone(), reading.line(span));
    draft.keyspaces.push(keyspace);
}

fn warn_of_no_copies(keyspace: &KeyspaceDraft, node: &XmlNode, reading: &mut ConfigReader<'_>) {
    if let (Some(0), Some(factor)) = (keyspace.replication.factor, node.child("ReplicationFactor")) {
        reading.warn(factor.text.span, || {
            "with 0 copies every read and write fails with UnavailableException".to_owned()
        });
    }
}

/// Reads the column families of a keyspace. Of two with one name, which is an error, the later one counts.
fn read_families(keyspace: &mut KeyspaceDraft, block: ConfigBlock<'_>, reading: &mut ConfigReader<'_>) {
    let mut first_lines: BTreeMap<String, usize> = BTreeMap::new();
    for block in families(block, reading) {
        let Some(family) = column_family::read(&keyspace.name, block, reading) else { continue };
        let (span, name) = (block.name_span(), family.name.clone());
        if let Some(&first_line) = first_lines.get(&name) {
            let keyspace = keyspace.name.clone();
            reading.error(span, Mistake::FamilyTwice { keyspace, name: name.clone(), first_line });
        } else {
            first_lines.insert(name.clone(), reading.line(span));
        }
        keyspace.column_families.insert(name, family);
    }
}

/// Returns the column families that a keyspace contains.
fn families<'f>(block: ConfigBlock<'f>, reading: &mut ConfigReader<'_>) -> Vec<ConfigBlock<'f>> {
    match block {
        ConfigBlock::Element(node) => {
            let families = node.children.iter().filter(|child| child.name.value == FAMILY);
            families.map(ConfigBlock::Element).collect()
        }
        ConfigBlock::Mapping { entries, .. } => match entry(entries, "column_families") {
            Some(entry) if !matches!(entry.value.content, YamlContent::Absent) => {
                ConfigBlock::items("a column family", entry, reading)
            }
            _ => Vec::new(),
        },
    }
}

impl KeyspaceDraft {
    /// Sets what is not given: the replication to that of `<Storage>`, and gc_grace of all column families to
    /// GCGraceSeconds, if it is given.
    pub(crate) fn finish(self, shared: &Replication, gc_grace_s: Option<i32>) -> KeyspaceDef {
        let mut keyspace = KeyspaceDef::new(&self.name);
        keyspace.is_configured = true;
        keyspace.strategy_options = self.strategy_options;
        if let Some(factor) = self.replication.factor.or(shared.factor) {
            keyspace.replication_factor = factor;
        }
        if let Some(class) = self.replication.strategy_class.or_else(|| shared.strategy_class.clone()) {
            keyspace.strategy_class = class;
        }
        if let Some(label) = self.row_key_label {
            keyspace.row_key_label = label;
        }
        for (name, mut family) in self.column_families {
            family.gc_grace_s = gc_grace_s.unwrap_or(family.gc_grace_s);
            keyspace.column_families.insert(name, Arc::new(family.with_indexes()));
        }
        keyspace
    }
}
