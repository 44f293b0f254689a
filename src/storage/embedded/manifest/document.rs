//! The JSON document of the manifest: all contents, or a change of them.
//!
//! ```text
//!   {
//!     "partitioner": "org.apache.cassandra.dht.RandomPartitioner",
//!     "log": [7, 8],
//!     "families": [{"keyspace": "Blog", "name": "Posts", "id": 1, "generation": 1, ...}],
//!     "tables": {"1.1": 1700000000000000},
//!     "records": {"keyspace/Blog": "..."}
//!   }
//! ```
//!
//! A change has only what is new in `families`, `tables` and `records`, and lists what is gone. Contents are a change of
//! nothing at all. A record whose bytes are no UTF-8 is written as an array of numbers.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::contents::{Contents, FamilyName, LogSpan};
use super::family_record::FamilyRecord;
use crate::util::SharedMap;

/// All contents, or what differs between two of them. The short fields are always all there.
#[derive(Serialize, Deserialize)]
pub struct Document {
    /// The number of the file of changes of these contents.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub changes: Option<u64>,
    partitioner: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    token: Option<String>,
    log: Option<[u64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    families: Option<Vec<NamedFamily>>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    families_removed: Vec<FamilyName>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    tables: Option<BTreeMap<String, Option<i64>>>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    tables_removed: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    records: Option<BTreeMap<String, RecordValue>>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    records_removed: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct NamedFamily {
    keyspace: String,
    name: String,
    #[serde(flatten)]
    record: FamilyRecord,
}

/// A metadata record's bytes, as text where they are text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RecordValue {
    Text(String),
    Bytes(Vec<u8>),
}

impl Document {
    /// All of some contents. Maps are there even if they are empty: earlier versions expect them.
    pub fn of_all(contents: &Contents, changes: Option<u64>) -> Document {
        let mut document = Document::of_change(&Contents::default(), contents);
        document.changes = changes;
        document.families.get_or_insert_default();
        document.tables.get_or_insert_default();
        document.records.get_or_insert_default();
        document
    }

    /// What differs between two contents.
    pub fn of_change(before: &Contents, after: &Contents) -> Document {
        let (families, families_removed) = differences(&before.families, &after.families, NamedFamily::of);
        let (tables, tables_removed) =
            differences(&before.tables, &after.tables, |folder, newest| (folder.clone(), *newest));
        let (records, records_removed) = differences(&before.records, &after.records, |name, value| {
            (name.clone(), RecordValue::of(value))
        });
        Document {
            changes: None,
            partitioner: after.partitioner.clone(),
            token: after.token.clone(),
            log: after.log.map(|log| [log.first, log.last]),
            families: Some(families).filter(|families| !families.is_empty()),
            families_removed,
            tables: (!tables.is_empty()).then(|| tables.into_iter().collect()),
            tables_removed,
            records: (!records.is_empty()).then(|| records.into_iter().collect()),
            records_removed,
        }
    }

    /// Makes the change to the contents before it.
    pub fn apply(self, contents: &mut Contents) {
        contents.partitioner = self.partitioner;
        contents.token = self.token;
        contents.log = self.log.map(|[first, last]| LogSpan { first, last });
        let families = self.families.into_iter().flatten();
        contents.families.extend(families.map(|family| ((family.keyspace, family.name), family.record)));
        contents.tables.extend(self.tables.into_iter().flatten());
        let records = self.records.into_iter().flatten();
        contents.records.extend(records.map(|(name, value)| (name, value.into_bytes())));
        for name in &self.families_removed {
            contents.families.remove(name);
        }
        for folder in &self.tables_removed {
            contents.tables.remove(folder);
        }
        for name in &self.records_removed {
            contents.records.remove(name);
        }
    }
}

/// The entries that are new or other than before, and the keys that are gone.
fn differences<K: Ord + Clone, V: PartialEq, T>(
    before: &SharedMap<K, V>,
    after: &SharedMap<K, V>,
    new: impl Fn(&K, &V) -> T,
) -> (Vec<T>, Vec<K>) {
    let (mut found, mut removed) = (Vec::new(), Vec::new());
    for (key, _, value) in after.changes_since(before, PartialEq::eq) {
        match value {
            Some(value) => found.push(new(key, value)),
            None => removed.push(key.clone()),
        }
    }
    (found, removed)
}

impl NamedFamily {
    fn of((keyspace, name): &FamilyName, record: &FamilyRecord) -> NamedFamily {
        NamedFamily { keyspace: keyspace.clone(), name: name.clone(), record: record.clone() }
    }
}

impl RecordValue {
    fn of(bytes: &Bytes) -> RecordValue {
        match std::str::from_utf8(bytes) {
            Ok(text) => RecordValue::Text(text.to_owned()),
            Err(_) => RecordValue::Bytes(bytes.to_vec()),
        }
    }

    fn into_bytes(self) -> Bytes {
        match self {
            RecordValue::Text(text) => text.into(),
            RecordValue::Bytes(bytes) => bytes.into(),
        }
    }
}
