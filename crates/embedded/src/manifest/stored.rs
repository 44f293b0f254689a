//! The manifest in memory and on the disk.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use parking_lot::Mutex;

use super::changes_file::apply_changes;
use super::contents::Contents;
use super::file::{NamedChanges, decode, encode};
use super::writer::{ManifestWriter, changes_path};
use crate::disk::{Disk, ReplaceError};
use crate::health::Health;
use store::{Result, StoreError};

/// The file's name in the data directory.
pub(crate) const FILE: &str = "MANIFEST";

/// Is called with the contents before and after each change that is durable, before another thread sees it.
pub(crate) type ManifestObserver = Box<dyn Fn(&Contents, &Contents) + Send + Sync>;

/// The manifest of an open store.
pub(crate) struct Manifest {
    contents: ArcSwap<Contents>,
    /// Locked during a change. `None` in a store in memory.
    writer: Mutex<Option<ManifestWriter>>,
    health: Arc<Health>,
    /// Set if the store is archived.
    observer: OnceLock<ManifestObserver>,
}

/// A manifest as read from the disk: its contents, and the number of its file of changes.
struct StoredManifest {
    contents: Contents,
    number: Option<u64>,
    /// Whether the last change is incomplete because of a crash.
    is_cut: bool,
}

impl StoredManifest {
    /// Decodes a manifest, and reads its file of changes if it has one.
    fn read(disk: &dyn Disk, path: &Path, bytes: &[u8]) -> Result<StoredManifest> {
        let (mut contents, changes) = decode(bytes).map_err(|why| unreadable(path, &why))?;
        let Some(NamedChanges { number, form }) = changes else {
            return Ok(StoredManifest { contents, number: None, is_cut: false });
        };
        let path = changes_path(path, number);
        let changes = disk.read(&path).map_err(StoreError::needed_at(&path))?;
        let is_whole = apply_changes(&changes, form, &mut contents)
            .map_err(|why| StoreError::Corrupt(format!("{} cannot be read: {why}", path.display())))?;
        Ok(StoredManifest { contents, number: Some(number), is_cut: !is_whole })
    }
}

impl Manifest {
    /// Returns the manifest of a store in memory.
    pub(crate) fn in_memory(contents: Contents, health: Arc<Health>) -> Manifest {
        Manifest {
            contents: ArcSwap::from_pointee(contents),
            writer: Mutex::default(),
            health,
            observer: OnceLock::new(),
        }
    }

    /// Returns whether a data directory has a manifest.
    pub(crate) fn exists(disk: &dyn Disk, directory: &Path) -> Result<bool> {
        let path = directory.join(FILE);
        disk.exists(&path).map_err(StoreError::io_at(&path))
    }

    /// Writes the manifest of a new data directory.
    pub(crate) fn create(
        disk: Arc<dyn Disk>,
        directory: &Path,
        contents: Contents,
        health: Arc<Health>,
    ) -> Result<Manifest> {
        let writer = ManifestWriter::new(disk, directory.join(FILE), None);
        let manifest =
            Manifest { writer: Mutex::new(Some(writer)), ..Manifest::in_memory(Contents::default(), health) };
        manifest.change(|old| *old = contents)?;
        Ok(manifest)
    }

    /// Reads the manifest of a data directory, and removes leftover files of changes.
    pub(crate) fn open(disk: Arc<dyn Disk>, directory: &Path, health: Arc<Health>) -> Result<Manifest> {
        let path = directory.join(FILE);
        let StoredManifest { contents, number, is_cut } =
            StoredManifest::read(&*disk, &path, &disk.read(&path).map_err(StoreError::needed_at(&path))?)?;
        if let Some(number) = number {
            let changes = changes_path(&path, number);
            // A killed process may have written a change without syncing it. A power failure could still undo it, and
            // later writes rely on it.
            let synced = disk.open(&changes).and_then(|file| file.sync());
            synced.map_err(StoreError::io_at(&changes))?;
            if is_cut {
                tracing::warn!(
                    "the last change in {} is incomplete, as after a crash, and is ignored",
                    changes.display()
                );
            }
        }
        remove_unnamed(&*disk, &path, number)?;
        let writer = ManifestWriter::new(disk, path, number);
        Ok(Manifest { writer: Mutex::new(Some(writer)), ..Manifest::in_memory(contents, health) })
    }

    /// Returns the contents of the manifest of a data directory, which another process may have open.
    ///
    /// # Errors
    /// `Corrupt` when a file is missing or damaged.
    pub(crate) fn read(disk: &dyn Disk, directory: &Path) -> Result<Contents> {
        let path = directory.join(FILE);
        loop {
            let bytes = disk.read(&path).map_err(StoreError::needed_at(&path))?;
            let read = StoredManifest::read(disk, &path, &bytes);
            if let Ok(StoredManifest { contents, number: None, .. }) = read {
                return Ok(contents);
            }
            // If the manifest is unchanged, the file of changes that was read belongs to it.
            if disk.read(&path).map_err(StoreError::needed_at(&path))? == bytes {
                return Ok(read?.contents);
            }
        }
    }

    /// Decodes what `encode` returns.
    ///
    /// # Errors
    /// The reason why it cannot be read.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Contents, String> {
        decode(bytes).map(|(contents, _)| contents)
    }

    /// Returns contents encoded as a manifest without a file of changes.
    pub(crate) fn encode(contents: &Contents) -> Result<Vec<u8>> {
        encode(contents, None).map_err(|why| StoreError::Io(format!("the manifest cannot be written: {why}")))
    }

    /// Returns the current contents.
    pub(crate) fn contents(&self) -> Arc<Contents> {
        self.contents.load_full()
    }

    /// Changes the contents durably: first on the disk, then in memory. Waits for the disk.
    ///
    /// # Errors
    /// The contents in memory are unchanged. If the change may nevertheless be on the disk, the store refuses all
    /// further writes.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Contents)) -> Result<()> {
        let mut writer = self.writer.lock();
        self.health.check_failure()?;
        let before = self.contents.load_full();
        let mut contents = Contents::clone(&before);
        change(&mut contents);
        if contents == *before {
            return Ok(());
        }
        if let Some(writer) = &mut *writer {
            assert_newer(&before, &contents);
            writer.write(&before, &contents).map_err(|error| self.refusal(error))?;
        }
        if let Some(observer) = self.observer.get() {
            observer(&before, &contents);
        }
        self.contents.store(Arc::new(contents));
        Ok(())
    }

    /// Sets the observer of changes. Returns `false` if there is one already.
    pub(crate) fn observe(&self, observer: ManifestObserver) -> bool {
        self.observer.set(observer).is_ok()
    }

    /// Calls `read` with the contents while no change is under way.
    pub(crate) fn settled<T>(&self, read: impl FnOnce(&Contents) -> T) -> T {
        let _no_change = self.writer.lock();
        read(&self.contents.load())
    }

    fn refusal(&self, error: ReplaceError) -> StoreError {
        match error {
            ReplaceError::Unchanged(path, error) if error.kind() == std::io::ErrorKind::StorageFull => {
                StoreError::ReadOnly(format!("{}: {error}", path.display()))
            }
            ReplaceError::Unchanged(path, error) => StoreError::io_at(&path)(error),
            ReplaceError::Unknown(path, error) => {
                let why = format!("{} could not be replaced: {error}", path.display());
                self.health.fail(&why);
                StoreError::Io(why)
            }
        }
    }
}

/// Asserts that a change takes back nothing: log segments that were given up, and generations that were truncated or
/// dropped, never count again. A store in memory may return to an earlier state, since it has no log and no tables.
fn assert_newer(before: &Contents, after: &Contents) {
    if let (Some(earlier), Some(log)) = (before.log, after.log)
        && earlier != log
    {
        assert!(log.first >= earlier.first, "a replay would look for segments that were removed");
        assert!(log.last >= log.first, "a replay would leave out the segments that are needed");
    }
    assert!(before.log.is_none() || after.log.is_some(), "a start would create a new log over this one");
    for (name, earlier, now) in after.families.changes_since(&before.families, PartialEq::eq) {
        let Some(earlier) = earlier else { continue };
        assert!(
            now.is_some_and(|now| now.id == earlier.id && now.generation >= earlier.generation),
            "rows of {name} that were removed would come back"
        );
    }
}

fn unreadable(path: &Path, why: &str) -> StoreError {
    StoreError::Corrupt(format!(
        "{} cannot be read: {why}; it lists all column families, so put back an undamaged copy of the data directory",
        path.display()
    ))
}

/// Removes files of changes that the manifest does not name.
fn remove_unnamed(disk: &dyn Disk, path: &Path, named: Option<u64>) -> Result<()> {
    let directory = path.parent().unwrap_or(path);
    for other in disk.list(directory).map_err(StoreError::io_at(directory))? {
        let number = other.extension().and_then(|number| number.to_str()?.parse::<u64>().ok());
        let is_ours = number.is_some_and(|number| changes_path(path, number) == other);
        if is_ours && number != named {
            disk.remove_file(&other).map_err(StoreError::io_at(&other))?;
        }
    }
    Ok(())
}
