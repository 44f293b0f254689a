//! New keys for the entries of format 3 whose names have an empty component under a `ReversedType`.
//!
//! ```text
//!   format 3   ... 01 | 00 00 | rank ...            the component comes before all others
//!   format 4   ... 01 | FF FF 00 00 | rank ...      it comes after them
//! ```
//!
//! The type decodes both, so the new key is computed from an entry's name. An entry is moved from its old key to the
//! new one in one record of the log: a crash leaves it at one of them, and the next start continues.

use std::sync::Arc;

use bytes::Bytes;

use crate::marshal::AbstractType;
use crate::schema::CfDef;
use crate::storage::StoreError;
use crate::storage::embedded::blocking::BlockingPermit;
use crate::storage::embedded::families::Family;
use crate::storage::embedded::key::{self, COLUMNS_LEVEL, ROW_END, RowPrefix, SuperEntry, SuperPrefix};
use crate::storage::embedded::log::ChangeList;
use crate::storage::embedded::manifest::FamilyName;
use crate::storage::embedded::row_reader::name_of;
use crate::storage::embedded::row_source::RowKey;
use crate::storage::embedded::scan::StoredRows;
use crate::storage::embedded::value::{self, Value};
use crate::storage::embedded::write_batch::WriteBatch;
use crate::storage::embedded::write_path::WritePath;

/// Entries that are moved in one record of the log, and the bytes from which on no more are added.
const ENTRIES_MAX: usize = 1_000;
const BYTES_MAX: usize = 1 << 20;

/// Gives the entries of a column family the keys of the newest format. Nobody writes to it meanwhile.
pub fn reorder_family(
    write: &WritePath,
    name: &FamilyName,
    may_wait: &BlockingPermit,
) -> Result<(), StoreError> {
    let families = write.read.families.now();
    let Some(family) = families.all().find(|family| {
        let definition = family.definition.load();
        (&definition.keyspace, &definition.name) == (&name.0, &name.1)
    }) else {
        return Ok(());
    };
    let (tables, view) = (family.tables.load_full(), write.read.view());
    let stored = StoredRows { tables: &tables, view: &view, partitioner: &*write.read.partitioner, may_wait };
    let mut rows = stored.within((Vec::new(), None));
    let mut moved = 0;
    while let Some(row) = rows.next_row()? {
        moved += Reordering::new(write, family, &row).run(stored)?;
    }
    if moved > 0 {
        tracing::info!(
            "{}.{}: {moved} entries with an empty component under ReversedType have keys of the newest format",
            name.0,
            name.1
        );
    }
    Ok(())
}

/// The upgrade of one row.
struct Reordering<'a> {
    write: &'a WritePath,
    family: &'a Family,
    cf: Arc<CfDef>,
    row: &'a RowPrefix,
    changes: ChangeList,
    bytes: usize,
    /// Deletions of super columns that have been moved.
    markers: Vec<Vec<u8>>,
    /// The super column of the last entry: its ordered name and its name.
    holder: Option<(Vec<u8>, Bytes)>,
}

impl<'a> Reordering<'a> {
    fn new(write: &'a WritePath, family: &'a Family, row: &'a RowPrefix) -> Reordering<'a> {
        Reordering {
            write,
            family,
            cf: family.definition.load_full(),
            row,
            changes: ChangeList::default(),
            bytes: 0,
            markers: Vec::new(),
            holder: None,
        }
    }

    /// Moves entries. Returns how many.
    fn run(mut self, stored: StoredRows<'_>) -> Result<usize, StoreError> {
        let source = stored.row(self.row);
        let mut moved = 0;
        for entry in source.entries(COLUMNS_LEVEL, ROW_END, false) {
            let (key, value) = entry?;
            let new = self.new_key(&key, &value)?;
            if new == key.as_slice() {
                continue;
            }
            moved += 1;
            self.bytes += 2 * new.len() + value.len();
            self.changes.add(key.as_slice(), None);
            self.changes.add(&new, Some(&value));
            if self.changes.len() >= 2 * ENTRIES_MAX || self.bytes >= BYTES_MAX {
                self.commit()?;
            }
        }
        self.commit()?;
        Ok(moved)
    }

    /// The key of an entry in the newest format.
    fn new_key(&mut self, key: &RowKey, value: &Bytes) -> Result<Vec<u8>, StoreError> {
        let comparator = self.cf.comparator.clone();
        let Some(subcomparator) = self.cf.subcomparator().cloned() else {
            let name = name_at(key.tail(COLUMNS_LEVEL.len()), value, &*comparator)?;
            return Ok(key::cell(COLUMNS_LEVEL, &name, &*comparator));
        };
        let unreadable = || StoreError::Corrupt("an entry of a super row cannot be read".to_owned());
        let entry = SuperEntry::parse(key.as_slice(), COLUMNS_LEVEL.len()).ok_or_else(unreadable)?;
        let known = self.holder.take().filter(|(ordered, _)| *ordered == entry.ordered_super);
        let holder = match (entry.cell_at, known) {
            // A deletion has the name in its value if the name cannot be restored from the key, and precedes the cells.
            (None, _) => name_at(entry.ordered_super.clone().into(), value, &*comparator)?,
            (Some(_), Some((_, name))) => name,
            (Some(_), None) => name_of(entry.ordered_super.clone().into(), &*comparator)?,
        };
        let prefix = SuperPrefix::of(COLUMNS_LEVEL, &holder, &*comparator);
        self.holder = Some((entry.ordered_super, holder));
        let Some(at) = entry.cell_at else {
            let marker = prefix.marker();
            if marker != key.as_slice() {
                self.markers.push(marker.clone());
            }
            return Ok(marker);
        };
        let name = name_at(key.tail(at), value, &*subcomparator)?;
        Ok(key::cell(&prefix.cells(), &name, &*subcomparator))
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        let changes = std::mem::take(&mut self.changes);
        if changes.is_empty() {
            return Ok(());
        }
        self.write.check_room(std::mem::take(&mut self.bytes) as u64)?;
        let row_key = self.row.row_key(&*self.write.read.partitioner)?;
        let rows = self.write.read.locks.lock_one(&row_key);
        let mut batch = WriteBatch::default();
        for marker in self.markers.drain(..) {
            // What the queue has is the old key.
            let now_s = i64::from(self.write.clock.now_s());
            self.write.queue.add(&mut batch, now_s, self.family.id, &self.row.entry(&marker));
        }
        batch.add(self.family.tables.load().number, self.row, &changes, None);
        self.write.commit(batch, &rows)
    }
}

/// Returns the name from an entry's value, or restores it from its key.
fn name_at(ordered: Bytes, value: &Bytes, comparator: &dyn AbstractType) -> Result<Bytes, StoreError> {
    match value::decode(value.clone())? {
        Value::Cell { name: Some(name), .. } | Value::Deletion { name: Some(name), .. } => Ok(name),
        _ => name_of(ordered, comparator),
    }
}
