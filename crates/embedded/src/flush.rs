//! Flushes: writes a memtable to tables.
//!
//! ```text
//!   freeze   create the next segment, record it in the manifest; switch to it between two writes
//!   sync     the frozen segments: tables must not have a part of a write whose rest the log lost
//!   write    a sorted run for each column family, synced, newer than its other tables
//!   record   in the manifest, in one step: the tables with their identities, and that the log is needed from the next
//!            segment on
//!   remove   the memtable and its segments
//! ```
//!
//! An interrupted flush is repeated after the log has been replayed. That is harmless, since changes in the log have
//! the new values of keys.

use std::sync::Arc;

use bytes::Bytes;

use super::deletion_queue::QUEUE_FAMILY;
use super::families::Families;
use super::log::Segment;
use super::long_keys::{self, LongKeyPlace};
use super::manifest::{LogSpan, Manifest, TreeRecord};
use super::memtable::Rows;
use super::packed::PackedValue;
use super::tables::{TableSpace, TableWriter, Tables};
use super::value;
use super::write_ahead::WriteAhead;
use base::util::metrics::Counter;
use store::Result;

/// The parts of the engine that a flush uses.
pub(crate) struct Flush {
    pub ahead: Arc<WriteAhead>,
    pub families: Arc<Families>,
    pub manifest: Arc<Manifest>,
    pub space: Arc<TableSpace>,
    /// The tables of the queue of deletions.
    pub queue: Arc<Tables>,
    /// Flushes that were completed.
    pub flushes: Counter,
}

impl Flush {
    /// Writes the memtable to tables. After an error it can be run again.
    pub(crate) fn run(&self) -> Result<()> {
        let mut first = self.ahead.first_segment.lock();
        if self.ahead.memory.frozen().is_empty() {
            drop(self.freeze(*first)?);
        }
        self.ahead.sync()?;
        let frozen = self.ahead.memory.frozen();
        let Some(memtable) = frozen.last() else { return Ok(()) };
        assert!(
            frozen.len() == 1,
            "{} memtables are frozen, and a flush writes one and drops all",
            frozen.len()
        );
        let mut written = Vec::new();
        for (family, rows) in memtable.families() {
            if !rows.is_empty()
                && let Some(tables) = self.tables_of(family)?
            {
                self.write(&tables, &rows)?;
                written.push(tables);
            }
        }
        let needed = self.ahead.segment();
        assert!(needed > *first, "the flushed memtable and later writes share segment {needed} of the log");
        let trees: Vec<_> = written.iter().flat_map(|tables| tables.existing()).collect();
        self.space.record(&trees.iter().map(|(_, tree)| &***tree).collect::<Vec<_>>(), |contents| {
            for tables in &written {
                let record = TreeRecord { newest: known(tables.newest()), identity: None };
                contents.tables.extend(tables.existing().map(|(folder, _)| (folder.to_owned(), record)));
            }
            contents.log = Some(LogSpan { first: needed, last: needed });
        })?;
        self.ahead.remove_flushed(needed);
        *first = needed;
        self.flushes.increase();
        Ok(())
    }

    fn freeze(&self, first: u64) -> Result<Option<Segment>> {
        let Some(next) = self.ahead.prepare_next()? else { return Ok(None) };
        let last = next.number;
        self.manifest.change(|contents| contents.log = Some(LogSpan { first, last }))?;
        self.ahead.freeze(next)
    }

    fn tables_of(&self, family: u64) -> Result<Option<Arc<Tables>>> {
        if family == QUEUE_FAMILY { Ok(Some(self.queue.clone())) } else { self.families.tables_of(family) }
    }

    /// Writes the rows of one generation to its tables.
    fn write(&self, tables: &Tables, rows: &Rows) -> Result<()> {
        let rows = rows.all();
        debug_assert!(
            rows.is_sorted_by(|(a, _), (b, _)| a < b),
            "a row of the memtable would be lost in its table"
        );
        let values = rows.iter().flat_map(|(_, entries)| entries.iter().filter_map(|(_, value)| value));
        let newest = values.map(|value| value::loses_to_later_than(value.as_slice())).max();
        // This must precede the tables: writes newer than `newest` do not read them.
        tables.raise_newest(newest.unwrap_or(i64::MIN));
        let tree = tables.main_or_create(&self.space)?;
        let mut out = FlushOutput { writer: tree.write(&self.space)?, long: Vec::new(), last_pointer: None };
        let mut whole = Vec::new();
        for (prefix, entries) in &rows {
            for (key, value) in entries.iter() {
                whole.clear();
                whole.extend_from_slice(prefix);
                whole.extend_from_slice(key);
                out.put(&mut whole, value)?;
            }
        }
        out.writer.finish()?;
        if out.long.is_empty() { Ok(()) } else { self.write_long(tables, out.long) }
    }

    /// Writes the entries with long keys, in the order of the keys they have in their tree.
    fn write_long(&self, tables: &Tables, mut entries: Vec<LongEntry>) -> Result<()> {
        entries.sort_by(|(a, _), (b, _)| a.cmp(b));
        // Several keys with a common chunk have each added a pointer for it.
        entries.dedup_by(|(a, value), (b, other)| {
            debug_assert!(a != b || value == other, "one of two entries with the same key would be lost");
            a == b
        });
        let mut writer = tables.long_or_create(&self.space)?.write(&self.space)?;
        for (key, value) in entries {
            match value {
                Some(value) => writer.put(&key, &value)?,
                None => writer.remove(&key)?,
            }
        }
        writer.finish()
    }
}

/// Returns `newest` as the manifest stores it: `None` if it is not known.
fn known(newest: i64) -> Option<i64> {
    (newest != i64::MAX).then_some(newest)
}

/// A key in the tree of long keys, and its value, or `None` if it is removed.
type LongEntry = (Vec<u8>, Option<Bytes>);

/// A sorted run that is being written.
struct FlushOutput<'a> {
    writer: TableWriter<'a>,
    /// Entries for the tree of long keys.
    long: Vec<LongEntry>,
    last_pointer: Option<Vec<u8>>,
}

impl FlushOutput<'_> {
    /// Adds an entry. Keys must come in ascending order. A long key is moved out of `whole`.
    fn put(&mut self, whole: &mut Vec<u8>, value: Option<PackedValue<'_>>) -> Result<()> {
        if whole.len() < long_keys::CHUNK {
            return match value {
                Some(value) => self.writer.put(whole, value.as_slice()),
                None => self.writer.remove(whole),
            };
        }
        // A pointer sorts like the keys that it replaces.
        let LongKeyPlace { key, pointers, .. } = long_keys::place(std::mem::take(whole));
        debug_assert!(
            pointers.first().is_some_and(|(is_long, _)| !is_long),
            "no key would lead to the entry"
        );
        self.long.push((key, value.map(PackedValue::to_bytes)));
        for (is_long, pointer) in pointers {
            let pointed = Bytes::from(value::encode_pointer());
            if is_long {
                self.long.push((pointer, Some(pointed)));
            } else if self.last_pointer.as_ref() != Some(&pointer) {
                self.writer.put(&pointer, &pointed)?;
                self.last_pointer = Some(pointer);
            }
        }
        Ok(())
    }
}
