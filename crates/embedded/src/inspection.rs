//! Reads a data directory without changing it, and lists problems for a server.
//!
//! A server may be using the directory. Then only files are examined that it replaces as a whole: the manifest and the
//! lists of tables. The commit log is read only if no server writes to it.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};

use super::format;
use super::log::segments_of;
use super::manifest::{Contents, Manifest, TreeIdentity};
use super::recovery::replay_newest;
use super::table_folders::table_folders;
use super::tables::{TableFolder, TreeName, TreeVersion, number_of};
use crate::disk::{Disk, FreeSpace, RealDisk};
use base::schema::{Catalog, CfDef, FamilyName};
use store::{Result, StoreError};

/// Damages that are listed; further ones are only counted.
const DAMAGES_MAX: usize = 20;
/// Attempts to read the files of a server that replaces them meanwhile.
const ATTEMPTS: u32 = 5;

/// The contents of a data directory.
#[derive(Debug, Default)]
pub struct Inspection {
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
    /// Whether it has a single entry, be it a tombstone; also if a server uses it. Without one the partitioner and the
    /// types of column families may change.
    pub has_entries: bool,
    /// Contradictions between the stored data and the schema that was given, as sentences.
    pub conflicts: Vec<String>,
    /// The space of its file system. `None` if that is unknown.
    pub space: Option<FreeSpace>,
}

/// Reads a data directory, and compares its column families with those of a schema.
///
/// # Errors
/// `Mismatch` if it is not a data directory, or has another format; `Io` if the operating system does not let it be
/// read. Damage is not an error.
pub fn inspect(directory: &Path, schema: Option<&Catalog>) -> Result<Inspection> {
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

/// Returns the class name of the partitioner of a data directory. Reads nothing else.
///
/// # Errors
/// As [`inspect`], and if the manifest is damaged.
pub fn stored_partitioner(directory: &Path) -> Result<String> {
    format::read(&RealDisk, directory)?;
    Ok(Manifest::read(&RealDisk, directory)?.partitioner)
}

fn inspect_once(disk: &dyn Disk, directory: &Path, schema: Option<&Catalog>) -> Result<Inspection> {
    format::read(disk, directory)?;
    let mut found = Inspection { is_in_use: format::is_locked(directory), ..Inspection::default() };
    found.space = disk.free_space(directory).ok();
    match Manifest::read(disk, directory) {
        Ok(contents) => {
            let entries = found.read(disk, directory, &contents);
            found.has_entries = found.is_in_use || !entries.rows.is_empty() || !entries.trees.is_empty();
            let defined = schema.into_iter().flat_map(Catalog::column_families);
            let conflicts = defined.filter_map(|cf| found.conflict(&contents, &entries, cf));
            found.conflicts = conflicts.collect();
        }
        // A first start that was interrupted is completed by the next one.
        Err(_) if !Manifest::exists(disk, directory)? && !directory.join("tables").exists() => {}
        Err(error) => found.add(&error),
    }
    Ok(found)
}

/// The generations that have entries.
#[derive(Default)]
struct InspectedEntries {
    /// The numbers of those with rows in the commit log.
    rows: HashSet<u64>,
    /// The names of the directories of trees that have tables, or cannot be read.
    trees: HashSet<OsString>,
}

impl Inspection {
    fn read(&mut self, disk: &dyn Disk, directory: &Path, contents: &Contents) -> InspectedEntries {
        let mut entries = InspectedEntries::default();
        self.partitioner.clone_from(&contents.partitioner);
        let families = contents.families.iter().filter(|(_, record)| !record.is_dropped);
        self.families = families.map(|(name, _)| name.clone()).collect();
        self.read_log(disk, &directory.join("log"), contents, &mut entries);
        for (tree, record) in table_folders(contents, directory) {
            if tree.has_entries(disk, record.identity).unwrap_or(true) {
                entries.trees.extend(tree.directory.file_name().map(OsStr::to_owned));
            }
            if let Some(given_up) = tree.given_up() {
                self.given_up.push(given_up);
                continue;
            }
            if let Err(error) = self.read_tree(disk, &tree, record.identity) {
                self.add(&error);
            }
        }
        entries
    }

    /// Returns why the definition of a column family contradicts its stored data. `None` if it does not, or if there is no
    /// data.
    fn conflict(&self, contents: &Contents, entries: &InspectedEntries, cf: &CfDef) -> Option<String> {
        let name = FamilyName::of(cf);
        let record = contents.families.get(&name).filter(|record| !record.is_dropped)?;
        let number = number_of(record.id, record.generation);
        let TableFolder { main, long, .. } = TableFolder::of_family(number, &name);
        let has_entries = self.is_in_use
            || entries.rows.contains(&number)
            || [main, long].iter().any(|tree| entries.trees.contains(OsStr::new(tree)));
        record.conflict_with(cf).filter(|_| has_entries)
    }

    fn read_log(&mut self, disk: &dyn Disk, log: &Path, contents: &Contents, entries: &mut InspectedEntries) {
        let numbers = segments_of(disk, log).unwrap_or_default();
        self.segments = numbers.len() as u64;
        let lengths = numbers.iter().filter_map(|number| length_of(&super::log::path_of(log, *number)));
        self.log_bytes = lengths.sum();
        if !self.is_in_use
            && let Err(error) = replay_newest(disk, log, contents, |row| {
                entries.rows.insert(row.family);
            })
        {
            self.add(&error);
        }
    }

    /// Counts the listed tables of a tree, and checks that their files are there.
    fn read_tree(&mut self, disk: &dyn Disk, tree: &TreeName, recorded: Option<TreeIdentity>) -> Result<()> {
        let version = TreeVersion::read(disk, tree, recorded)?;
        for table in version.tables(tree)? {
            let path = tree.table_file(table.number);
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

fn length_of(path: &PathBuf) -> Option<u64> {
    File::open(path).and_then(|file| file.metadata()).ok().map(|metadata| metadata.len())
}
