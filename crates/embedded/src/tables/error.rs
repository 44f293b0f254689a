//! Errors of a tree, with the column family and the directory in their messages.

use std::fmt::Display;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use lsm_tree::Error;

use crate::health::text_of;
use store::{Result, StoreError};

/// Suffix of the directory of a tree that the operator has given up because it is damaged.
pub(crate) const GIVEN_UP: &str = ".given-up";

/// The owner and the directory of a tree, for messages.
#[derive(Debug, Clone)]
pub(crate) struct TreeName {
    /// "column family K.A", or "the queue of deletions".
    pub owner: String,
    pub directory: PathBuf,
}

impl TreeName {
    /// Returns the name to which an operator has renamed the tree's directory, to start without its tables. `None` if
    /// the tree has not been given up.
    pub(crate) fn given_up(&self) -> Option<PathBuf> {
        let mut path = self.directory.clone().into_os_string();
        path.push(GIVEN_UP);
        let path = PathBuf::from(path);
        (!self.directory.exists() && path.exists()).then_some(path)
    }

    /// Returns the directory's name, which has the column family's id and the generation.
    pub(crate) fn folder(&self) -> &str {
        self.directory.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// Returns the path of `vN`.
    pub(crate) fn list_file(&self, number: u64) -> PathBuf {
        self.directory.join(format!("v{number}"))
    }

    /// Returns the path of a table.
    pub(crate) fn table_file(&self, number: u64) -> PathBuf {
        self.directory.join("tables").join(number.to_string())
    }

    /// Returns the bytes of the tables that the directory has now.
    pub(crate) fn bytes_of_tables(&self) -> u64 {
        let entries = self.directory.join("tables").read_dir().into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.metadata().ok()).map(|metadata| metadata.len()).sum()
    }

    /// Converts an error of the tree library.
    pub(crate) fn error(&self, error: &Error) -> StoreError {
        match error {
            Error::Io(error) => {
                let text = format!("the tables of {} in {}: {error}", self.owner, self.directory.display());
                match error.kind() {
                    std::io::ErrorKind::StorageFull => StoreError::ReadOnly(text),
                    std::io::ErrorKind::NotFound => self.damage(&format!("a file is missing ({error})")),
                    std::io::ErrorKind::UnexpectedEof => {
                        self.damage(&format!("a file is too short ({error})"))
                    }
                    _ => StoreError::Io(text),
                }
            }
            Error::ChecksumMismatch { got, expected } => {
                self.damage(&format!("a block has the checksum {got} where {expected} was stored"))
            }
            other => self.damage(&format!("{other:?}")),
        }
    }

    /// Returns the error for damaged tables, which says what is lost and what to do.
    pub(crate) fn damage(&self, what: &dyn Display) -> StoreError {
        StoreError::Corrupt(format!(
            "the tables of {} in {} are damaged: {what}. Other column families are not affected. Put back an undamaged \
             copy of the data directory, or rename {} to {}.given-up to start without what these tables hold",
            self.owner,
            self.directory.display(),
            self.directory.display(),
            self.directory.display(),
        ))
    }

    /// Converts the error of a file of the tree that could not be read. A missing file is damage.
    pub(crate) fn unreadable(&self, file: &Path, error: std::io::Error) -> StoreError {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {
                self.damage(&format!("{} is missing", file.display()))
            }
            _ => StoreError::io_at(file)(error),
        }
    }

    /// Fails if the checksum of a file of the tree differs from the stored one.
    pub(crate) fn check_sum(&self, file: &Path, expected: u128, found: u128) -> Result<()> {
        if expected == found {
            return Ok(());
        }
        let file = file.display();
        Err(self.damage(&format!(
            "{file} has the checksum {found:x} where {expected:x} was stored: its bytes have changed, or it is a file of \
             other tables or of an earlier time"
        )))
    }

    /// Runs code that may read damaged files. The tree library panics on some kinds of damage (a missing property of a
    /// table is an assertion there). Such a panic is converted to an error.
    pub(crate) fn guarded<T>(&self, run: impl FnOnce() -> Result<T>) -> Result<T> {
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(self.damage(&text_of(&*panic))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_reported_as_damage_of_the_column_family() {
        let name = TreeName { owner: "column family K.A".to_owned(), directory: "data/tables/1.1".into() };
        let levels = 8;
        let text = name.guarded::<()>(|| panic!("{levels} levels")).unwrap_err().to_string();
        assert!(
            text.starts_with(
                "corrupt data: the tables of column family K.A in data/tables/1.1 are damaged: 8 levels. Other"
            ),
            "{text}"
        );
        assert_eq!(name.guarded(|| Ok(7)).unwrap(), 7);
    }
}
