//! Copies of a node's files below the directories of the same node, such as `data` and `data.bak`.
//!
//! The SSTables of a column family have different numbers on all disks of a node. So two with the same number are
//!
//! ```text
//!   the same, byte for byte    a copy: one of them is read
//!   different                  of two nodes, or of one node at two times. Both are read, and counters of 0.8 to 2.0, whose
//!                              shards add up, are doubtful
//! ```
//!
//! Commit logs have the time of their creation in their names: those with the same name and content are copies too.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;

use super::LeftOut;
use super::values::{Values, values_of_all};
use crate::import::search::id_of;
use crate::import::{FamilyName, Inventory, NodePath, SstableFile};
use sstable::Component;

/// Why a copy is not read.
const COPY: &str =
    "it is a copy, byte for byte, of the SSTable with the same name in another directory of this --from";

/// Bytes that are compared at a time.
const COMPARED_BYTES: usize = 256 * 1024;

/// The components whose presence decides which one of several copies is read.
const COMPONENTS: [Component; 6] = [
    Component::Index,
    Component::Partitions,
    Component::Rows,
    Component::CompressionInfo,
    Component::Crc,
    Component::Statistics,
];

/// The SSTables of a column family of a node by the id of their directory, which another table of its name does not have,
/// and their number.
type Numbered<'t> = BTreeMap<(Option<[u8; 16]>, u64), Vec<&'t SstableFile>>;

/// Leaves out the copies of SSTables and commit logs of a node.
pub(super) fn leave_out(inventory: &mut Inventory, node: usize) {
    let (mut copies, mut notes, mut doubts) = (Vec::new(), Vec::new(), Vec::new());
    for (name, tables) in inventory.families.iter().chain(&inventory.system) {
        let mut different: Option<Vec<&SstableFile>> = None;
        for same in numbered(tables, node).values().filter(|same| same.len() > 1) {
            let (read, left_out) = without_copies(same);
            copies.extend(left_out.iter().map(|copy| LeftOut {
                path: copy.path.clone(),
                why: COPY.to_owned(),
                family: name.clone(),
            }));
            if read.len() > 1 && !different.as_ref().is_some_and(|found| may_add_up(found, tables)) {
                different = Some(read);
            }
        }
        let Some(different) = different else { continue };
        if may_add_up(&different, tables) {
            let path = different.first().map(|table| table.path.clone()).unwrap_or_default();
            let why = sentence(name, &different, "and counters may count twice; ");
            doubts.push(LeftOut { path, why, family: name.clone() });
        } else {
            notes.push(sentence(name, &different, ""));
        }
    }
    copies.into_iter().for_each(|copy| inventory.remove(copy));
    inventory.doubts.extend(doubts);
    inventory.notes.extend(notes);
    leave_out_logs(inventory, node);
}

fn numbered(tables: &[SstableFile], node: usize) -> Numbered<'_> {
    let mut found = Numbered::new();
    for table in tables.iter().filter(|table| table.node == node) {
        let id = id_of(&table.descriptor.directory).map(|(_, id)| id);
        found.entry((id, table.descriptor.generation)).or_default().push(table);
    }
    found
}

/// Divides SSTables with the same number into those that are read and copies of them. The one with most of its files is read.
fn without_copies<'t>(same: &[&'t SstableFile]) -> (Vec<&'t SstableFile>, Vec<&'t SstableFile>) {
    let (mut read, mut copies): (Vec<&SstableFile>, Vec<&SstableFile>) = (Vec::new(), Vec::new());
    for table in same {
        let copied = read.iter_mut().find(|other| {
            other.descriptor.name() == table.descriptor.name() && is_same_file(&other.path, &table.path)
        });
        match copied {
            Some(other) if component_count(other) < component_count(table) => {
                copies.push(std::mem::replace(other, table));
            }
            Some(_) => copies.push(table),
            None => read.push(table),
        }
    }
    (read, copies)
}

fn component_count(table: &SstableFile) -> usize {
    COMPONENTS.iter().filter(|component| table.descriptor.path(**component).is_file()).count()
}

/// Whether SSTables with the same number may have counters whose shards add up.
fn may_add_up(different: &[&SstableFile], tables: &[SstableFile]) -> bool {
    different.iter().any(|table| table.descriptor.format.counters_add_up())
        && matches!(values_of_all(tables), Values::Counters | Values::Unknown)
}

fn sentence(name: &FamilyName, different: &[&SstableFile], consequence: &str) -> String {
    let paths: Vec<String> = different.iter().map(|table| table.path.display().to_string()).collect();
    format!(
        "{name}: {} have the same number and are different, so they are of two nodes, or one is an older copy. All are read, \
         {consequence}give the directories of each node with a --from of their own, and no copies",
        paths.join(" and ")
    )
}

fn leave_out_logs(inventory: &mut Inventory, node: usize) {
    let mut read: Vec<NodePath> = Vec::new();
    for log in std::mem::take(&mut inventory.commit_logs) {
        let copied = read.iter().find(|other| {
            other.node == node
                && log.node == node
                && other.path.file_name() == log.path.file_name()
                && is_same_file(&other.path, &log.path)
        });
        match copied {
            Some(other) => inventory.notes.push(format!(
                "{} is a copy, byte for byte, of {}, and is not read",
                log.path.display(),
                other.path.display()
            )),
            None => read.push(log),
        }
    }
    inventory.commit_logs = read;
}

/// Returns whether two files have the same content. A file that cannot be read has no copy: its error is reported where it is
/// read.
fn is_same_file(one: &Path, other: &Path) -> bool {
    has_same_content(one, other).unwrap_or(false)
}

fn has_same_content(one: &Path, other: &Path) -> io::Result<bool> {
    let (one, other) = (File::open(one)?, File::open(other)?);
    let length = one.metadata()?.len();
    if length != other.metadata()?.len() {
        return Ok(false);
    }
    let [mut one, mut other] = [one, other].map(|file| BufReader::with_capacity(COMPARED_BYTES, file));
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let count = left.len().min(right.len());
        if left.get(..count) != right.get(..count) {
            return Ok(false);
        }
        if count == 0 {
            return Ok(left.len() == right.len());
        }
        one.consume(count);
        other.consume(count);
    }
}
