//! Reads the ledger, which formats 1 and 2 had in place of the manifest.
//!
//! ```text
//!   p                                 the partitioner's class name
//!   t                                 the node's token, as text
//!   c | keyspace | 00 | family        lines "id=", "generation=", "type=", "comparator=", "subcomparator=", "dropped="
//!   n | name                          metadata records of the layers above
//!   l                                 the commit log: u64 first segment needed | u64 last segment that must exist
//!   q ...                             the queue of deletions
//! ```

use byteorder::{BigEndian, ByteOrder};
use bytes::Bytes;

use crate::storage::StoreError;
use crate::storage::embedded::manifest::{Contents, FamilyRecord, LogSpan};

/// Adds an entry of the ledger to the contents of a manifest. Returns `true` for an entry of the queue of deletions,
/// which is not added.
pub fn add_entry(key: &[u8], value: &Bytes, contents: &mut Contents) -> Result<bool, StoreError> {
    let text = || String::from_utf8_lossy(value).into_owned();
    match key.split_first() {
        Some((b'p', [])) => contents.partitioner = text(),
        Some((b't', [])) => contents.token = Some(text()),
        Some((b'l', [])) if value.len() == 16 => {
            let (first, last) = (BigEndian::read_u64(value), BigEndian::read_u64(&value[8..]));
            contents.log = Some(LogSpan { first, last });
        }
        Some((b'c', names)) => {
            let names = String::from_utf8_lossy(names).into_owned();
            let (Some((keyspace, family)), Some(record)) = (names.split_once('\0'), record_of(&text()))
            else {
                return Err(StoreError::Corrupt(format!("the ledger's record of {names:?} cannot be read")));
            };
            contents.families.insert((keyspace.to_owned(), family.to_owned()), record);
        }
        Some((b'n', name)) => {
            contents.records.insert(String::from_utf8_lossy(name).into_owned(), value.clone());
        }
        Some((b'q', _)) => return Ok(true),
        _ => {
            return Err(StoreError::Corrupt(format!(
                "the ledger has an entry that no version of this program writes: {:?}",
                String::from_utf8_lossy(key)
            )));
        }
    }
    Ok(false)
}

fn record_of(text: &str) -> Option<FamilyRecord> {
    let get = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
    };
    Some(FamilyRecord {
        key_order: None,
        id: get("id")?.parse().ok()?,
        generation: get("generation")?.parse().ok()?,
        type_name: get("type")?,
        comparator: get("comparator")?,
        subcomparator: get("subcomparator"),
        is_dropped: get("dropped").is_some(),
    })
}
