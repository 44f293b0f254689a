//! Verifies checksums that the tree library does not check, or checks too late, when it opens a tree.
//!
//! A file `vN` lists a tree's tables, and a file `current` has the number N and the checksum of `vN`. The library
//! writes that checksum but does not check it: with a flipped bit it would open an older list. A table ends with its
//! table of contents. The library checks its checksum only after it has allocated memory for as many entries as the
//! table of contents announces, and a damaged number can be large enough to abort the process. The library checks the
//! checksums of data blocks when it reads them, but not whether a file is the table that was written under its name.
//!
//! ```text
//!   TREE / current, v12   as in `version`
//!   TREE / tables / 3     blocks | contents | "SFA!" 01 00 | u128 XXH3 of the contents | u64 where they begin
//!                         | u64 their length
//! ```
//!
//! Numbers are little-endian.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use byteorder::{ByteOrder, LittleEndian};
use lsm_tree::{Cache, Checksum, Table};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use super::error::TreeName;
use super::version::{ListedTable, TreeVersion};
use crate::disk::Disk;
use crate::manifest::TreeIdentity;
use store::{Result, StoreError};

/// Bytes after a table's table of contents.
const TRAILER_BYTES: usize = 4 + 2 + 16 + 8 + 8;
/// Largest table of contents. A table has about a dozen sections, with one entry each.
const CONTENTS_BYTES_MAX: u64 = 64 * 1024;
/// Bytes read at a time to compute a table's checksum.
const PIECE_BYTES: usize = 1 << 20;

/// Checks the files of a tree against the identity that the manifest has recorded, and removes temporary files.
///
/// # Errors
/// `Corrupt` if files are missing or have wrong checksums.
pub(super) fn check_tree(disk: &dyn Disk, tree: &TreeName, recorded: Option<TreeIdentity>) -> Result<()> {
    let version = TreeVersion::read(disk, tree, recorded)?;
    let tables = tree.directory.join("tables");
    for table in disk.list(&tables).map_err(|error| tree.unreadable(&tables, error))? {
        check_name(tree, &table)?;
        check_contents(tree, &table)?;
    }
    remove_unfinished(disk, tree);
    restore_current(disk, tree, &version)
}

/// Makes `current` name the list that the manifest has recorded. It names a later one after a crash between a change of
/// the tree and the change of the manifest. The tables of the recorded list are still there, and the log has what they
/// lack. A file `current` that is written only in part is written again at the next start.
fn restore_current(disk: &dyn Disk, tree: &TreeName, version: &TreeVersion) -> Result<()> {
    let path = tree.directory.join("current");
    if disk.read(&path).is_ok_and(|current| current == version.current) {
        return Ok(());
    }
    tracing::info!("{} did not name v{}, which the manifest has recorded", path.display(), version.number);
    disk.write(&path, &version.current).map_err(StoreError::io_at(&path))
}

/// Checks the identity of the tables that are open in a tree.
///
/// # Errors
/// `Corrupt`. It names the file, for which all tables are read.
pub(super) fn check_identity(
    disk: &dyn Disk,
    tree: &TreeName,
    recorded: TreeIdentity,
    found: u64,
) -> Result<()> {
    if recorded.tables_sum == found {
        return Ok(());
    }
    for table in TreeVersion::read(disk, tree, Some(recorded))?.tables(tree)? {
        check_table(tree, &table, |_| {})?;
    }
    Err(tree.damage(&format!(
        "their metadata has the checksum {found:x} where the manifest has {:x}",
        recorded.tables_sum
    )))
}

/// Checks that a table's file has a number as its name. The library cannot open a tree with other names, and panics if
/// there is a directory.
fn check_name(tree: &TreeName, table: &Path) -> Result<()> {
    let name = table.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name.parse::<u64>().is_ok() && !table.is_dir() {
        return Ok(());
    }
    Err(StoreError::Corrupt(format!(
        "{} is not a table, but is among the tables of {}; move it away",
        table.display(),
        tree.owner
    )))
}

/// Removes temporary files that the library leaves if the process is killed while it replaces `current`.
fn remove_unfinished(disk: &dyn Disk, tree: &TreeName) {
    for path in disk.list(&tree.directory).unwrap_or_default() {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if name.starts_with(".tmp") && disk.remove_file(&path).is_err() {
            tracing::warn!("{} was not removed", path.display());
        }
    }
}

/// Compares the checksum of a table's whole file with the one that its tree lists. Calls `each` with the length of each
/// piece that was read.
///
/// # Errors
/// `Corrupt` if they differ or the file is missing.
pub(crate) fn check_table(tree: &TreeName, table: &ListedTable, mut each: impl FnMut(u64)) -> Result<()> {
    let path = tree.table_file(table.number);
    let found = sum_of_file(&path, &mut each).map_err(|error| tree.unreadable(&path, error))?;
    tree.check_sum(&path, table.checksum, found)
}

fn sum_of_file(path: &Path, each: &mut impl FnMut(u64)) -> io::Result<u128> {
    let (mut file, mut sum) = (File::open(path)?, Xxh3::new());
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        let bytes = match file.read(&mut piece) {
            Ok(0) => return Ok(sum.digest128()),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            bytes => bytes?,
        };
        sum.update(&piece[..bytes]);
        each(bytes as u64);
    }
}

/// Returns the first and the last key of a table. `None` if its metadata cannot be read.
pub(crate) fn key_range_of(tree: &TreeName, number: u64) -> Option<(Vec<u8>, Vec<u8>)> {
    let path = tree.table_file(number);
    check_contents(tree, &path).ok()?;
    let (cache, no_sum) = (Arc::new(Cache::with_capacity_bytes(0)), Checksum::from_raw(0));
    let table = tree.guarded(|| {
        let table = Table::recover(path, no_sum, 0, 0, cache, None, false, false);
        table.map_err(|error| tree.error(&error))
    });
    let keys = &table.ok()?.metadata.key_range;
    Some((keys.min().to_vec(), keys.max().to_vec()))
}

/// Checks the checksum of a table's table of contents. A file without a trailer is accepted here, since a crash may
/// have left an unfinished table: the library opens listed tables only, and refuses a listed one without a trailer.
fn check_contents(tree: &TreeName, table: &Path) -> Result<()> {
    match sums_of_contents(table).map_err(|error| tree.unreadable(table, error))? {
        Some((expected, found)) => tree.check_sum(table, expected, found),
        None => Ok(()),
    }
}

/// Returns the expected and the real checksum of a table's contents. `None` for a file that is not a table.
fn sums_of_contents(table: &Path) -> io::Result<Option<(u128, u128)>> {
    let mut file = File::open(table)?;
    let length = file.metadata()?.len();
    let Some(trailer_at) = length.checked_sub(TRAILER_BYTES as u64) else { return Ok(None) };
    let mut trailer = [0; TRAILER_BYTES];
    file.seek(SeekFrom::Start(trailer_at))?;
    file.read_exact(&mut trailer)?;
    let (begin, bytes) = (LittleEndian::read_u64(&trailer[22..]), LittleEndian::read_u64(&trailer[30..]));
    let fits = begin.checked_add(bytes) == Some(trailer_at) && bytes <= CONTENTS_BYTES_MAX;
    if !trailer.starts_with(b"SFA!") {
        return Ok(None);
    }
    let mut contents = Vec::new();
    if fits {
        file.seek(SeekFrom::Start(begin))?;
        file.take(bytes).read_to_end(&mut contents)?;
    }
    Ok(Some((LittleEndian::read_u128(&trailer[6..]), xxh3_128(&contents))))
}
