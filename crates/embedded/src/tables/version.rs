//! The files `current` and `vN` of a tree, which list its tables.
//!
//! ```text
//!   TREE / current        u64 N | u128 XXH3 of vN | 00
//!   TREE / vN             sections, and a table of contents of them (the library's archive format, crate `sfa`)
//!     section "tables"    u8 levels; each: u8 runs; each: u32 tables; each:
//!                         u64 number | u8 kind of checksum, 0 | u128 XXH3 of the file | u64 sequence number
//!   TREE / tables / 3     table 3
//! ```
//!
//! Numbers are little-endian. A `vN` that `current` names, and the tables that it lists, are complete and do not
//! change: the library writes and syncs them before it renames a new `current` over the old one.
//!
//! The manifest records N and the checksum of `vN`, too, and its record counts: `current` may name a later list if the
//! process was killed before the manifest recorded it.

use std::io::{Cursor, ErrorKind};

use byteorder::{ByteOrder, LittleEndian, ReadBytesExt};
use xxhash_rust::xxh3::{xxh3_64, xxh3_128};

use super::error::TreeName;
use crate::disk::Disk;
use crate::manifest::TreeIdentity;
use store::Result;

/// Bytes of `current`.
const CURRENT_BYTES: usize = 8 + 16 + 1;

/// The files `current` and `vN` of a tree, which match.
pub(crate) struct TreeVersion {
    pub current: Vec<u8>,
    /// The N of `vN`.
    pub number: u64,
    /// The contents of `vN`.
    pub list: Vec<u8>,
}

/// A table that a tree lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ListedTable {
    /// The name of its file.
    pub number: u64,
    /// Checksum of the whole file.
    pub checksum: u128,
}

impl TreeVersion {
    /// Reads the list that the manifest has recorded; if it has recorded none, the one that `current` names.
    ///
    /// # Errors
    /// `Corrupt` if a file is missing or damaged, or is not the recorded one.
    pub(crate) fn read(
        disk: &dyn Disk,
        tree: &TreeName,
        recorded: Option<TreeIdentity>,
    ) -> Result<TreeVersion> {
        let Some(recorded) = recorded else { return TreeVersion::read_current(disk, tree) };
        let version = TreeVersion::read_list(disk, tree, recorded.list)?;
        let (expected, found) = (recorded.list_sum.into(), xxh3_64(&version.list).into());
        tree.check_sum(&tree.list_file(recorded.list), expected, found)?;
        Ok(version)
    }

    fn read_current(disk: &dyn Disk, tree: &TreeName) -> Result<TreeVersion> {
        let file = tree.directory.join("current");
        let current = disk.read(&file).map_err(|error| tree.unreadable(&file, error))?;
        if current.len() != CURRENT_BYTES || current[CURRENT_BYTES - 1] != 0 {
            return Err(tree.damage(&format!("{} does not name a list of tables", file.display())));
        }
        let version = TreeVersion::read_list(disk, tree, LittleEndian::read_u64(&current))?;
        let [expected, found] =
            [&current, &version.current].map(|bytes| LittleEndian::read_u128(&bytes[8..]));
        tree.check_sum(&tree.list_file(version.number), expected, found)?;
        Ok(version)
    }

    /// Reads a list, and makes a file `current` that names it.
    fn read_list(disk: &dyn Disk, tree: &TreeName, number: u64) -> Result<TreeVersion> {
        let file = tree.list_file(number);
        let list = disk.read(&file).map_err(|error| tree.unreadable(&file, error))?;
        let mut current = vec![0; CURRENT_BYTES];
        LittleEndian::write_u64(&mut current, number);
        LittleEndian::write_u128(&mut current[8..], xxh3_128(&list));
        Ok(TreeVersion { current, number, list })
    }

    /// Returns the tables of all levels.
    ///
    /// # Errors
    /// `Corrupt` if the list cannot be decoded.
    pub(crate) fn tables(&self, tree: &TreeName) -> Result<Vec<ListedTable>> {
        let list_file = tree.list_file(self.number);
        let damage = |why: &dyn std::fmt::Display| {
            tree.damage(&format!("the list of tables {} cannot be read: {why}", list_file.display()))
        };
        let archive = sfa::Reader::from_reader(&mut Cursor::new(&self.list));
        let archive = archive.map_err(|error| damage(&format!("{error:?}")))?;
        let section = archive.toc().section(b"tables").and_then(|section| {
            let (begin, length) = (section.pos().try_into().ok()?, usize::try_from(section.len()).ok()?);
            self.list.get(begin..)?.get(..length)
        });
        let section = section.ok_or_else(|| damage(&"it has no section of tables"))?;
        decode(section).map_err(|error| damage(&error))
    }
}

impl TreeName {
    /// Returns whether the tree has entries, which may be tombstones, or is given up and so may have some.
    ///
    /// # Errors
    /// `Corrupt` if its files are missing or damaged.
    pub(crate) fn has_entries(&self, disk: &dyn Disk, recorded: Option<TreeIdentity>) -> Result<bool> {
        Ok(self.given_up().is_some() || !TreeVersion::read(disk, self, recorded)?.tables(self)?.is_empty())
    }
}

/// Decodes the section "tables".
fn decode(mut section: &[u8]) -> std::io::Result<Vec<ListedTable>> {
    let mut tables = Vec::new();
    for _level in 0..section.read_u8()? {
        for _run in 0..section.read_u8()? {
            for _table in 0..section.read_u32::<LittleEndian>()? {
                let number = section.read_u64::<LittleEndian>()?;
                if section.read_u8()? != 0 {
                    return Err(ErrorKind::InvalidData.into());
                }
                let checksum = section.read_u128::<LittleEndian>()?;
                let _sequence = section.read_u64::<LittleEndian>()?;
                tables.push(ListedTable { number, checksum });
            }
        }
    }
    Ok(tables)
}
