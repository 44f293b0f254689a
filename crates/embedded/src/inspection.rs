//! Reads a data directory without changing it, and lists what would be a problem for a server.
//!
//! A server may be using the directory. Then only files are examined that it replaces as a whole: the manifest and the
//! lists of tables. The commit log is read only if no server writes to it.

use std::fs::File;
use std::path::{Path, PathBuf};

use super::format::{self, Marked};
use super::log::segments_of;
use super::manifest::{Contents, FamilyName, Manifest};
use super::recovery::replay_newest;
use super::table_folders::table_folders;
use super::tables::{TreeName, TreeVersion};
use crate::schema::{Catalog, CfDef};
use crate::storage::StoreError;
use crate::storage::disk::{Disk, FreeSpace, RealDisk};

/// Damages that are listed; further ones are only counted.
const DAMAGES_MAX: usize = 20;
/// Attempts to read the files of a server that replaces them meanwhile.
const ATTEMPTS: u32 = 5;

/// What a data directory contains.
#[derive(Debug, Default)]
pub struct Inspection {
    /// The format of its files.
    pub format: u8,
    /// Whether a process has locked it.
    pub is_in_use: bool,
    /// The partitioner's class name. Empty before the first start has completed.
    pub partitioner: String,
    /// Column families that have or had data, without dropped ones.
    pub families: Vec<FamilyName>,
    /// The number of listed tables.
    pub tables: u64,
    /// The bytes of their files.
    pub table_bytes: u64,
    /// The number of segments of the commit log.
    pub segments: u64,
    /// Their bytes.
    pub log_bytes: u64,
    /// Directories of tables that an operator has given up, so that they are not used.
    pub given_up: Vec<PathBuf>,
    /// Missing and damaged files, as sentences.
    pub damages: Vec<String>,
    /// Further ones.
    pub more_damages: u64,
    /// Contradictions between the stored data and the schema that was given, as sentences.
    pub conflicts: Vec<String>,
    /// The space of its file system. `None` if that is unknown.
    pub space: Option<FreeSpace>,
}

/// Reads a data directory, and compares its column families with those of a schema.
///
/// # Errors
/// `Mismatch` if it is not a data directory, or of a later version; `Io` if the operating system does not let it be
/// read. Damage is no error.
pub fn inspect(directory: &Path, schema: Option<&Catalog>) -> Result<Inspection, StoreError> {
    let mut attempt = 1;
    loop {
        let found = inspect_once(&RealDisk, directory, schema)?;
        let may_be_replaced = found.is_in_use && !found.damages.is_empty();
        if !may_be_replaced || attempt == ATTEMPTS {
            return Ok(found);
        }
        attempt += 1;
    }
}

/// Returns the class name of the partitioner of a data directory; empty if its first start has not completed, or it has a
/// format without a manifest. Reads nothing else.
///
/// # Errors
/// As [`inspect`], and if the manifest is damaged.
pub fn stored_partitioner(directory: &Path) -> Result<String, StoreError> {
    let Marked { format, .. } = format::read(&RealDisk, directory)?;
    match format < format::MANIFEST_SINCE {
        true => Ok(String::new()),
        false => Ok(Manifest::read(&RealDisk, directory)?.0.partitioner),
    }
}

fn inspect_once(
    disk: &dyn Disk,
    directory: &Path,
    schema: Option<&Catalog>,
) -> Result<Inspection, StoreError> {
    let Marked { format, .. } = format::read(disk, directory)?;
    let mut found = Inspection { format, is_in_use: format::is_locked(directory), ..Inspection::default() };
    found.space = disk.free_space(directory).ok();
    if format < format::MANIFEST_SINCE {
        return Ok(found);
    }
    match Manifest::read(disk, directory) {
        Ok((contents, _)) => {
            found.read(disk, directory, &contents);
            let defined = schema.into_iter().flat_map(Catalog::column_families);
            found.conflicts = defined.filter_map(|cf| conflict(&contents, cf)).collect();
        }
        // A first start that was interrupted is completed by the next one.
        Err(_) if !Manifest::exists(disk, directory)? && !directory.join("tables").exists() => {}
        Err(error) => found.add(&error),
    }
    Ok(found)
}

impl Inspection {
    fn read(&mut self, disk: &dyn Disk, directory: &Path, contents: &Contents) {
        self.partitioner.clone_from(&contents.partitioner);
        let families = contents.families.iter().filter(|(_, record)| !record.is_dropped);
        self.families = families.map(|(name, _)| name.clone()).collect();
        self.read_log(disk, &directory.join("log"), contents);
        for (folder, owner) in table_folders(contents) {
            let tree = TreeName { owner, directory: directory.join("tables").join(folder) };
            if let Some(given_up) = tree.given_up() {
                self.given_up.push(given_up);
                continue;
            }
            if let Err(error) = self.read_tree(disk, &tree) {
                self.add(&error);
            }
        }
    }

    fn read_log(&mut self, disk: &dyn Disk, log: &Path, contents: &Contents) {
        let numbers = segments_of(disk, log).unwrap_or_default();
        self.segments = numbers.len() as u64;
        let lengths = numbers.iter().filter_map(|number| length_of(&super::log::path_of(log, *number)));
        self.log_bytes = lengths.sum();
        if !self.is_in_use
            && let Err(error) = replay_newest((disk, log), contents, |_| {})
        {
            self.add(&error);
        }
    }

    /// Counts the listed tables of a tree, and checks that their files are there.
    fn read_tree(&mut self, disk: &dyn Disk, tree: &TreeName) -> Result<(), StoreError> {
        let version = TreeVersion::read(disk, tree)?;
        for table in version.tables(tree)? {
            let path = tree.directory.join("tables").join(table.number.to_string());
            match length_of(&path) {
                Some(bytes) => {
                    self.tables += 1;
                    self.table_bytes += bytes;
                }
                // A server may have merged it meanwhile.
                None if self.is_in_use => {}
                None => {
                    self.add(&StoreError::Corrupt(format!(
                        "{} of {} is missing",
                        path.display(),
                        tree.owner
                    )));
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, error: &StoreError) {
        if self.damages.len() < DAMAGES_MAX {
            self.damages.push(error.to_string());
        } else {
            self.more_damages += 1;
        }
    }
}

/// Returns why the definition of a column family contradicts its stored data. `None` if it does not.
fn conflict(contents: &Contents, cf: &CfDef) -> Option<String> {
    let record = contents.families.get(&(cf.keyspace.clone(), cf.name.clone()))?;
    record.conflict_with(cf).filter(|_| !record.is_dropped)
}

fn length_of(path: &PathBuf) -> Option<u64> {
    File::open(path).and_then(|file| file.metadata()).ok().map(|metadata| metadata.len())
}
