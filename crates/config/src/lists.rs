//! Elements with a list of equal elements: data directories and seeds.

use std::path::PathBuf;

use super::draft::Draft;
use super::element::{has_invisible, unknown};
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::xml::Node;

pub const DATA_DIRECTORY: &str = "DataFileDirectory";
pub const SEED: &str = "Seed";

pub fn read_data_directories(draft: &mut Draft, node: &Node, reading: &mut ConfigReader<'_>) {
    draft.data_directories.extend(texts(node, DATA_DIRECTORY, reading).into_iter().map(PathBuf::from));
}

pub fn read_seeds(draft: &mut Draft, node: &Node, reading: &mut ConfigReader<'_>) {
    reading.inert("Seeds", node.name.span);
    draft.config.seeds.extend(texts(node, SEED, reading));
}

/// Returns the texts of all children with a name. An empty one, which made old servers crash, is a mistake.
fn texts(node: &Node, tag: &str, reading: &mut ConfigReader<'_>) -> Vec<String> {
    nodes(node, tag, reading).into_iter().map(|child| child.text.value.trim().to_owned()).collect()
}

/// Returns all children with a name that have a text.
pub(super) fn nodes<'n>(node: &'n Node, tag: &str, reading: &mut ConfigReader<'_>) -> Vec<&'n Node> {
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
