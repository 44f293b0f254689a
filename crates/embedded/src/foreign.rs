//! Recognizes wrong paths before they are used as a data directory: directories of other programs, and directories that
//! are far from existing.
//!
//! ```text
//!   /                                the root of the file system
//!   /mnt/new/level/data              /mnt/new does not exist: the path is mistyped, or a disk is not mounted
//!   DIR/notes.txt                    a file of another program. `lost+found` of an empty volume, and the log and the
//!                                    configuration of a server, are accepted
//!
//!   /var/lib/cassandra/              the data directory of an old Cassandra:
//!     commitlog/CommitLog-1.log        commit log
//!     data/system/...                  the keyspace "system"
//!     data/K/C-1-Data.db               tables (0.3 to 1.0; later releases have a directory for each column family)
//!
//!   DIR/                             the parent of a data directory, which was probably meant:
//!     data/THRIFTSTORE
//! ```

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use super::format::{FILE, PARTS};
use crate::limits::FOREIGN_ENTRIES_MAX;
use store::{Result, StoreError};

/// Depth to which tables are searched for: `data/K/C-uuid/K-C-ka-1-Data.db` is the deepest.
const DEPTH_MAX: usize = 4;

/// The directory of repaired files, which an empty file system has.
const LOST_AND_FOUND: &str = "lost+found";

/// Fails if the directories above a new data directory do not exist: only the last level of the path is made.
///
/// # Errors
/// `Mismatch`, with the first level that is missing and what to do.
pub fn check_parents(directory: &Path) -> Result<()> {
    let ancestors = directory.ancestors();
    let mut missing =
        ancestors.take_while(|path| !path.as_os_str().is_empty() && matches!(path.try_exists(), Ok(false)));
    let (Some(_), Some(first)) = (missing.next(), missing.last()) else { return Ok(()) };
    let above = directory.parent().unwrap_or(directory);
    Err(StoreError::Mismatch(format!(
        "{} cannot be made: {} does not exist. Correct the path, mount the disk, or make the directory above: mkdir -p {}",
        directory.display(),
        first.display(),
        above.display()
    )))
}

/// Fails if a directory is the root of the file system, or is not a data directory and contains one or a file of another
/// program. A directory that does not exist, or that is a data directory, is accepted regardless of its other files.
///
/// # Errors
/// `Mismatch`, with what was found and what to do.
pub fn check_not_foreign(directory: &Path) -> Result<()> {
    let name = directory.display();
    if fs::canonicalize(directory).is_ok_and(|path| path.parent().is_none()) {
        return Err(StoreError::Mismatch(format!(
            "{name} is the root of the file system: make a directory for the data, such as /var/lib/thriftstore, and \
             specify that"
        )));
    }
    if directory.join(FILE).exists() {
        return Ok(());
    }
    if let Some(inner) = entries(directory).map(|entry| entry.path()).find(|path| path.join(FILE).is_file()) {
        return Err(StoreError::Mismatch(format!(
            "{name} is not a data directory of thriftstore, but {} in it is one: use that, or choose an empty directory",
            inner.display()
        )));
    }
    check_not_of_cassandra(directory)?;
    match entries(directory).find(|entry| !is_harmless(entry)) {
        None => Ok(()),
        Some(foreign) => Err(StoreError::Mismatch(format!(
            "{name} is not a data directory of thriftstore, and {} is in it: choose a new or an empty directory",
            foreign.path().display()
        ))),
    }
}

/// The ends of the names of files that a server has beside its data: its log, process id and configuration.
const BESIDE_DATA: [&str; 4] = [".log", ".pid", ".xml", ".yaml"];

/// Returns whether an entry does not show that its directory belongs to another program: it is an empty directory, a log or
/// a configuration, or its name is of a data directory, whose parts are reported as damage without the file `THRIFTSTORE`.
fn is_harmless(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    let is_directory = entry.file_type().is_ok_and(|file_type| file_type.is_dir());
    name == LOST_AND_FOUND
        || !is_directory && BESIDE_DATA.iter().any(|end| name.ends_with(end))
        || PARTS.contains(&&*name)
        || name.starts_with("MANIFEST.")
        || is_directory && entries(&entry.path()).next().is_none()
}

/// Fails if a directory contains the data or the commit log of an old Cassandra.
///
/// # Errors
/// `Mismatch`, with what was found and what to do.
pub fn check_not_of_cassandra(directory: &Path) -> Result<()> {
    let name = directory.display();
    let mut left = FOREIGN_ENTRIES_MAX;
    match sign_of_cassandra(directory, directory, DEPTH_MAX, &mut left) {
        None => Ok(()),
        Some(sign) => Err(StoreError::Mismatch(format!(
            "{name} looks like the data directory of a Cassandra: {} is in it. Import it into an \
             empty directory, `thriftstore import --from {name} --to data:DIRECTORY`, and serve that",
            sign.display()
        ))),
    }
}

/// Returns the first file or directory that only Cassandra creates. Looks at no more than `left` entries.
fn sign_of_cassandra(root: &Path, directory: &Path, depth: usize, left: &mut usize) -> Option<PathBuf> {
    for entry in entries(directory) {
        *left = left.checked_sub(1)?;
        let (path, name) = (entry.path(), entry.file_name());
        let is_directory = entry.file_type().is_ok_and(|file_type| file_type.is_dir());
        if !is_directory {
            let name = name.to_string_lossy();
            if name.ends_with("-Data.db") || name.starts_with("CommitLog-") && name.ends_with(".log") {
                return Some(path);
            }
            continue;
        }
        let is_named = |wanted: &str, parent: &Path| name == wanted && directory == parent;
        let is_sign =
            is_named("commitlog", root) || is_named("system", root) || is_named("system", &root.join("data"));
        if is_sign && entries(&path).next().is_some() {
            return Some(path);
        }
        if depth > 1
            && let Some(found) = sign_of_cassandra(root, &path, depth - 1, left)
        {
            return Some(found);
        }
    }
    None
}

/// Returns the entries of a directory, none if it cannot be read: opening the store reports that error.
fn entries(directory: &Path) -> impl Iterator<Item = DirEntry> {
    fs::read_dir(directory).into_iter().flatten().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the result for a directory with these files.
    fn outcome(files: &[&str]) -> Result<(), String> {
        let directory = tempfile::tempdir().unwrap();
        for file in files {
            let path = directory.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        check_not_foreign(directory.path()).map_err(|error| error.to_string())
    }

    #[test]
    fn data_of_cassandra_is_recognized_by_any_of_its_parts() {
        for (files, sign) in [
            (&["commitlog/CommitLog-1.log"][..], "commitlog"),
            (&["CommitLog-2-1300000000000.log"], "CommitLog-2-1300000000000.log"),
            (&["data/system/LocationInfo-1-Filter.db"], "system"),
            (&["system/LocationInfo-1-Filter.db"], "system"),
            (&["Keyspace1/Standard1-1-Data.db"], "Standard1-1-Data.db"),
            (&["data/K/C-uuid/K-C-ka-1-Data.db"], "K-C-ka-1-Data.db"),
        ] {
            let why = outcome(files).unwrap_err();
            assert!(
                why.contains("looks like the data directory of a Cassandra") && why.contains(sign),
                "{why}"
            );
        }
    }

    #[test]
    fn the_parent_of_a_data_directory_is_refused() {
        let why = outcome(&["inner/THRIFTSTORE", "inner/MANIFEST"]).unwrap_err();
        assert!(why.contains("inner in it is one: use that"), "{why}");
    }

    #[test]
    fn files_of_others_and_the_root_are_refused() {
        outcome(&["server.log", "server.pid", "storage-conf.xml"]).unwrap();
        let why = outcome(&["lost+found/1", "server.log", "notes.txt"]).unwrap_err();
        assert!(why.contains("notes.txt is in it: choose a new or an empty directory"), "{why}");
        for root in ["/", "/./", "/dev/.."] {
            let why = check_not_foreign(Path::new(root)).unwrap_err().to_string();
            assert!(why.contains("is the root of the file system: make a directory"), "{why}");
        }
    }

    #[test]
    fn only_the_last_level_of_a_path_may_be_missing() {
        let directory = tempfile::tempdir().unwrap();
        let checked =
            |path: &str| check_parents(&directory.path().join(path)).map_err(|error| error.to_string());
        assert_eq!((checked("."), checked("new")), (Ok(()), Ok(())));
        let (first, above) = (directory.path().join("a"), directory.path().join("a/b"));
        let why = checked("a/b/c").unwrap_err();
        assert!(why.contains(&format!("{} does not exist. Correct", first.display())), "{why}");
        assert!(why.ends_with(&format!("mkdir -p {}", above.display())), "{why}");
        assert_eq!(check_parents(Path::new("new")).map_err(|error| error.to_string()), Ok(()));
        assert!(check_parents(Path::new("new/data")).is_err());
    }

    #[test]
    fn other_directories_are_accepted() {
        assert_eq!(outcome(&[]), Ok(()));
        assert_eq!(outcome(&["lost+found/1"]), Ok(()), "an empty volume");
        assert_eq!(outcome(&["THRIFTSTORE", "old/K/C-1-Data.db", "data/THRIFTSTORE"]), Ok(()), "it is ours");
        assert!(check_not_foreign(Path::new("no/such/directory")).is_ok());
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("commitlog")).unwrap();
        assert!(check_not_foreign(directory.path()).is_ok(), "an empty one holds nothing");
    }
}
