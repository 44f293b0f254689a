//! Applies the settings that a part of a file gives.

use std::collections::BTreeMap;

use super::characters::CodePoint;
use super::mistake::Mistake;
use super::nearest::suggestion;
use super::reading::ConfigReader;
use super::setting::{ConfigSetting, NameKind, SettingName, SettingParts, SettingTarget, find, names};
use super::setting_table::settings_of;
use super::source::TextSpan;
use super::value::SettingValue;
use super::xml::{Text, XmlNode};
use super::yaml::{Entry, LIST, MAP, SCALAR, YamlContent, YamlMistake, YamlNode};
use base::util::is_invisible;

/// The part of a file that holds settings: an element of storage-conf.xml, or a mapping of cassandra.yaml.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ConfigBlock<'f> {
    Element(&'f XmlNode),
    Mapping { entries: &'f [Entry], span: TextSpan },
}

/// A setting that a file gives.
#[derive(Debug)]
pub(crate) struct GivenSetting {
    /// The position of its name.
    pub name: TextSpan,
    pub text: Text,
}

impl<'f> ConfigBlock<'f> {
    /// Returns the mappings of a list. An item that is not a mapping is a mistake; `what` is its name in the message.
    pub(crate) fn items(
        what: &str,
        entry: &'f Entry,
        reading: &mut ConfigReader<'_>,
    ) -> Vec<ConfigBlock<'f>> {
        let mut blocks = Vec::new();
        for node in list(entry, reading) {
            blocks.push(ConfigBlock::Mapping { entries: map(what, node, reading), span: node.span });
        }
        blocks
    }

    /// Applies all settings of the block.
    pub(crate) fn apply(self, target: &mut dyn SettingTarget, reading: &mut ConfigReader<'_>) {
        match self {
            ConfigBlock::Element(node) => {
                apply_attributes(target, node, reading);
                apply_children(&[], target, node, reading);
            }
            ConfigBlock::Mapping { entries, .. } => apply_entries(target, entries, reading),
        }
    }

    /// Returns a setting of a part, named as in storage-conf.xml, that the block gives with a text; `None` if it is missing
    /// or blank. An attribute with the name of an element, and the reverse, is not the setting. Of several equal elements
    /// the first counts.
    pub(crate) fn given(self, part: &str, xml_name: &str) -> Option<GivenSetting> {
        let row = settings_of(part).iter().find(|row| row.xml.is_ok_and(|own| own.name == xml_name))?;
        match self {
            ConfigBlock::Element(node) if row.xml.is_ok_and(|own| own.kind == NameKind::Attribute) => {
                let given = node.attribute(xml_name)?;
                Some(GivenSetting { name: given.name.span, text: given.value.clone() })
            }
            ConfigBlock::Element(node) => {
                let given =
                    node.children.iter().find(|child| child.name.value == xml_name && child.has_text())?;
                Some(GivenSetting { name: given.name.span, text: given.text.clone() })
            }
            ConfigBlock::Mapping { entries, .. } => {
                let given = entry(entries, row.yaml.ok()?.name)?;
                Some(GivenSetting { name: given.key.span, text: given.value.text()? })
            }
        }
    }

    /// Reports a block without the name that it must have. `what` is the name of a mapping in the message.
    pub(crate) fn check_name(self, what: &'static str, reading: &mut ConfigReader<'_>) {
        match self {
            ConfigBlock::Element(node) if node.attribute("Name").is_none() => {
                let is_family = node.name.value == "ColumnFamily";
                let mistake =
                    if is_family { Mistake::FamilyWithoutName } else { Mistake::KeyspaceWithoutName };
                reading.error(node.name.span, mistake);
            }
            ConfigBlock::Mapping { entries, span }
                if !entries.is_empty() && entry(entries, "name").is_none() =>
            {
                reading.error(span, YamlMistake::Missing { what, key: "name" }.into());
            }
            _ => {}
        }
    }

    /// Returns the position of the block's name, or of the block if it has none.
    pub(crate) fn name_span(self) -> TextSpan {
        match self {
            ConfigBlock::Element(node) => {
                node.attribute("Name").map_or(node.name.span, |name| name.value.span)
            }
            ConfigBlock::Mapping { span, .. } => span,
        }
    }
}

/// Applies all children of an element. As in old servers, the first of several equal elements counts, and an empty
/// element is ignored. Elements of `others` are left to the caller.
pub(crate) fn apply_children(
    others: &[&'static str],
    target: &mut dyn SettingTarget,
    node: &XmlNode,
    reading: &mut ConfigReader<'_>,
) {
    warn_of_text(node, reading);
    let mut first_lines = BTreeMap::new();
    for child in &node.children {
        let name = child.name.value.as_str();
        let Some((row, own)) = find(target.part(), NameKind::Element, name) else {
            if !others.contains(&name) {
                let known = names(target.part(), NameKind::Element).chain(others.iter().copied());
                unknown(&child.name, "element", known, reading);
            }
            continue;
        };
        reading.seen(own.releases);
        if row.has_parts {
            target.read(row.id(), SettingParts::Element(child), reading);
            continue;
        }
        if !child.has_text() {
            continue;
        }
        let line = reading.line(child.name.span);
        if let Some(first) = first_lines.get(own.name) {
            reading.warn(child.name.span, || {
                format!("a second {name} is ignored; the one on line {first} counts")
            });
            continue;
        }
        first_lines.insert(own.name, line);
        apply_text(row, own, target, &child.name, &child.text, reading);
        for grandchild in &child.children {
            unknown(&grandchild.name, "element", std::iter::empty(), reading);
        }
    }
}

/// Warns of text between the children of an element, which is ignored as in old servers. Often it is an element that was
/// copied from the source of a web page.
pub(crate) fn warn_of_text(node: &XmlNode, reading: &mut ConfigReader<'_>) {
    if !node.has_text() {
        return;
    }
    let (parent, text) = (&node.name.value, node.text.value.trim());
    let why = if text.contains('<') { ": an element begins with <, not with &lt;" } else { "" };
    reading.warn(node.text.span, || format!("text in <{parent}> is ignored{why}"));
}

/// Applies all attributes of an element.
fn apply_attributes(target: &mut dyn SettingTarget, node: &XmlNode, reading: &mut ConfigReader<'_>) {
    let part = target.part();
    for attribute in &node.attributes {
        match find(part, NameKind::Attribute, &attribute.name.value) {
            Some((row, own)) => {
                reading.seen(own.releases);
                apply_text(row, own, target, &attribute.name, &attribute.value, reading);
            }
            None => unknown(&attribute.name, "attribute", names(part, NameKind::Attribute), reading),
        }
    }
}

/// Applies the entries of a mapping. An absent value is ignored, as if the setting were not there.
pub(crate) fn apply_entries(
    target: &mut dyn SettingTarget,
    entries: &[Entry],
    reading: &mut ConfigReader<'_>,
) {
    let part = target.part();
    for entry in entries {
        let Some((row, own)) = find(part, NameKind::Key, &entry.key.value) else {
            unknown(&entry.key, "setting", names(part, NameKind::Key), reading);
            continue;
        };
        if row.is_ignored {
            reading.inert(own.name, entry.key.span);
        } else if matches!(entry.value.content, YamlContent::Absent) {
        } else if row.has_parts {
            target.read(row.id(), SettingParts::Entry(entry), reading);
        } else if let Some(text) = entry.value.only_text() {
            apply_text(row, own, target, &entry.key, &text, reading);
        } else {
            wrong_shape(own.name, SCALAR, &entry.value, reading);
        }
    }
}

/// Applies the text of a setting, which has the name `own` in its file.
fn apply_text(
    row: &ConfigSetting,
    own: SettingName,
    target: &mut dyn SettingTarget,
    name: &Text,
    text: &Text,
    reading: &mut ConfigReader<'_>,
) {
    if !row.is_free_text && has_invisible(own.name, text, reading) {
        return;
    }
    let value = SettingValue {
        name: own.name,
        kind: own.kind,
        given: text,
        text: text.value.trim(),
        types: reading.types,
    };
    let outcome = if row.is_ignored {
        reading.inert(own.name, name.span);
        value.check_ignored(row.check)
    } else {
        target.set(row.id(), &value)
    };
    if let Err(mistake) = outcome {
        let span = if mistake.is_about_the_name() { name.span } else { text.span };
        reading.error(span, mistake);
    }
}

/// Reports an invisible character in a value. Returns whether there is one.
pub(crate) fn has_invisible(name: &str, text: &Text, reading: &mut ConfigReader<'_>) -> bool {
    let Some(character) = text.value.chars().find(|character| is_invisible(*character)) else { return false };
    let mistake = Mistake::InvisibleCharacter { tag: name.to_owned(), character: CodePoint(character) };
    reading.error(reading.place_of(character, text.span), mistake);
    true
}

/// Notes an unknown element, attribute or setting. It is ignored as in old servers, but not silently.
pub(crate) fn unknown<'k>(
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
    parent.map_or_else(|| suggestion(given, known), |parent| format!("; it belongs {parent}"))
}

/// Returns the entry with a key.
pub(crate) fn entry<'e>(entries: &'e [Entry], key: &str) -> Option<&'e Entry> {
    entries.iter().find(|entry| entry.key.value == key)
}

/// Returns the nodes of a list; none, with a mistake, if the value is something else.
pub(crate) fn list<'e>(entry: &'e Entry, reading: &mut ConfigReader<'_>) -> &'e [YamlNode] {
    match &entry.value.content {
        YamlContent::List(nodes) => nodes,
        _ => {
            wrong_shape(&entry.key.value, LIST, &entry.value, reading);
            &[]
        }
    }
}

/// Returns the entries of a mapping; none, with a mistake, if the value is something else.
pub(crate) fn map<'n>(key: &str, node: &'n YamlNode, reading: &mut ConfigReader<'_>) -> &'n [Entry] {
    match &node.content {
        YamlContent::Map(entries) => entries,
        _ => {
            wrong_shape(key, MAP, node, reading);
            &[]
        }
    }
}

/// Reports a value of the wrong shape.
pub(crate) fn wrong_shape(key: &str, wanted: &'static str, node: &YamlNode, reading: &mut ConfigReader<'_>) {
    let found = node.content.kind();
    reading.error(node.span, YamlMistake::WrongShape { key: key.to_owned(), wanted, found }.into());
}
