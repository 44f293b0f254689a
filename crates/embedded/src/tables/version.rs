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

use std::io::{Cursor, ErrorKind};

use byteorder::{ByteOrder, LittleEndian, ReadBytesExt};
use xxhash_rust::xxh3::xxh3_128;

use super::error::TreeName;
use crate::storage::StoreError;
use crate::storage::disk::Disk;

/// Bytes of `current`.
const CURRENT_BYTES: usize = 8 + 16 + 1;

/// The files `current` and `vN` of a tree, which match.
pub struct TreeVersion {
    pub current: Vec<u8>,
    /// The N of `vN`.
    pub number: u64,
    /// The contents of `vN`.
    pub list: Vec<u8>,
}

/// A table that a tree lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListedTable {
    /// The name of its file.
    pub number: u64,
    /// Checksum of the whole file.
    pub checksum: u128,
}

impl TreeVersion {
    /// Reads both files.
    ///
    /// # Errors
    /// `Corrupt` if one is missing or damaged.
    pub fn read(disk: &dyn Disk, tree: &TreeName) -> Result<TreeVersion, StoreError> {
        let current_file = tree.directory.join("current");
        let current = disk.read(&current_file).map_err(|error| tree.unreadable(&current_file, error))?;
        if current.len() != CURRENT_BYTES || current[CURRENT_BYTES - 1] != 0 {
            return Err(tree.damage(&format!("{} does not name a manifest", current_file.display())));
        }
        let number = LittleEndian::read_u64(&current);
        let list_file = tree.directory.join(format!("v{number}"));
        let list = disk.read(&list_file).map_err(|error| tree.unreadable(&list_file, error))?;
        tree.check_sum(&list_file, LittleEndian::read_u128(&current[8..]), xxh3_128(&list))?;
        Ok(TreeVersion { current, number, list })
    }

    /// Returns the tables of all levels.
    ///
    /// # Errors
    /// `Corrupt` if the list cannot be decoded.
    pub fn tables(&self, tree: &TreeName) -> Result<Vec<ListedTable>, StoreError> {
        let list_file = tree.directory.join(format!("v{}", self.number));
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
