//! The manifest's file: a line that names the format, and a document that a person can read.
//!
//! ```text
//!   thriftstore manifest, format 1, 1234 bytes, CRC-32 0a1b2c3d
//!   {
//!     "partitioner": "org.apache.cassandra.dht.RandomPartitioner",
//!     "log": [7, 8],
//!     "families": [{"keyspace": "Blog", "name": "Posts", "id": 1, "generation": 1, ...}],
//!     "tables": {"1.1": 1700000000000000},
//!     "records": {"keyspace/Blog": "..."}
//!   }
//! ```
//!
//! A record whose bytes are no UTF-8 is written as an array of numbers. A manifest with a file of changes
//! (`changes_file.rs`) is of format 2, so that a program that does not know such files refuses it, and has the number of
//! that file as `"changes"`.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::contents::{Contents, FamilyName, LogSpan};
use super::family_record::FamilyRecord;

/// What the first line begins with.
const MAGIC: &str = "thriftstore manifest, format 1, ";
/// The same where there is a file of changes.
const MAGIC_WITH_CHANGES: &str = "thriftstore manifest, format 2, ";

#[derive(Serialize, Deserialize)]
struct Document {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    changes: Option<u64>,
    partitioner: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    token: Option<String>,
    log: Option<[u64; 2]>,
    families: Vec<NamedFamily>,
    tables: BTreeMap<String, Option<i64>>,
    records: BTreeMap<String, RecordValue>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct NamedFamily {
    keyspace: String,
    name: String,
    #[serde(flatten)]
    record: FamilyRecord,
}

impl NamedFamily {
    pub(super) fn of((keyspace, name): &FamilyName, record: &FamilyRecord) -> NamedFamily {
        NamedFamily { keyspace: keyspace.clone(), name: name.clone(), record: record.clone() }
    }

    pub(super) fn into_entry(self) -> (FamilyName, FamilyRecord) {
        ((self.keyspace, self.name), self.record)
    }
}

/// A metadata record's bytes, as text where they are text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum RecordValue {
    Text(String),
    Bytes(Vec<u8>),
}

impl RecordValue {
    pub(super) fn of(bytes: &Bytes) -> RecordValue {
        match std::str::from_utf8(bytes) {
            Ok(text) => RecordValue::Text(text.to_owned()),
            Err(_) => RecordValue::Bytes(bytes.to_vec()),
        }
    }

    pub(super) fn into_bytes(self) -> Bytes {
        match self {
            RecordValue::Text(text) => text.into(),
            RecordValue::Bytes(bytes) => bytes.into(),
        }
    }
}

/// The file's bytes, and the number of its file of changes.
pub fn encode(contents: &Contents, changes: Option<u64>) -> Result<Vec<u8>, String> {
    let document = Document {
        changes,
        partitioner: contents.partitioner.clone(),
        token: contents.token.clone(),
        log: contents.log.map(|log| [log.first, log.last]),
        families: contents.families.iter().map(|(name, record)| NamedFamily::of(name, record)).collect(),
        tables: contents.tables.iter().map(|(folder, newest)| (folder.clone(), *newest)).collect(),
        records: contents
            .records
            .iter()
            .map(|(name, value)| (name.clone(), RecordValue::of(value)))
            .collect(),
    };
    let text = serde_json::to_string_pretty(&document).map_err(|error| error.to_string())?;
    let sum = crc32fast::hash(text.as_bytes());
    let magic = if changes.is_some() { MAGIC_WITH_CHANGES } else { MAGIC };
    Ok(format!("{magic}{} bytes, CRC-32 {sum:08x}\n{text}", text.len()).into_bytes())
}

/// Reads the file, and the number of its file of changes. The error says what is wrong with it.
pub fn decode(bytes: &[u8]) -> Result<(Contents, Option<u64>), String> {
    let text = std::str::from_utf8(bytes).map_err(|error| format!("it is no UTF-8: {error}"))?;
    let (line, text) = text.split_once('\n').unwrap_or((text, ""));
    let Some(sums) = line.strip_prefix(MAGIC).or_else(|| line.strip_prefix(MAGIC_WITH_CHANGES)) else {
        return Err(format!(
            "it begins with {:?}, not with {MAGIC:?}",
            line.chars().take(60).collect::<String>()
        ));
    };
    let sum = crc32fast::hash(text.as_bytes());
    let expected = format!("{} bytes, CRC-32 {sum:08x}", text.len());
    if sums != expected {
        return Err(format!("its first line announces {sums}, but {expected} follow"));
    }
    let document: Document = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if document.changes.is_some() != line.starts_with(MAGIC_WITH_CHANGES) {
        return Err("its format and its file of changes do not fit together".to_owned());
    }
    let contents = Contents {
        partitioner: document.partitioner,
        token: document.token,
        log: document.log.map(|[first, last]| LogSpan { first, last }),
        families: document.families.into_iter().map(NamedFamily::into_entry).collect(),
        tables: document.tables.into_iter().collect(),
        records: document.records.into_iter().map(|(name, value)| (name, value.into_bytes())).collect(),
    };
    Ok((contents, document.changes))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_family() -> impl Strategy<Value = ((String, String), FamilyRecord)> {
        let record = (any::<u32>(), any::<u32>(), any::<String>(), any::<Option<String>>(), any::<bool>());
        (any::<(String, String)>(), record).prop_map(|(name, (id, generation, text, sub, is_dropped))| {
            let record = FamilyRecord {
                id,
                generation,
                type_name: text.clone(),
                comparator: text,
                subcomparator: sub,
                is_dropped,
            };
            (name, record)
        })
    }

    proptest! {
        #[test]
        fn contents_round_trip_and_every_changed_byte_is_found(
            (partitioner, token) in any::<(String, Option<String>)>(),
            log in any::<Option<(u64, u64)>>(),
            families in prop::collection::btree_map(any::<(String, String)>(), any_family(), 0..3),
            tables in prop::collection::btree_map(any::<String>(), any::<Option<i64>>(), 0..3),
            records in prop::collection::btree_map(any::<String>(), prop::collection::vec(any::<u8>(), 0..9), 0..3),
            (changes, at, mask) in (any::<Option<u64>>(), any::<prop::sample::Index>(), 1u8..),
        ) {
            let contents = Contents {
                partitioner,
                token,
                log: log.map(|(first, last)| LogSpan { first, last }),
                families: families.into_values().collect(),
                tables: tables.into_iter().collect(),
                records: records.into_iter().map(|(name, value)| (name, value.into())).collect(),
            };
            let mut bytes = encode(&contents, changes).unwrap();
            prop_assert_eq!(decode(&bytes).unwrap(), (contents, changes));
            let at = at.index(bytes.len());
            bytes[at] ^= mask;
            prop_assert!(decode(&bytes).is_err());
        }

        #[test]
        fn foreign_bytes_are_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(decode(&bytes).is_err());
        }
    }
}
