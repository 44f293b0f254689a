//! What the store keeps about itself, in an engine keyspace of its own.
//!
//! ```text
//!   p                                 the partitioner's class name
//!   t                                 the node's token, as text
//!   c | keyspace | 00 | family        lines "id=", "generation=", "type=", "comparator=", "subcomparator=", "dropped="
//!   n | name                          what others keep in the store: the schema that clients have made
//!   l                                 the commit log: u64 first segment needed | u64 last segment that there must be
//!   q ...                             what `queue` keeps
//! ```

use byteorder::{BigEndian, ByteOrder};
use bytes::Bytes;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::engine::engine_error;
use super::family::Trees;
use super::queue::QUEUE_FAMILY;
use crate::marshal::may_succeed;
use crate::schema::{CfDef, ColumnType};
use crate::storage::StoreError;

const PARTITIONER: &[u8] = b"p";
const TOKEN: &[u8] = b"t";
const FAMILY: u8 = b'c';
const NOTE: u8 = b'n';
const LOG: &[u8] = b"l";

/// The keyspace of the store's own notes.
pub struct Ledger {
    database: Database,
    tree: Keyspace,
}

/// Keyspace and name of a column family.
pub type FamilyName = (String, String);

/// A column family as it was when its data were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyRecord {
    pub id: u32,
    /// Raised by each truncate.
    pub generation: u32,
    pub type_name: String,
    pub comparator: String,
    pub subcomparator: Option<String>,
    /// It is forgotten: one of its name begins empty, with other types if need be.
    pub is_dropped: bool,
}

impl FamilyRecord {
    pub fn new(id: u32, cf: &CfDef) -> FamilyRecord {
        FamilyRecord {
            id,
            generation: 1,
            type_name: cf.type_name().to_owned(),
            comparator: cf.comparator.class_name().to_owned(),
            subcomparator: cf.subcomparator().map(|sub| sub.class_name().to_owned()),
            is_dropped: false,
        }
    }

    /// The record of one that takes the place of this dropped one. Its trees have another generation.
    pub fn made_again(&self, cf: &CfDef) -> FamilyRecord {
        FamilyRecord { generation: self.generation, ..FamilyRecord::new(self.id, cf) }
    }

    /// The record under the comparator of a definition that is no conflict; `None` where that is the same.
    pub fn succeeded_by(&self, cf: &CfDef) -> Option<FamilyRecord> {
        let comparator = cf.comparator.class_name();
        (self.comparator != comparator)
            .then(|| FamilyRecord { comparator: comparator.to_owned(), ..self.clone() })
    }

    fn to_text(&self) -> String {
        let mut text = format!(
            "id={}\ngeneration={}\ntype={}\ncomparator={}\n",
            self.id, self.generation, self.type_name, self.comparator
        );
        if let Some(sub) = &self.subcomparator {
            text.push_str(&format!("subcomparator={sub}\n"));
        }
        if self.is_dropped {
            text.push_str("dropped=1\n");
        }
        text
    }

    fn parse(text: &str) -> Option<FamilyRecord> {
        let get = |name: &str| {
            text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
        };
        Some(FamilyRecord {
            id: get("id")?.parse().ok()?,
            generation: get("generation")?.parse().ok()?,
            type_name: get("type")?,
            comparator: get("comparator")?,
            subcomparator: get("subcomparator"),
            is_dropped: get("dropped").is_some(),
        })
    }

    /// Why a definition cannot be laid over these data; `None` when it can.
    pub fn conflict_with(&self, cf: &CfDef) -> Option<String> {
        let name = format!("column family {}.{}", cf.keyspace, cf.name);
        let advice = "names are sorted by it on the disk, so put it back or choose another data directory";
        if self.type_name != cf.type_name() {
            return Some(format!(
                "{name} holds data of ColumnType {}, but is now defined as {}; put it back or choose another \
                 data directory",
                self.type_name,
                cf.type_name()
            ));
        }
        if !may_succeed(&self.comparator, cf.comparator.class_name()) {
            return Some(format!(
                "{name} holds data written with CompareWith {}, but is now defined with {}; {advice}",
                self.comparator,
                cf.comparator.class_name()
            ));
        }
        match (&self.subcomparator, &cf.column_type) {
            (Some(stored), ColumnType::Super { subcomparator }) if stored != subcomparator.class_name() => {
                Some(format!(
                    "{name} holds data written with CompareSubcolumnsWith {stored}, but is now defined with {}; \
                     {advice}",
                    subcomparator.class_name()
                ))
            }
            _ => None,
        }
    }
}

impl Ledger {
    pub fn open(database: &Database) -> Result<Ledger, StoreError> {
        let tree = database.keyspace("ledger", KeyspaceCreateOptions::default).map_err(engine_error)?;
        Ok(Ledger { database: database.clone(), tree })
    }

    /// The keyspace as the queue sees it.
    pub fn queue_trees(&self) -> Trees {
        Trees::of_store(&self.database, QUEUE_FAMILY, self.tree.clone())
    }

    /// The partitioner's class name; on a new directory it is noted.
    pub fn partitioner_or_note(&self, class_name: &str) -> Result<String, StoreError> {
        self.text_or_note(PARTITIONER, class_name)
    }

    /// The node's token; on a new directory it is noted.
    pub fn token_or_note(&self, token: &str) -> Result<String, StoreError> {
        self.text_or_note(TOKEN, token)
    }

    fn text_or_note(&self, key: &[u8], text: &str) -> Result<String, StoreError> {
        if let Some(value) = self.tree.get(key).map_err(engine_error)? {
            return Ok(String::from_utf8_lossy(&value).into_owned());
        }
        self.tree.insert(key, text.as_bytes()).map_err(engine_error)?;
        Ok(text.to_owned())
    }

    /// All column families that hold or held data, by keyspace and name.
    pub fn families(&self) -> Result<Vec<(FamilyName, FamilyRecord)>, StoreError> {
        let mut families = Vec::new();
        for guard in self.tree.prefix([FAMILY]) {
            let (key, value) = guard.into_inner().map_err(engine_error)?;
            let names = String::from_utf8_lossy(&key[1..]).into_owned();
            let record = FamilyRecord::parse(&String::from_utf8_lossy(&value));
            let (Some((keyspace, family)), Some(record)) = (names.split_once('\0'), record) else {
                return Err(StoreError::Corrupt(format!("the ledger's record of {names:?}")));
            };
            families.push(((keyspace.to_owned(), family.to_owned()), record));
        }
        Ok(families)
    }

    /// Notes column families at once.
    pub fn note_families(&self, records: &[(FamilyName, FamilyRecord)]) -> Result<(), StoreError> {
        if records.is_empty() {
            return Ok(());
        }
        let mut batch = self.database.batch().durability(Some(PersistMode::SyncData));
        for ((keyspace, family), record) in records {
            let key = [&[FAMILY], keyspace.as_bytes(), &[0], family.as_bytes()].concat();
            batch.insert(&self.tree, key, record.to_text().into_bytes());
        }
        batch.commit().map_err(engine_error)
    }

    /// What others keep here, by name.
    pub fn notes(&self) -> Result<Vec<(String, Bytes)>, StoreError> {
        let mut notes = Vec::new();
        for guard in self.tree.prefix([NOTE]) {
            let (key, value) = guard.into_inner().map_err(engine_error)?;
            notes.push((String::from_utf8_lossy(&key[1..]).into_owned(), value.into()));
        }
        Ok(notes)
    }

    /// Keeps notes of others, or takes them away: all or none, and durably.
    pub fn keep_notes(&self, notes: &[(String, Option<Bytes>)]) -> Result<(), StoreError> {
        let mut batch = self.database.batch().durability(Some(PersistMode::SyncData));
        for (name, value) in notes {
            let key = [&[NOTE], name.as_bytes()].concat();
            match value {
                Some(value) => batch.insert(&self.tree, key, value.to_vec()),
                None => batch.remove(&self.tree, key),
            }
        }
        batch.commit().map_err(engine_error)
    }

    /// The first segment of the commit log that is needed, and the last that must be there. `None`: there is no log
    /// yet.
    pub fn log(&self) -> Result<Option<(u64, u64)>, StoreError> {
        let Some(value) = self.tree.get(LOG).map_err(engine_error)? else { return Ok(None) };
        if value.len() != 16 {
            return Err(StoreError::Corrupt("the ledger's record of the write log".to_owned()));
        }
        Ok(Some((BigEndian::read_u64(&value), BigEndian::read_u64(&value[8..]))))
    }

    /// Notes at once which segments of the commit log are needed.
    pub fn note_log(&self, first: u64, last: u64) -> Result<(), StoreError> {
        let mut batch = self.database.batch().durability(Some(PersistMode::SyncData));
        batch.insert(&self.tree, LOG, [first.to_be_bytes(), last.to_be_bytes()].concat());
        batch.commit().map_err(engine_error)
    }
}
