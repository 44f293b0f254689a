//! The manifest in memory and on the disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::contents::Contents;
use super::file::{decode, encode};
use crate::storage::StoreError;
use crate::storage::disk::{Disk, ReplaceError, replace};
use crate::storage::embedded::health::Health;

/// The file's name in the data directory.
pub const FILE: &str = "MANIFEST";

/// What the store knows about itself.
pub struct Manifest {
    contents: ArcSwap<Contents>,
    /// Held by whoever changes it.
    changing: Mutex<()>,
    /// `None` in a store that is kept in memory alone.
    file: Option<(Arc<dyn Disk>, PathBuf)>,
    health: Arc<Health>,
}

impl Manifest {
    /// A manifest that lives in memory alone.
    pub fn in_memory(contents: Contents, health: Arc<Health>) -> Manifest {
        Manifest { contents: ArcSwap::from_pointee(contents), changing: Mutex::default(), file: None, health }
    }

    /// Whether a data directory has a manifest.
    pub fn exists(disk: &dyn Disk, directory: &Path) -> Result<bool, StoreError> {
        let path = directory.join(FILE);
        disk.exists(&path).map_err(|error| StoreError::Io(format!("{}: {error}", path.display())))
    }

    /// Writes the manifest of a new data directory, or of one that is upgraded.
    pub fn create(
        disk: Arc<dyn Disk>,
        directory: &Path,
        contents: Contents,
        health: Arc<Health>,
    ) -> Result<Manifest, StoreError> {
        let manifest = Manifest {
            file: Some((disk, directory.join(FILE))),
            ..Manifest::in_memory(Contents::default(), health)
        };
        manifest.change(|old| *old = contents)?;
        Ok(manifest)
    }

    /// Reads the manifest of a data directory.
    pub fn open(disk: Arc<dyn Disk>, directory: &Path, health: Arc<Health>) -> Result<Manifest, StoreError> {
        let (contents, _) = Manifest::read(&*disk, directory)?;
        let file = Some((disk, directory.join(FILE)));
        Ok(Manifest { file, ..Manifest::in_memory(contents, health) })
    }

    /// The contents and the bytes of the manifest of a data directory, which another process may have open.
    ///
    /// # Errors
    /// `Corrupt` when the file is missing or damaged.
    pub fn read(disk: &dyn Disk, directory: &Path) -> Result<(Contents, Vec<u8>), StoreError> {
        let path = directory.join(FILE);
        let bytes = disk.read(&path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => StoreError::Corrupt(format!(
                "{} is missing; put back an undamaged copy of the data directory",
                path.display()
            )),
            _ => StoreError::Io(format!("{}: {error}", path.display())),
        })?;
        let contents = decode(&bytes).map_err(|why| {
            StoreError::Corrupt(format!(
                "{} cannot be read: {why}; it lists all column families, so put back an undamaged copy of the data \
                 directory",
                path.display()
            ))
        })?;
        Ok((contents, bytes))
    }

    /// What it says now.
    pub fn contents(&self) -> Arc<Contents> {
        self.contents.load_full()
    }

    /// Changes it, durably: on the disk first, then in memory. Waits for the disk.
    ///
    /// # Errors
    /// Nothing is changed. When that is not sure, as the disk may have the change, the store stops taking writes.
    pub fn change(&self, change: impl FnOnce(&mut Contents)) -> Result<(), StoreError> {
        let _changing = self.changing.lock();
        self.health.check_failure()?;
        let before = self.contents.load_full();
        let mut contents = Contents::clone(&before);
        change(&mut contents);
        if contents == *before {
            return Ok(());
        }
        if let Some((disk, path)) = &self.file {
            let bytes = encode(&contents)
                .map_err(|why| StoreError::Io(format!("{} cannot be written: {why}", path.display())))?;
            replace(&**disk, path, &bytes).map_err(|error| self.refusal(error))?;
        }
        self.contents.store(Arc::new(contents));
        Ok(())
    }

    fn refusal(&self, error: ReplaceError) -> StoreError {
        match error {
            ReplaceError::Unchanged(path, error) if error.kind() == std::io::ErrorKind::StorageFull => {
                StoreError::ReadOnly(format!("{}: {error}", path.display()))
            }
            ReplaceError::Unchanged(path, error) => StoreError::Io(format!("{}: {error}", path.display())),
            ReplaceError::Unknown(path, error) => {
                let why = format!("{} could not be replaced: {error}", path.display());
                self.health.fail(&why);
                StoreError::Io(why)
            }
        }
    }
}
