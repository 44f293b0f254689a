//! Searches the directories of old servers for SSTables and logs.
//!
//! Directories that are given may overlap, and then the same files are found twice:
//!
//! ```text
//!   --from data data/Shop            the files of data/Shop belong to one node: they are read once, with a note
//!   --from data --from data/Shop     .. they would belong to two nodes, whose counters would be added up: an error
//! ```
//!
//! A file is recognized by its device and inode, so that links, mounts, and the hard links of snapshots do not hide that
//! it is the same one.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::inventory::Inventory;
use super::leftovers::LeftOut;
use super::{FamilyName, ImportError, NodePath, SstableFile};
use base::schema::is_system_keyspace;
use sstable::{Component, Descriptor, SstableError, is_transaction_log};

/// The directory of a column family (up to 1.0 of a keyspace) with a directory for each snapshot.
const SNAPSHOTS: &str = "snapshots";
/// The directory of a column family with its incremental backups.
const BACKUPS: &str = "backups";
/// The directory in which the check of a file system puts pieces of files. It is usually closed to other users.
const LOST_AND_FOUND: &str = "lost+found";
/// The usual name of the directory of commit logs, which is beside the data directory.
const COMMIT_LOGS: &str = "commitlog";
/// The keyspaces in which old servers keep their schema.
pub const SCHEMA_KEYSPACES: [&str; 2] = ["system", "system_schema"];
/// The depth to which directories are searched: keyspace, family, and some above them.
const DEPTH_MAX: u32 = 8;

/// A file by its device and inode.
type FileId = (u64, u64);

/// The directory that is searched.
#[derive(Debug, Clone)]
struct Searched {
    directory: PathBuf,
    node: usize,
    /// Whether the user has given the directory. Otherwise it is the one of the commit logs beside it.
    is_given: bool,
}

/// A search, which fills an inventory.
pub(super) struct Search<'i> {
    inventory: &'i mut Inventory,
    /// The directory in which each file was found first.
    found: HashMap<FileId, Searched>,
    /// Links to directories, with their targets.
    links: Vec<(PathBuf, PathBuf)>,
    /// The Data files that belong to the Index files that were found, with their nodes.
    indexed: BTreeSet<(PathBuf, usize)>,
    /// The snapshot that is read instead of the present files of users' column families.
    snapshot: Option<&'i str>,
}

impl<'i> Search<'i> {
    pub(super) fn new(inventory: &'i mut Inventory, snapshot: Option<&'i str>) -> Search<'i> {
        let (found, links, indexed) = (HashMap::new(), Vec::new(), BTreeSet::new());
        Search { inventory, found, links, indexed, snapshot }
    }

    /// Searches a directory of a node, and the directory of commit logs beside it.
    ///
    /// # Errors
    ///
    /// If a directory cannot be read, or if files of it belong to another node.
    pub(super) fn add(&mut self, directory: &Path, node: usize) -> Result<(), ImportError> {
        let full = fs::canonicalize(directory).map_err(|error| failed(directory, &error))?;
        let given = Searched { directory: full.clone(), node, is_given: true };
        let again = self.search(&full, &given, DEPTH_MAX)?;
        if again > 0 {
            self.inventory.notes.push(format!(
                "{}: {again} of its files are in another directory of this --from too. Each file is read once",
                full.display()
            ));
        }
        let beside = full.with_file_name(COMMIT_LOGS);
        // A snapshot is older than the commit logs.
        if beside.is_dir() && self.snapshot.is_none() {
            let logs = Searched { directory: beside.clone(), node, is_given: false };
            self.search(&beside, &logs, 0)?;
        }
        let found = NodePath { path: full, node };
        if !self.inventory.directories.contains(&found) {
            self.inventory.directories.push(found);
        }
        Ok(())
    }

    /// Ends the search. Lists the Data files that are missing beside their Index files, and notes links to directories
    /// that were not searched.
    pub(super) fn finish(self) {
        let Search { inventory, links, indexed, .. } = self;
        inventory.missing.extend(indexed.into_iter().filter_map(|(path, node)| missing_table(path, node)));
        for (link, target) in links {
            if !inventory.directories.iter().any(|given| target.starts_with(&given.path)) {
                let (link, target) = (link.display(), target.display());
                inventory.notes.push(format!(
                    "{link} is a link to the directory {target}, which is not searched: give that directory too, after the same \
                     --from"
                ));
            }
        }
    }

    /// Searches a directory and those in it. Returns how many files were found before.
    fn search(&mut self, path: &Path, of: &Searched, depth: u32) -> Result<u64, ImportError> {
        let mut again = 0;
        let entries = fs::read_dir(path).map_err(|error| failed(path, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| failed(path, &error))?;
            let path = entry.path();
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let kind = entry.file_type().map_err(|error| failed(&path, &error))?;
            let is_copy = is_copy(&path, &name);
            let has_tables = !is_copy && !name.starts_with('.') && name != LOST_AND_FOUND;
            if kind.is_dir() && is_data_file(&name) {
                let why = "it is a directory, and has the name of a Data file".to_owned();
                self.inventory.unreadable.push(SstableError::Unsupported { path, why });
            } else if kind.is_dir() && is_copy {
                self.search_copies(&path, of, depth)?;
            } else if kind.is_dir() {
                self.add_id(&path);
                match (has_tables, depth) {
                    (true, 1..) => again += self.search(&path, of, depth - 1)?,
                    (true, 0) if of.is_given => self.note_unsearched(&path, "is too far below"),
                    // The directories of indexes in a table's directory begin with a full stop.
                    (false, _) if name.starts_with('.') && path.parent().and_then(id_of).is_none() => {
                        self.note_unsearched(&path, "is hidden");
                    }
                    _ => {}
                }
            } else if kind.is_symlink() && path.is_dir() {
                // Links are not followed: they could lead anywhere.
                let target = fs::canonicalize(&path).ok().filter(|_| has_tables && depth > 0);
                self.links.extend(target.map(|target| (path, target)));
            } else {
                again += u64::from(self.add_file(path, &name, of)?);
            }
        }
        Ok(again)
    }

    /// Searches the snapshot that is read in a directory of snapshots. Counts the SSTables of others, and of incremental backups.
    fn search_copies(&mut self, path: &Path, of: &Searched, depth: u32) -> Result<(), ImportError> {
        if path.ends_with(BACKUPS) {
            self.inventory.backups += count_tables(path, depth);
            return Ok(());
        }
        // The owner of a directory of snapshots may be another user: then nothing is known about it.
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if Some(name.as_str()) == self.snapshot && depth > 0 {
                // Its files of the system keyspaces are usually links to the present ones.
                self.search(&entry.path(), of, depth - 1)?;
                continue;
            }
            let tables = count_tables(&entry.path(), depth);
            if tables > 0 {
                *self.inventory.snapshots.entry(name).or_default() += tables;
            }
        }
        Ok(())
    }

    /// Whether a file is read: with a snapshot only its own files, and the system keyspaces.
    fn is_wanted(&self, path: &Path) -> bool {
        let Some(snapshot) = self.snapshot else { return true };
        if path.parent().is_some_and(|parent| parent.ends_with(format!("{SNAPSHOTS}/{snapshot}"))) {
            return true;
        }
        let keyspace = Descriptor::of_data_file(path).ok().and_then(|descriptor| descriptor.keyspace);
        keyspace.is_some_and(|keyspace| is_schema(&keyspace))
    }

    fn note_unsearched(&mut self, directory: &Path, why: &str) {
        let note = format!(
            "{} {why}, and is not searched: if it has SSTables, give it too, after the same --from",
            directory.display()
        );
        self.inventory.notes.push(note);
    }

    /// Takes the id of a column family from the name of its directory, `<family>-<id>`.
    fn add_id(&mut self, directory: &Path) {
        let keyspace = directory.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        if let (Some(keyspace), Some((name, id))) = (keyspace, id_of(directory)) {
            self.inventory.ids.insert(id, FamilyName { keyspace: keyspace.to_owned(), name });
        }
    }

    /// Adds a file if it is a Data file or a log. Returns whether it was found before.
    fn add_file(&mut self, path: PathBuf, name: &str, of: &Searched) -> Result<bool, ImportError> {
        let is_data = is_data_file(name);
        let is_commit_log = name.starts_with("CommitLog-") && name.ends_with(".log");
        let index = [Component::Index, Component::Partitions].map(Component::name);
        if let Some(table) = index.into_iter().find_map(|index| name.strip_suffix(index)) {
            let data = path.with_file_name(format!("{table}{}", Component::Data.name()));
            if self.is_wanted(&data) {
                self.indexed.insert((data, of.node));
            }
            return Ok(false);
        }
        if !is_data && !is_commit_log && !is_transaction_log(name) {
            return Ok(false);
        }
        let is_unwanted = if is_data { !self.is_wanted(&path) } else { self.snapshot.is_some() };
        if is_unwanted {
            return Ok(false);
        }
        // A link without its file is reported where it is read.
        let metadata = fs::metadata(&path).or_else(|_| fs::symlink_metadata(&path));
        let metadata = metadata.map_err(|error| failed(&path, &error))?;
        if let Some(before) = self.found.get(&(metadata.dev(), metadata.ino())) {
            return again(&path, before, of);
        }
        self.found.insert((metadata.dev(), metadata.ino()), of.clone());
        let node = of.node;
        if is_data {
            self.add_table(path, metadata.len(), node);
        } else if is_commit_log {
            self.inventory.commit_logs.push(NodePath { path, node });
        } else {
            self.inventory.transaction_logs.push(NodePath { path, node });
        }
        Ok(false)
    }

    fn add_table(&mut self, path: PathBuf, bytes: u64, node: usize) {
        let inventory = &mut *self.inventory;
        let descriptor = match Descriptor::of_data_file(&path) {
            Ok(descriptor) => descriptor,
            Err(error) => return inventory.unreadable.push(error),
        };
        let (Some(keyspace), Some(name)) = (descriptor.keyspace.clone(), descriptor.family.clone()) else {
            let why = "neither its name nor its directory names its column family".to_owned();
            return inventory.unreadable.push(SstableError::Unsupported { path, why });
        };
        let is_index = name.contains('.');
        if is_index {
            return;
        }
        let name = FamilyName { keyspace, name };
        let why = match &descriptor {
            found if found.is_temporary => "the server had not finished it",
            found if found.is_compacted() => "the server has marked it as compacted or truncated",
            _ => "",
        };
        if !why.is_empty() {
            return inventory.left_out.push(LeftOut { path, why: why.to_owned(), family: name });
        }
        if !is_read(&name.keyspace) {
            return;
        }
        // With an Index file, the reader reports the keys that are lost.
        if bytes == 0 && !descriptor.index_path().is_file() {
            let why = format!(
                "{}: the Data file is empty, and has no Index file; lost: all its rows",
                path.display()
            );
            return inventory.doubts.push(LeftOut { path, why, family: name });
        }
        let families =
            if is_schema(&name.keyspace) { &mut inventory.system } else { &mut inventory.families };
        let table = SstableFile { path, bytes, descriptor, node };
        families.entry(name).or_default().push(table);
    }
}

/// Returns whether old servers keep their schema in a keyspace.
fn is_schema(keyspace: &str) -> bool {
    SCHEMA_KEYSPACES.contains(&keyspace)
}

/// Returns whether the SSTables of a keyspace are read.
fn is_read(keyspace: &str) -> bool {
    is_schema(keyspace) || !is_system_keyspace(keyspace)
}

/// Returns an SSTable whose Index file was found, if it should be read and its Data file does not exist.
fn missing_table(path: PathBuf, node: usize) -> Option<(FamilyName, SstableFile)> {
    let descriptor = Descriptor::of_data_file(&path).ok()?;
    let name = FamilyName { keyspace: descriptor.keyspace.clone()?, name: descriptor.family.clone()? };
    let is_index = name.name.contains('.');
    let is_expected =
        is_read(&name.keyspace) && !is_index && !descriptor.is_temporary && !descriptor.is_compacted();
    // Another error than a missing file is reported when the file is read.
    let is_missing = is_expected && path.symlink_metadata().is_err();
    is_missing.then_some((name, SstableFile { path, bytes: 0, descriptor, node }))
}

fn is_data_file(name: &str) -> bool {
    name.strip_suffix(Component::Data.name()).is_some_and(|before| before.ends_with('-'))
}

/// Returns the number of SSTables of users' column families in a directory and below it.
fn count_tables(directory: &Path, depth: u32) -> u64 {
    let mut count = 0;
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            count += if depth > 0 { count_tables(&path, depth - 1) } else { 0 };
        } else if is_data_file(&entry.file_name().to_string_lossy())
            && let Ok(Descriptor { keyspace: Some(keyspace), family: Some(family), .. }) =
                Descriptor::of_data_file(&path)
        {
            let is_index = family.contains('.');
            count += u64::from(!is_system_keyspace(&keyspace) && !is_index);
        }
    }
    count
}

/// Returns whether a directory repeats tables: one of snapshots or backups, unless it belongs to a column family of
/// this name, whose files begin with it (1.1 to 2.0).
fn is_copy(directory: &Path, name: &str) -> bool {
    if ![SNAPSHOTS, BACKUPS].contains(&name) {
        return false;
    }
    let mut files = fs::read_dir(directory).into_iter().flatten().flatten();
    !files.any(|file| file.file_name().to_string_lossy().contains(&format!("-{name}-")))
}

/// Returns whether a file that was found before is worth a note. The directory of commit logs beside a data directory may
/// be found more than once: it was not given.
///
/// # Errors
///
/// If the file would belong to two nodes.
fn again(path: &Path, before: &Searched, of: &Searched) -> Result<bool, ImportError> {
    if before.node != of.node {
        let (path, one) = (path.to_owned(), before.directory.clone());
        return Err(ImportError::TwoNodes { path, one, other: of.directory.clone() });
    }
    Ok(before.is_given && of.is_given)
}

/// Returns the name and the id of a column family in the name of its directory, `<family>-<id>`.
pub(super) fn id_of(directory: &Path) -> Option<(String, [u8; 16])> {
    let (name, id) = directory.file_name()?.to_str()?.rsplit_once('-')?;
    Some((name.to_owned(), uuid::Uuid::try_parse(id).ok()?.into_bytes()))
}

fn failed(path: &Path, error: &std::io::Error) -> ImportError {
    ImportError::Directory { path: path.to_owned(), why: error.to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A directory with SSTables and logs of each kind.
    fn directory() -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in [
            "data/Shop/Carts-1-Data.db",
            "data/Shop/Carts-9786ac1cdd583201a7cdad556410c985/me-2-big-Data.db",
            "data/Shop/Carts-9786ac1cdd583201a7cdad556410c985/me_txn_flush_1.log",
            "data/Shop/snapshots/old/Carts-7-Data.db",
            "commitlog/CommitLog-6-1.log",
        ] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        fs::hard_link(
            root.path().join("data/Shop/Carts-1-Data.db"),
            root.path().join("data/Shop/snapshots/old/Carts-1-Data.db"),
        )
        .unwrap();
        std::os::unix::fs::symlink(root.path().join("data"), root.path().join("link")).unwrap();
        root
    }

    fn search(root: &Path, nodes: &[&[&str]]) -> Result<Inventory, ImportError> {
        let mut inventory = Inventory::default();
        let mut search = Search::new(&mut inventory, None);
        for (node, names) in nodes.iter().enumerate() {
            for name in *names {
                search.add(&root.join(name), node)?;
            }
        }
        search.finish();
        inventory.doubt_missing();
        Ok(inventory)
    }

    #[test]
    fn files_of_overlapping_directories_are_read_once() {
        let root = directory();
        let counts = |found: &Inventory| {
            let tables = found.families.values().map(Vec::len).sum::<usize>();
            (tables, found.transaction_logs.len(), found.commit_logs.len())
        };
        let alone = search(root.path(), &[&["data"]]).unwrap();
        assert_eq!((counts(&alone), &alone.notes[..]), ((2, 1, 1), &[][..]));
        for (names, again) in [
            (&["data", "data"][..], 3),
            (&["data", "data/Shop"], 3),
            (&["data/Shop", "data"], 3),
            (&["data", "link"], 3),
            (&["link/Shop", "data/../data/Shop"], 3),
        ] {
            let found = search(root.path(), &[names]).unwrap();
            assert_eq!(counts(&found).0, 2, "{names:?}");
            assert_eq!(counts(&found).1, 1, "{names:?}");
            assert!(
                found.notes.len() == 1 && found.notes[0].contains(&format!("{again} of its files")),
                "{names:?}: {:?}",
                found.notes
            );
        }
        // The directory of commit logs is searched with the data directory beside it.
        let found = search(root.path(), &[&["data", "commitlog"]]).unwrap();
        assert_eq!((counts(&found), &found.notes[..]), ((2, 1, 1), &[][..]));
        // A snapshot has hard links to the files of its time.
        let found = search(root.path(), &[&["data", "data/Shop/snapshots/old"]]).unwrap();
        assert_eq!(counts(&found).0, 3);
        assert!(found.notes[0].contains("1 of its files"), "{:?}", found.notes);
    }

    #[test]
    fn a_file_of_two_nodes_is_an_error() {
        let root = directory();
        for nodes in [
            [&["data"][..], &["data"]],
            [&["data"], &["data/Shop"]],
            [&["link"], &["data"]],
            [&["data"], &["commitlog"]],
            [&["commitlog"], &["data"]],
        ] {
            let error = search(root.path(), &nodes).unwrap_err();
            assert!(error.to_string().contains("two nodes"), "{nodes:?}: {error}");
        }
    }

    #[test]
    fn links_to_directories_that_are_not_searched_are_noted() {
        let root = directory();
        fs::create_dir_all(root.path().join("disk/Blog")).unwrap();
        fs::write(root.path().join("disk/Blog/Posts-1-Data.db"), b"1234").unwrap();
        let (target, link) = (root.path().join("disk/Blog"), root.path().join("data/Blog"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        let found = search(root.path(), &[&["data"]]).unwrap();
        assert!(found.notes.len() == 1 && found.notes[0].contains("disk/Blog"), "{:?}", found.notes);
        let found = search(root.path(), &[&["data", "disk"]]).unwrap();
        assert_eq!((found.families.len(), &found.notes[..]), (2, &[][..]));
    }

    #[test]
    fn directories_that_are_not_searched_are_noted() {
        let root = directory();
        let carts = "data/Shop/Carts-9786ac1cdd583201a7cdad556410c985";
        let below = "a/b/c/d/e/f/g/h/i";
        for directory in ["data/.old/Shop", &format!("{carts}/.by_name"), &format!("data/{below}")] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        let mut notes = search(root.path(), &[&["data"]]).unwrap().notes;
        notes.sort();
        assert!(
            notes.len() == 2
                && notes[0].contains("data/.old is hidden, and is not searched")
                && notes[1].contains(&format!("{below} is too far below")),
            "{notes:?}"
        );
    }

    #[test]
    fn missing_and_empty_data_files_are_doubtful() {
        let root = directory();
        let carts = root.path().join("data/Shop/Carts-9786ac1cdd583201a7cdad556410c985");
        for (file, content) in [
            ("me-1-big-Index.db", "1"),
            ("me-2-big-Index.db", "2"),
            ("me-3-big-Data.db", ""),
            ("me-4-big-Statistics.db", "4"),
            ("da-6-bti-Partitions.db", "6"),
        ] {
            fs::write(carts.join(file), content).unwrap();
        }
        fs::write(root.path().join("data/Shop/Carts-tmp-5-Index.db"), "5").unwrap();
        fs::create_dir(carts.join("me-9-big-Data.db")).unwrap();
        let found = search(root.path(), &[&["data"]]).unwrap();
        assert!(found.unreadable.len() == 1 && found.unreadable[0].to_string().contains("it is a directory"));
        let doubts: Vec<&str> = found.doubts.iter().map(|doubt| doubt.why.as_str()).collect();
        assert_eq!(doubts.len(), 3, "{doubts:?}");
        assert!(
            doubts[0].contains("me-3-big-Data.db: the Data file is empty, and has no Index file"),
            "{doubts:?}"
        );
        for missing in ["me-1-big-Data.db", "da-6-bti-Data.db"] {
            let why = format!("{missing}: the Data file is missing");
            assert!(doubts[1..].iter().any(|doubt| doubt.contains(&why)), "{doubts:?}");
        }
        assert_eq!(found.families.values().map(Vec::len).sum::<usize>(), 2);
    }

    #[test]
    fn a_column_family_may_have_the_name_of_a_directory_of_copies() {
        let root = directory();
        for file in ["Shop/snapshots/Shop-snapshots-hf-1-Data.db", "lost+found/Shop-Carts-hf-9-Data.db"] {
            let path = root.path().join("data").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, file).unwrap();
        }
        let found = search(root.path(), &[&["data"]]).unwrap();
        let name = FamilyName { keyspace: "Shop".to_owned(), name: "snapshots".to_owned() };
        assert_eq!((found.families.len(), found.families[&name].len()), (2, 1));
    }
}
