//! What the store keeps about itself, in an engine keyspace of its own.
//!
//! ```text
//!   p                                 the partitioner's class name
//!   t                                 the node's token, as text
//!   c | keyspace | 00 | family        lines "id=", "generation=", "type=", "comparator=", "subcomparator=", "dropped="
//!   n | name                          what others keep in the store: the schema that clients have made
//!   q | i64 due second | u64 number   a tombstone to look at then: u32 family id | key of the deletion
//! ```

use std::sync::atomic::{AtomicU64, Ordering};

use byteorder::{BigEndian, ByteOrder};
use bytes::Bytes;
use fjall::{Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::engine::engine_error;
use super::engine_batch::EngineBatch;
use crate::marshal::may_succeed;
use crate::schema::{CfDef, ColumnType};
use crate::storage::StoreError;

const PARTITIONER: &[u8] = b"p";
const TOKEN: &[u8] = b"t";
const FAMILY: u8 = b'c';
const NOTE: u8 = b'n';
const QUEUE: u8 = b'q';

/// The keyspace of the store's own notes.
pub struct Ledger {
    database: Database,
    tree: Keyspace,
    next_number: AtomicU64,
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

/// A tombstone that waits until gc_grace has passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedDeletion {
    /// The queue's own key, to take it off.
    pub queue_key: Vec<u8>,
    pub family: u32,
    pub marker: Vec<u8>,
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
        let last = tree.prefix([QUEUE]).next_back();
        let next_number = match last.map(|guard| guard.key()).transpose().map_err(engine_error)? {
            Some(key) if key.len() == 17 => BigEndian::read_u64(&key[9..17]) + 1,
            _ => 0,
        };
        let ledger = Ledger { database: database.clone(), tree, next_number: AtomicU64::new(0) };
        // Numbers only keep two deletions of one second apart; those of earlier runs are smaller or taken off.
        ledger.next_number.store(next_number.max(ledger.largest_number()?), Ordering::Relaxed);
        Ok(ledger)
    }

    fn largest_number(&self) -> Result<u64, StoreError> {
        let mut largest = 0;
        for guard in self.tree.prefix([QUEUE]) {
            let key = guard.key().map_err(engine_error)?;
            if key.len() == 17 {
                largest = largest.max(BigEndian::read_u64(&key[9..17]) + 1);
            }
        }
        Ok(largest)
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

    /// Adds a deletion to the queue, as part of the batch that writes it.
    pub fn queue_deletion(&self, batch: &mut EngineBatch, due_s: i64, family: u32, marker: &[u8]) {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        // A negative due second sorts as a large one; no clock of ours gives one.
        let key = [&[QUEUE][..], &due_s.max(0).to_be_bytes(), &number.to_be_bytes()].concat();
        batch.put(&self.tree, key, Some([&family.to_be_bytes()[..], marker].concat().into()));
    }

    /// The deletions that are due, at most so many.
    pub fn due_deletions(&self, now_s: i64, most: usize) -> Result<Vec<QueuedDeletion>, StoreError> {
        let end = [&[QUEUE][..], &now_s.saturating_add(1).max(0).to_be_bytes()].concat();
        let mut due = Vec::new();
        for guard in self.tree.range(vec![QUEUE]..end).take(most) {
            let (key, value) = guard.into_inner().map_err(engine_error)?;
            if value.len() < 4 {
                return Err(StoreError::Corrupt("a queued deletion has no family".to_owned()));
            }
            due.push(QueuedDeletion {
                queue_key: key.to_vec(),
                family: BigEndian::read_u32(&value[..4]),
                marker: value[4..].to_vec(),
            });
        }
        Ok(due)
    }

    /// Takes a deletion off the queue, as part of a batch.
    pub fn dequeue(&self, batch: &mut EngineBatch, deletion: &QueuedDeletion) {
        batch.put(&self.tree, deletion.queue_key.clone(), None);
    }
}
