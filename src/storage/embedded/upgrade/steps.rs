//! The upgrade of a data directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::engine::{OldTree, directories, names};
use super::journal::read_journal;
use super::ledger::add_entry;
use crate::storage::StoreError;
use crate::storage::disk::Disk;
use crate::storage::embedded::deletion_queue::DeletionQueue;
use crate::storage::embedded::manifest::{Contents, FamilyName, FamilyRecord};
use crate::storage::embedded::tables::{TableFolder, number_of};

/// The engine's directory.
const ENGINE: &str = "engine";
/// The directory of keyspaces in it.
const KEYSPACES: &str = "keyspaces";
/// The name of the engine's keyspace that had the ledger.
const LEDGER: &str = "ledger";

/// Upgrades the files of an earlier format to format 3, except the manifest. Returns the contents of the manifest to
/// write. Their partitioner is empty if the directory has never been opened completely.
///
/// # Errors
/// `Corrupt` if files are damaged. Nothing is lost, and the upgrade can be tried again.
pub fn run(disk: &dyn Disk, directory: &Path) -> Result<Contents, StoreError> {
    let engine = directory.join(ENGINE);
    if !engine.join(KEYSPACES).exists() {
        return check_unused(directory);
    }
    tracing::info!("upgrading {} to the newest format", directory.display());
    let upgrade = Upgrade::begin(disk, directory)?;
    let trees = upgrade.replayed()?;
    let mut contents = Contents::default();
    let mut queue = Vec::new();
    let Some(ledger) = upgrade.number_of(LEDGER).and_then(|number| trees.get(&number)) else {
        return Ok(Contents::default());
    };
    for entry in ledger.entries() {
        let (key, value) = entry?;
        if add_entry(&key, &value, &mut contents)? {
            queue.push((key, value));
        }
    }
    drop(trees);
    upgrade.write_queue(queue, &mut contents)?;
    for (name, record) in contents.families.clone().iter() {
        upgrade.rename_trees(name, record, &mut contents)?;
    }
    upgrade.set_aside_unnamed()?;
    let io = |path: &Path, error| StoreError::Io(format!("{}: {error}", path.display()));
    for path in [&upgrade.tables, &upgrade.keyspaces, &directory.to_owned()] {
        disk.sync_directory(path).map_err(|error| io(path, error))?;
    }
    Ok(contents)
}

/// Checks that a directory of an earlier format without an engine is empty: it was never opened completely.
fn check_unused(directory: &Path) -> Result<Contents, StoreError> {
    match ["MANIFEST", "tables"].iter().map(|part| directory.join(part)).find(|path| path.exists()) {
        None => Ok(Contents::default()),
        Some(path) => Err(StoreError::Corrupt(format!(
            "{} says that the directory has an earlier format, but {} exists; put back an undamaged copy of the \
             data directory",
            directory.join("THRIFTSTORE").display(),
            path.display()
        ))),
    }
}

/// Removes the engine's directory, which an upgraded data directory no longer needs.
pub fn remove_earlier(disk: &dyn Disk, directory: &Path) -> Result<(), StoreError> {
    let engine = directory.join(ENGINE);
    let removed = disk.remove_directory(&engine);
    removed.map_err(StoreError::io_at(&engine))
}

/// A running upgrade.
struct Upgrade<'a> {
    disk: &'a dyn Disk,
    engine: PathBuf,
    keyspaces: PathBuf,
    tables: PathBuf,
    /// Directories of keyspaces that have not been renamed into `tables`.
    directories: BTreeMap<u64, PathBuf>,
    names: BTreeMap<u64, String>,
}

impl<'a> Upgrade<'a> {
    fn begin(disk: &'a dyn Disk, directory: &Path) -> Result<Upgrade<'a>, StoreError> {
        let engine = directory.join(ENGINE);
        let (keyspaces, tables) = (engine.join(KEYSPACES), directory.join("tables"));
        // The directory must survive a power failure before trees are renamed into it.
        let created = disk.create_directory(&tables).and_then(|()| disk.sync_directory(directory));
        created.map_err(StoreError::io_at(&tables))?;
        let directories = directories(disk, &keyspaces)?;
        // The range includes keyspaces that an earlier attempt has renamed into `tables`.
        let highest = directories.keys().next_back().copied().unwrap_or(0);
        let names = names(disk, &keyspaces, 0..=highest.saturating_add(disk_entries(disk, &tables)))?;
        Ok(Upgrade { disk, engine, keyspaces, tables, directories, names })
    }

    /// Returns the number of the keyspace that has a name and a directory.
    fn number_of(&self, name: &str) -> Option<u64> {
        let mut numbers = self.names.iter().filter(|(_, other)| *other == name).map(|(number, _)| *number);
        numbers.rfind(|number| self.directories.contains_key(number))
    }

    /// Opens all trees that have a name, and replays the engine's log into them. Those of column families are flushed.
    fn replayed(&self) -> Result<BTreeMap<u64, OldTree>, StoreError> {
        let mut trees = BTreeMap::new();
        for (number, directory) in &self.directories {
            let Some(name) = self.names.get(number) else { continue };
            let owner = if name == LEDGER { "the ledger" } else { name };
            if let Some(tree) = OldTree::open(self.disk, owner, directory.clone())? {
                trees.insert(*number, tree);
            }
        }
        read_journal(&self.engine, |item| {
            if let Some(tree) = trees.get(&item.keyspace) {
                tree.replay(item);
            }
            Ok(())
        })?;
        for (_, tree) in
            trees.iter().filter(|(number, _)| self.names.get(number).is_some_and(|name| name != LEDGER))
        {
            tree.flush()?;
        }
        Ok(trees)
    }

    /// Copies the queue of deletions into tables of its own.
    fn write_queue(&self, queue: Vec<(Bytes, Bytes)>, contents: &mut Contents) -> Result<(), StoreError> {
        if queue.is_empty() {
            return Ok(());
        }
        let folder = DeletionQueue::folder();
        let directory = self.tables.join(&folder.main);
        let removed = self.disk.remove_directory(&directory);
        removed.map_err(StoreError::io_at(&directory))?;
        OldTree::create(&folder.owner, directory)?.write(queue)?;
        contents.tables.insert(folder.main, None);
        Ok(())
    }

    /// Renames the trees of a column family's newest generation, if they exist, into `tables`.
    fn rename_trees(
        &self,
        name: &FamilyName,
        record: &FamilyRecord,
        contents: &mut Contents,
    ) -> Result<(), StoreError> {
        if record.is_dropped {
            return Ok(());
        }
        let folder = TableFolder::of_family(number_of(record.id, record.generation), name);
        let in_engine = format!("cf_{}_{}", record.id, record.generation);
        for (folder_name, in_engine) in
            [(folder.main, in_engine.clone()), (folder.long, format!("{in_engine}_long"))]
        {
            let target = self.tables.join(&folder_name);
            if let Some(directory) =
                self.number_of(&in_engine).and_then(|number| self.directories.get(&number))
            {
                if !directory.join("current").exists() {
                    if directory.join("tables").read_dir().is_ok_and(|mut files| files.next().is_some()) {
                        return Err(StoreError::Corrupt(format!(
                            "the tables of {} in {} have no file `current`, which lists them. Put back an \
                             undamaged copy of the data directory, or move {} out of it to start without the data of \
                             these tables",
                            folder.owner,
                            directory.display(),
                            directory.display()
                        )));
                    }
                    continue;
                }
                let renamed = self.disk.rename(directory, &target);
                renamed.map_err(StoreError::io_at(&target))?;
            }
            if target.join("current").exists() {
                contents.tables.insert(folder_name, None);
            }
        }
        Ok(())
    }

    /// Moves aside the tables of keyspaces that have no name, since their column family is unknown. The engine had
    /// removed these names.
    fn set_aside_unnamed(&self) -> Result<(), StoreError> {
        for (number, directory) in self.directories.iter().filter(|(number, _)| **number != 0) {
            let has_tables =
                || directory.join("tables").read_dir().is_ok_and(|mut files| files.next().is_some());
            if self.names.contains_key(number) || !directory.join("current").exists() || !has_tables() {
                continue;
            }
            let target = self.tables.join(format!("unnamed-{number}.given-up"));
            tracing::warn!(
                "the tables in {} belong to no known column family; they are kept in {}",
                directory.display(),
                target.display()
            );
            let renamed = self.disk.rename(directory, &target);
            renamed.map_err(StoreError::io_at(&target))?;
        }
        Ok(())
    }
}

/// Returns the number of entries of a directory, 0 if it cannot be read.
fn disk_entries(disk: &dyn Disk, directory: &Path) -> u64 {
    disk.list(directory).map_or(0, |entries| entries.len() as u64)
}
