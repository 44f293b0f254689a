//! Recognizes directories of other programs before they are used as a data directory.
//!
//! ```text
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

use super::format::FILE;
use crate::storage::StoreError;
use crate::util::limits::FOREIGN_ENTRIES_MAX;

/// Depth to which tables are searched for: `data/K/C-uuid/K-C-ka-1-Data.db` is the deepest.
const DEPTH_MAX: usize = 4;

/// Fails if a directory is not a data directory and contains the data of an old Cassandra, or a data directory. A
/// directory that does not exist, or that is a data directory, is accepted regardless of its other files.
///
/// # Errors
/// `Mismatch`, with what was found and what to do.
pub fn check_not_foreign(directory: &Path) -> Result<(), StoreError> {
    if directory.join(FILE).exists() {
        return Ok(());
    }
    let name = directory.display();
    if let Some(inner) = entries(directory).map(|entry| entry.path()).find(|path| path.join(FILE).is_file()) {
        return Err(StoreError::Mismatch(format!(
            "{name} is not a data directory of thriftstore, but {} in it is one: use that, or choose an empty directory",
            inner.display()
        )));
    }
    check_not_of_cassandra(directory)
}

/// Fails if a directory contains the data or the commit log of an old Cassandra.
///
/// # Errors
/// `Mismatch`, with what was found and what to do.
pub fn check_not_of_cassandra(directory: &Path) -> Result<(), StoreError> {
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
    fn other_directories_are_accepted() {
        assert_eq!(outcome(&[]), Ok(()));
        assert_eq!(outcome(&["notes.txt", "a/b/c"]), Ok(()));
        assert_eq!(outcome(&["THRIFTSTORE", "old/K/C-1-Data.db", "data/THRIFTSTORE"]), Ok(()), "it is ours");
        assert!(check_not_foreign(Path::new("no/such/directory")).is_ok());
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("commitlog")).unwrap();
        assert!(check_not_foreign(directory.path()).is_ok(), "an empty one holds nothing");
    }
}
