//! Links or copies the tables that the trees of a data directory list.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::io_error;
use super::source::BackupSource;
use crate::disk::Disk;
use crate::manifest::{Contents, TreeIdentity};
use crate::pace::{PacedProgress, Progress};
use crate::table_folders::table_folders;
use crate::tables::{GIVEN_UP, ListedTable, TreeName, TreeVersion};
use store::{Result, StoreError};

/// Attempts to copy one tree. Another one is needed if a compaction has replaced tables meanwhile. Each attempt keeps
/// the tables that were linked or copied before, so there is less to do.
const ATTEMPTS: u32 = 1000;
/// Bytes copied at a time.
const PIECE_BYTES: usize = 1 << 20;

/// The trees of a backup.
pub(crate) struct TreeCopies<'a> {
    disk: &'a dyn Disk,
    source: &'a BackupSource,
    /// The backup's directory of tables.
    copy: PathBuf,
    /// The trees by the names of their directories.
    trees: BTreeMap<String, TreeCopy>,
}

/// A tree of a backup.
pub(crate) struct TreeCopy {
    /// The name of the source's tree.
    pub name: TreeName,
    /// The number of the list of tables, N of `vN`.
    version: Option<u64>,
    /// The identity with which the source's manifest names the list.
    identity: Option<TreeIdentity>,
    /// The tables by their numbers.
    pub tables: BTreeMap<u64, TableCopy>,
}

/// A table of a backup.
pub(crate) struct TableCopy {
    /// Checksum of the whole file.
    pub checksum: u128,
    pub bytes: u64,
    /// Whether it is a hard link to the source's file.
    pub is_linked: bool,
}

impl<'a> TreeCopies<'a> {
    /// Returns copies without trees.
    pub(crate) fn new(disk: &'a dyn Disk, source: &'a BackupSource, copy: &Path) -> TreeCopies<'a> {
        TreeCopies { disk, source, copy: copy.join("tables"), trees: BTreeMap::new() }
    }

    /// Returns the trees, with the names of their directories.
    pub(crate) fn trees(&self) -> impl Iterator<Item = (&str, &TreeCopy)> {
        self.trees.iter().map(|(folder, tree)| (&folder[..], tree))
    }

    /// Returns the tables of all trees.
    pub(crate) fn tables(&self) -> impl Iterator<Item = &TableCopy> {
        self.trees.values().flat_map(|tree| tree.tables.values())
    }

    /// Returns the contents of a manifest with the identities of the copied trees.
    pub(crate) fn recorded_in(&self, contents: &Contents) -> Contents {
        let mut contents = contents.clone();
        for (folder, tree) in self.trees() {
            if let Some(record) = contents.tables.get_mut(folder) {
                record.identity = tree.identity;
            }
        }
        contents
    }

    /// Updates the backup to the current state of the trees that a manifest lists.
    ///
    /// # Errors
    /// `Corrupt` if a file of a tree is damaged or missing. The files of a tree that is truncated during the copy are
    /// missing, too.
    pub(crate) fn update(&mut self, contents: &Contents, progress: Progress<'_>) -> Result<()> {
        self.disk.create_directory(&self.copy).map_err(|error| io_error(&self.copy, &error))?;
        let listed: HashSet<&str> = contents.tables.keys().map(String::as_str).collect();
        for folder in self.trees.keys().filter(|folder| !listed.contains(&folder[..])) {
            let path = self.copy.join(folder);
            self.disk.remove_directory(&path).map_err(|error| io_error(&path, &error))?;
        }
        self.trees.retain(|folder, _| listed.contains(&folder[..]));
        progress(&format!("linking or copying tables, directories: {}", listed.len()));
        let mut trees = Vec::new();
        for (name, record) in table_folders(contents, &self.source.directory) {
            if !self.is_given_up(&name, progress)? {
                trees.push((name, record));
            }
        }
        let whole = trees.iter().map(|(name, _)| name.bytes_of_tables()).sum();
        let mut pace = PacedProgress::new(progress, "linked or copied", whole);
        trees.into_iter().try_for_each(|(name, record)| self.update_tree(name, record.identity, &mut pace))
    }

    /// Returns whether the operator has given up the tables of a directory. The backup then has an empty directory with
    /// the same suffix.
    fn is_given_up(&self, name: &TreeName, progress: Progress<'_>) -> Result<bool> {
        let Some(given_up) = name.given_up() else { return Ok(false) };
        progress(&format!(
            "the tables of {} in {} were given up by an operator: the backup does not have them",
            name.owner,
            given_up.display()
        ));
        let copy = self.copy.join(format!("{}{GIVEN_UP}", name.folder()));
        self.disk.create_directory(&copy).map_err(|error| io_error(&copy, &error))?;
        Ok(true)
    }

    /// Copies one tree at one time.
    fn update_tree(
        &mut self,
        name: TreeName,
        mut identity: Option<TreeIdentity>,
        pace: &mut PacedProgress<'_>,
    ) -> Result<()> {
        let folder = name.folder().to_owned();
        let copy = self.copy.join(&folder);
        let tables = copy.join("tables");
        self.disk.create_directory(&tables).map_err(|error| io_error(&tables, &error))?;
        let tree = self.trees.entry(folder.clone()).or_insert_with(|| TreeCopy {
            name,
            version: None,
            identity,
            tables: BTreeMap::new(),
        });
        let current = tree.name.directory.join("current");
        let mut attempt = 0;
        loop {
            attempt += 1;
            let before = self.disk.read(&current).ok();
            tree.identity = identity;
            let damage = match tree.update(self.disk, &copy, pace) {
                Err(StoreError::Corrupt(damage)) => damage,
                outcome => return outcome,
            };
            // A compaction may have removed tables of the earlier list.
            let contents = self.source.manifest(self.disk)?;
            identity = contents.tables.get(&folder).and_then(|record| record.identity);
            let is_changed = identity != tree.identity || self.disk.read(&current).ok() != before;
            if attempt == ATTEMPTS || !is_changed {
                return Err(StoreError::Corrupt(damage));
            }
        }
    }
}

impl TreeCopy {
    /// Updates the copy to the current list of tables of the tree.
    fn update(&mut self, disk: &dyn Disk, copy: &Path, pace: &mut PacedProgress<'_>) -> Result<()> {
        let version = TreeVersion::read(disk, &self.name, self.identity)?;
        let listed = version.tables(&self.name)?;
        for table in &listed {
            self.add_table(disk, copy, *table, pace)?;
        }
        let is_listed: HashSet<u64> = listed.iter().map(|table| table.number).collect();
        let unlisted = self.tables.keys().filter(|number| !is_listed.contains(number));
        let old_list = self.version.filter(|number| *number != version.number);
        let leftovers = unlisted.map(|number| copy.join("tables").join(number.to_string()));
        for path in leftovers.chain(old_list.map(|number| copy.join(format!("v{number}")))) {
            disk.remove_file(&path).map_err(|error| io_error(&path, &error))?;
        }
        self.tables.retain(|number, _| is_listed.contains(number));
        assert!(self.tables.len() == is_listed.len(), "the backup of {} would lack tables", self.name.owner);
        let list = format!("v{}", version.number);
        self.version = Some(version.number);
        for (name, bytes) in [(&list[..], &version.list), ("current", &version.current)] {
            let path = copy.join(name);
            disk.write(&path, bytes).map_err(|error| io_error(&path, &error))?;
        }
        Ok(())
    }

    /// Links or copies one table, unless the backup has it.
    fn add_table(
        &mut self,
        disk: &dyn Disk,
        copy: &Path,
        table: ListedTable,
        pace: &mut PacedProgress<'_>,
    ) -> Result<()> {
        if self.tables.get(&table.number).is_some_and(|taken| taken.checksum == table.checksum) {
            return Ok(());
        }
        let place = Path::new("tables").join(table.number.to_string());
        let (from, to) = (self.name.directory.join(&place), copy.join(&place));
        if self.tables.remove(&table.number).is_some() {
            disk.remove_file(&to).map_err(|error| io_error(&to, &error))?;
        }
        let is_linked = match disk.link(&from, &to) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(self.name.unreadable(&from, error));
            }
            Err(_) => false,
        };
        let bytes = if is_linked {
            let length = disk.open(&to).and_then(|file| file.length());
            let length = length.map_err(|error| io_error(&to, &error))?;
            pace.add(length);
            length
        } else {
            let file = File::open(&from).map_err(|error| self.name.unreadable(&from, error))?;
            copy_file(disk, file, &from, &to, pace)?
        };
        self.tables.insert(table.number, TableCopy { checksum: table.checksum, bytes, is_linked });
        Ok(())
    }
}

/// Copies an open file to a path. Returns its length.
fn copy_file(
    disk: &dyn Disk,
    mut file: File,
    from: &Path,
    to: &Path,
    pace: &mut PacedProgress<'_>,
) -> Result<u64> {
    let copy = disk.create(to).map_err(|error| io_error(to, &error))?;
    let mut piece = vec![0; PIECE_BYTES];
    let mut length = 0;
    loop {
        let bytes = read_piece(&mut file, &mut piece).map_err(|error| io_error(from, &error))?;
        if bytes == 0 {
            return Ok(length);
        }
        copy.write_at(&piece[..bytes], length).map_err(|error| io_error(to, &error))?;
        length += bytes as u64;
        pace.add(bytes as u64);
    }
}

fn read_piece(file: &mut File, piece: &mut [u8]) -> io::Result<usize> {
    loop {
        match file.read(piece) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            bytes => return bytes,
        }
    }
}
