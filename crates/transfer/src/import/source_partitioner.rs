//! The partitioner of the old servers: the order of the rows in their SSTables.
//!
//! SSTables of 2.1 and later name it. For older ones it is, in this order:
//!
//! 1. the one that the command names,
//! 2. the one of a `cassandra.yaml` or `storage-conf.xml` near the directories,
//! 3. the one in whose order the first rows are.
//!
//! A partitioner that was named is compared with the first rows. If they are in the order of another one, the import ends
//! at once: otherwise nearly each row would be reported as damage.

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::{ImportError, Inventory};
use crate::rows::ring_position;
use base::partitioner::{PARTITIONERS, PartitionerRef, resolve};
use sstable::{TableOptions, TableReader, named_partitioner};

/// Keys that are read of an SSTable.
const KEYS_READ: usize = 200;
/// Most SSTables whose keys are read.
const TABLES_READ: usize = 100;
/// Directories that may have the configuration, from the data directory upwards.
const PARENTS: usize = 4;
const CONFIGURATIONS: [&str; 2] = ["cassandra.yaml", "storage-conf.xml"];

/// The partitioners in the order in which they are preferred, if rows are in the order of several. Collations differ
/// between versions of Java, so the order of CollatingOrderPreservingPartitioner is not known.
const KNOWN: [&str; 4] =
    ["RandomPartitioner", "Murmur3Partitioner", "ByteOrderedPartitioner", "OrderPreservingPartitioner"];

/// A partitioner, and how it is known.
#[derive(Debug, Clone)]
pub struct SourcePartitioner {
    /// The partitioner that orders the rows of the files.
    pub partitioner: PartitionerRef,
    /// The source of the name, for messages.
    pub named_by: String,
}

/// Returns the partitioner of the SSTables. `named` is the one that the command names, with the option; `usual` is used
/// if nothing shows it.
///
/// # Errors
///
/// If rows are in the order of another partitioner than the one that is named.
pub fn source_partitioner(
    inventory: &Inventory,
    named: Option<SourcePartitioner>,
    usual: &PartitionerRef,
) -> Result<SourcePartitioner, ImportError> {
    let evidence = Evidence::of(inventory);
    // Nothing has to be looked for if all SSTables name it, and another one that is named is then not used.
    if let (Some(of_files), true) = (&evidence.of_files, evidence.keys.is_empty()) {
        return Ok(known(of_files.clone(), "the SSTables name it"));
    }
    let mut directories = inventory.directories.iter();
    let Some(named) = named.or_else(|| directories.find_map(|of| configured_near(&of.path))) else {
        let fitting = evidence.fitting.first().filter(|_| evidence.has_rows).and_then(|name| resolve(name));
        return Ok(match fitting {
            Some(partitioner) => known(partitioner, "the rows are in its order"),
            None => known(usual.clone(), "nothing shows another one"),
        });
    };
    let class = named.partitioner.class_name();
    let is_known = KNOWN.iter().any(|name| class.ends_with(name));
    let fits = evidence.fitting.iter().any(|name| class.ends_with(name));
    match (evidence.unlike(&named.partitioner), evidence.fitting.first()) {
        (Some(path), Some(other)) if is_known && !fits => Err(ImportError::Partitioner {
            path: path.clone(),
            named: class.to_owned(),
            named_by: named.named_by,
            other: (*other).to_owned(),
        }),
        _ => Ok(named),
    }
}

/// Returns the partitioner that a file names, or else the usual one.
pub(super) fn order_of_files(inventory: &Inventory, usual: &PartitionerRef) -> PartitionerRef {
    let tables = inventory.families.values().flatten();
    let named = tables.map(|table| &table.descriptor).find_map(named_partitioner);
    named.unwrap_or_else(|| usual.clone())
}

fn known(partitioner: PartitionerRef, named_by: &str) -> SourcePartitioner {
    SourcePartitioner { partitioner, named_by: named_by.to_owned() }
}

/// The evidence in the SSTables.
struct Evidence {
    /// The partitioner that SSTables of 2.1 and later name.
    of_files: Option<PartitionerRef>,
    /// The first keys of older ones.
    keys: Vec<(PathBuf, Vec<Bytes>)>,
    /// The partitioners in whose order all of these are.
    fitting: Vec<&'static str>,
    /// Whether one of them has several keys.
    has_rows: bool,
}

impl Evidence {
    fn of(inventory: &Inventory) -> Evidence {
        let mut evidence =
            Evidence { of_files: None, keys: Vec::new(), fitting: KNOWN.to_vec(), has_rows: false };
        for table in inventory.families.values().flatten().take(TABLES_READ) {
            // An unreadable table is reported when it is imported.
            let Ok(mut reader) = TableReader::open(&table.path, &TableOptions::default()) else { continue };
            if let Some(partitioner) = reader.partitioner() {
                evidence.of_files = Some(partitioner.clone());
                continue;
            }
            if !table.descriptor.format.has_statistics_contents
                && let Ok(keys) = reader.first_keys(KEYS_READ)
            {
                evidence.keys.push((table.path.clone(), keys));
            }
        }
        let keys = &evidence.keys;
        evidence.has_rows = keys.iter().any(|(_, keys)| keys.len() > 1);
        evidence.fitting.retain(|name| {
            resolve(name).is_some_and(|of| keys.iter().all(|(_, keys)| are_in_order(&of, keys)))
        });
        evidence
    }

    /// Returns an SSTable whose rows are in another order.
    fn unlike(&self, partitioner: &PartitionerRef) -> Option<&PathBuf> {
        self.keys.iter().find(|(_, keys)| !are_in_order(partitioner, keys)).map(|(path, _)| path)
    }
}

fn are_in_order(partitioner: &PartitionerRef, keys: &[Bytes]) -> bool {
    keys.iter().map(|key| ring_position(partitioner, key.clone())).is_sorted()
}

/// Returns the partitioner of the configuration in a directory, or in one above it.
fn configured_near(directory: &Path) -> Option<SourcePartitioner> {
    configurations_near(directory).find_map(|path| {
        let partitioner = configured(&fs::read_to_string(&path).ok()?)?;
        Some(known(partitioner, &format!("{} names it", path.display())))
    })
}

/// Returns the places of configurations in a directory, the ones above it, and their `conf`.
fn configurations_near(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let folders =
        directory.ancestors().take(PARENTS).flat_map(|parent| [parent.to_owned(), parent.join("conf")]);
    folders.flat_map(|folder| CONFIGURATIONS.map(|name| folder.join(name)))
}

/// Returns the storage-conf.xml near the directories, which defines the column families of 0.4 to 0.6; `None` if there are
/// files of later releases.
pub fn storage_conf_near(inventory: &Inventory) -> Option<PathBuf> {
    let mut tables = inventory.families.values().flatten();
    if !tables.all(|table| table.descriptor.format.may_sort_texts_as_java()) {
        return None;
    }
    let near = inventory.directories.iter().flat_map(|directory| configurations_near(&directory.path));
    near.into_iter()
        .find(|path| path.extension().is_some_and(|extension| extension == "xml") && path.is_file())
}

/// Returns the partitioner that a configuration of either form names. Its other settings may be of any release.
fn configured(text: &str) -> Option<PartitionerRef> {
    let xml = text.split_once("<Partitioner>").and_then(|(_, rest)| rest.split_once("</Partitioner>"));
    let class = match xml {
        Some((class, _)) => class,
        None => text.lines().find_map(|line| line.strip_prefix("partitioner:"))?,
    };
    let class = class.split('#').next().unwrap_or_default().trim().trim_matches(['"', '\'']);
    PARTITIONERS.iter().find(|(name, _)| class.ends_with(name)).and_then(|(name, _)| resolve(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_of_all_releases_name_a_partitioner() {
        let class = |text: &str| configured(text).map(|of| of.class_name().to_owned());
        let full = |name: &str| Some(format!("org.apache.cassandra.dht.{name}"));
        assert_eq!(
            class(
                "<Storage>\n<Partitioner>org.apache.cassandra.dht.OrderPreservingPartitioner</Partitioner>"
            ),
            full("OrderPreservingPartitioner")
        );
        assert_eq!(
            class("a: b\n# partitioner: x\npartitioner: \"Murmur3Partitioner\" # usual\n"),
            full("Murmur3Partitioner")
        );
        for none in ["", "partitioner: com.example.Mine", "<Partitioner>"] {
            assert_eq!(class(none), None, "{none}");
        }
    }

    #[test]
    fn orders_tell_partitioners_apart() {
        let keys: Vec<Bytes> = ["a", "b", "c", "d", "e"].map(Bytes::from).to_vec();
        let fits = |name: &str| are_in_order(&resolve(name).unwrap(), &keys);
        assert!(fits("ByteOrderedPartitioner") && fits("OrderPreservingPartitioner"));
        assert!(!fits("RandomPartitioner") && !fits("Murmur3Partitioner"));
    }
}
