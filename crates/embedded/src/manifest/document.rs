//! The JSON document of the manifest: all contents, or a change to them.
//!
//! ```text
//!   {
//!     "partitioner": "org.apache.cassandra.dht.RandomPartitioner",
//!     "log": [7, 8],
//!     "families": [{"keyspace": "Blog", "name": "Posts", "id": 1, "generation": 1, ...}],
//!     "tables": {"1.1": {"newest": 1700000000000000, "identity": {...}}},
//!     "records": {"keyspace/Blog": "..."}
//!   }
//! ```
//!
//! The document of a change has only new and changed entries in `families`, `tables` and `records`, and the keys of
//! removed entries in `families_removed` and so on. All contents are written as a change from empty contents. A
//! metadata record that is not UTF-8 is written as an array of numbers.

use std::collections::BTreeMap;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::contents::{Contents, LogSpan};
use super::family_record::FamilyRecord;
use super::tree_record::TreeRecord;
use base::schema::FamilyName;
use base::util::SharedMap;

/// All contents, or the difference between two states of them. The partitioner, the token and the log segments are
/// always written.
#[derive(Serialize, Deserialize)]
pub(super) struct ManifestDocument {
    /// The number of the file of changes that belongs to these contents.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub changes: Option<u64>,
    partitioner: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    token: Option<String>,
    log: Option<[u64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    families: Option<Vec<DocumentFamily>>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    families_removed: Vec<[String; 2]>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    tables: Option<BTreeMap<String, TreeRecord>>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    tables_removed: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    records: Option<BTreeMap<String, RecordValue>>,
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    records_removed: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct DocumentFamily {
    keyspace: String,
    name: String,
    #[serde(flatten)]
    record: FamilyRecord,
}

/// A metadata record, as text if it is UTF-8.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RecordValue {
    Text(String),
    Bytes(Vec<u8>),
}

impl ManifestDocument {
    /// Returns the document of all contents. Maps are written even if they are empty: earlier versions of the program
    /// expect them.
    pub(super) fn of_all(contents: &Contents, changes: Option<u64>) -> ManifestDocument {
        let mut document = ManifestDocument::of_change(&Contents::default(), contents);
        document.changes = changes;
        document.families.get_or_insert_default();
        document.tables.get_or_insert_default();
        document.records.get_or_insert_default();
        document
    }

    /// Returns the document of the difference between two states.
    pub(super) fn of_change(before: &Contents, after: &Contents) -> ManifestDocument {
        let (families, removed) = differences(&before.families, &after.families, DocumentFamily::of);
        let (tables, tables_removed) =
            differences(&before.tables, &after.tables, |folder, record| (folder.clone(), *record));
        let (records, records_removed) = differences(&before.records, &after.records, |name, value| {
            (name.clone(), RecordValue::of(value))
        });
        ManifestDocument {
            changes: None,
            partitioner: after.partitioner.clone(),
            token: after.token.clone(),
            log: after.log.map(|log| [log.first, log.last]),
            families: Some(families).filter(|families| !families.is_empty()),
            families_removed: removed.into_iter().map(|name| [name.keyspace, name.name]).collect(),
            tables: (!tables.is_empty()).then(|| tables.into_iter().collect()),
            tables_removed,
            records: (!records.is_empty()).then(|| records.into_iter().collect()),
            records_removed,
        }
    }

    /// Applies the change to the contents before it.
    pub(super) fn apply(self, contents: &mut Contents) {
        contents.partitioner = self.partitioner;
        contents.token = self.token;
        contents.log = self.log.map(|[first, last]| LogSpan { first, last });
        let families = self.families.into_iter().flatten();
        contents.families.extend(
            families
                .map(|family| (FamilyName { keyspace: family.keyspace, name: family.name }, family.record)),
        );
        contents.tables.extend(self.tables.into_iter().flatten());
        let records = self.records.into_iter().flatten();
        contents.records.extend(records.map(|(name, value)| (name, value.into_bytes())));
        for [keyspace, name] in self.families_removed {
            contents.families.remove(&FamilyName { keyspace, name });
        }
        for folder in &self.tables_removed {
            contents.tables.remove(folder);
        }
        for name in &self.records_removed {
            contents.records.remove(name);
        }
    }
}

/// Returns the entries that are new or changed, and the keys that were removed.
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

impl DocumentFamily {
    fn of(name: &FamilyName, record: &FamilyRecord) -> DocumentFamily {
        let FamilyName { keyspace, name } = name.clone();
        DocumentFamily { keyspace, name, record: record.clone() }
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
