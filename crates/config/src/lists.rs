//! Settings that are lists of texts: data directories and seeds.

use std::path::PathBuf;

use super::apply::{has_invisible, list, unknown, wrong_shape};
use super::draft::Draft;
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::setting::SettingParts;
use super::xml::XmlNode;
use super::yaml::SCALAR;

pub(crate) const DATA_DIRECTORY: &str = "DataFileDirectory";
pub(crate) const SEED: &str = "Seed";

/// Adds the directories for data.
pub(crate) fn read_data_directories(
    draft: &mut Draft,
    given: SettingParts<'_>,
    reading: &mut ConfigReader<'_>,
) {
    match given {
        SettingParts::Element(node) => {
            draft
                .data_directories
                .extend(texts(node, DATA_DIRECTORY, reading).into_iter().map(PathBuf::from));
        }
        SettingParts::Entry(entry) => {
            for node in list(entry, reading) {
                match node.text() {
                    Some(text) => draft.data_directories.push(text.value.trim().into()),
                    None => wrong_shape(&entry.key.value, SCALAR, node, reading),
                }
            }
        }
    }
}

/// Reads the seeds of a storage-conf.xml, which have no effect.
pub(crate) fn read_seeds(draft: &mut Draft, given: SettingParts<'_>, reading: &mut ConfigReader<'_>) {
    if let SettingParts::Element(node) = given {
        reading.inert("Seeds", node.name.span);
        draft.config.seeds.extend(texts(node, SEED, reading));
    }
}

/// Returns the texts of all children with a name. An empty one, which made old servers crash, is a mistake.
fn texts(node: &XmlNode, tag: &str, reading: &mut ConfigReader<'_>) -> Vec<String> {
    nodes(node, tag, reading).into_iter().map(|child| child.text.value.trim().to_owned()).collect()
}

/// Returns all children with a name that have a text.
pub(super) fn nodes<'n>(node: &'n XmlNode, tag: &str, reading: &mut ConfigReader<'_>) -> Vec<&'n XmlNode> {
    let mut found = Vec::new();
    for child in &node.children {
        if child.name.value != tag {
            unknown(&child.name, "element", std::iter::once(tag), reading);
            continue;
        }
        match child.text.value.trim() {
            "" => reading.error(child.name.span, Mistake::EmptyValue { tag: tag.to_owned() }),
            _ if has_invisible(tag, &child.text, reading) => {}
            _ => found.push(child),
        }
    }
    found
}
