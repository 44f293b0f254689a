//! Opens the engine and speaks its errors.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicI32;

use fjall::{CompressionType, Database};
use parking_lot::RwLock;

use super::file_check::check_files;
use super::log_check::check_logs;
use super::purge::TombstoneFilter;
use crate::storage::StoreError;
use crate::util::Clock;

/// The file that says what a data directory is, and its first line.
const FORMAT_FILE: &str = "THRIFTSTORE";
const FORMAT_TEXT: &str = "thriftstore data, format 2\n";
/// Of the version that had no commit log of its own.
const FORMAT_1_TEXT: &str = "thriftstore data, format 1\n";

/// Seconds of gc_grace by the engine's keyspace names, for the compaction filters.
pub type GcGraces = Arc<RwLock<HashMap<String, Arc<AtomicI32>>>>;

/// What the names of column families' engine keyspaces begin with.
pub const FAMILY_TREES: &str = "cf_";

/// The gc_grace of an engine keyspace. The engine asks before the schema is known: until then nothing is old.
pub fn grace_of(gc_graces: &GcGraces, name: &str) -> Arc<AtomicI32> {
    let mut graces = gc_graces.write();
    graces.entry(name.to_owned()).or_insert_with(|| Arc::new(AtomicI32::new(i32::MAX))).clone()
}

/// Turns an engine error into ours.
pub fn engine_error(error: fjall::Error) -> StoreError {
    match error {
        fjall::Error::Poisoned => StoreError::ReadOnly(
            "a write to the disk has failed; the storage engine is opened again when the disk has room"
                .to_owned(),
        ),
        fjall::Error::Io(error) => StoreError::Io(format!("disk: {error}")),
        fjall::Error::Locked => in_use(),
        fjall::Error::JournalRecovery(error) => StoreError::Corrupt(format!("the write log: {error:?}")),
        error @ (fjall::Error::InvalidTrailer
        | fjall::Error::InvalidTag(_)
        | fjall::Error::Decompress(_)
        | fjall::Error::InvalidVersion(_)
        | fjall::Error::Unrecoverable) => StoreError::Corrupt(format!("{error}")),
        fjall::Error::Storage(error) => storage_error(&error),
        other => StoreError::Io(format!("{other}")),
    }
}

fn storage_error(error: &lsm_tree::Error) -> StoreError {
    match error {
        lsm_tree::Error::Io(error) => StoreError::Io(format!("disk: {error}")),
        other => StoreError::Corrupt(format!("{other:?}")),
    }
}

/// Opens the engine in a data directory that is empty or ours, and that the caller has locked.
pub fn open(
    directory: &Path,
    cache_bytes: u64,
    clock: Arc<Clock>,
    gc_graces: GcGraces,
) -> Result<Database, StoreError> {
    let engine_directory = directory.join("engine");
    check_files(&engine_directory)?;
    check_logs(&engine_directory)?;
    let filters = move |name: &str| -> Option<Arc<dyn lsm_tree::compaction::filter::Factory>> {
        if !name.starts_with(FAMILY_TREES) {
            return None;
        }
        Some(Arc::new(TombstoneFilter::new(clock.clone(), grace_of(&gc_graces, name))))
    };
    let builder = Database::builder(&engine_directory)
        .cache_size(cache_bytes)
        // Of a value that it cannot unpack the engine thinks that the log ends there.
        .journal_compression(CompressionType::None)
        .with_compaction_filter_factories(Arc::new(filters));
    builder.open().map_err(engine_error)
}

/// Takes a data directory for this process: marks an empty one as ours, refuses one of another format, or that
/// is in use. It is ours until the file is closed.
pub fn lock_directory(directory: &Path) -> Result<File, StoreError> {
    check_format(directory)?;
    let file = directory.join(FORMAT_FILE);
    let locked = File::open(&file).map_err(TryLockError::Error).and_then(|file| {
        file.try_lock()?;
        Ok(file)
    });
    locked.map_err(|error| match error {
        TryLockError::WouldBlock => in_use(),
        TryLockError::Error(error) => StoreError::Io(format!("{}: {error}", file.display())),
    })
}

/// Says that a directory is of the newest format, before anything is in it that older programs do not know.
pub fn mark_format(directory: &Path) -> Result<(), StoreError> {
    let path = directory.join(FORMAT_FILE);
    let io = |error: std::io::Error| StoreError::Io(format!("{}: {error}", path.display()));
    if fs::read(&path).map_err(io)? == FORMAT_TEXT.as_bytes() {
        return Ok(());
    }
    // In place, one byte of it: it is locked, and another file of its name would not be.
    let file = OpenOptions::new().write(true).open(&path).map_err(io)?;
    file.write_all_at(FORMAT_TEXT.as_bytes(), 0).map_err(io)?;
    file.sync_all().map_err(io)
}

fn in_use() -> StoreError {
    StoreError::Io("the data directory is in use by another process".to_owned())
}

/// Marks a new directory as ours; refuses one of another format, or whose mark is lost.
fn check_format(directory: &Path) -> Result<(), StoreError> {
    let io = |error: std::io::Error| StoreError::Io(format!("{}: {error}", directory.display()));
    fs::create_dir_all(directory).map_err(io)?;
    let file = directory.join(FORMAT_FILE);
    match fs::read(&file) {
        Ok(text) if text == FORMAT_TEXT.as_bytes() || text == FORMAT_1_TEXT.as_bytes() => Ok(()),
        Ok(text) => Err(StoreError::Mismatch(format!(
            "{} says {:?}, this program reads {:?}",
            file.display(),
            String::from_utf8_lossy(&text).lines().next().unwrap_or_default(),
            FORMAT_TEXT.trim_end(),
        ))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if directory.join("engine").exists() {
                return Err(StoreError::Corrupt(format!("{} is missing", file.display())));
            }
            fs::write(&file, FORMAT_TEXT).map_err(io)?;
            File::open(&file).and_then(|file| file.sync_all()).map_err(io)
        }
        Err(error) => Err(StoreError::Io(format!("{}: {error}", file.display()))),
    }
}
