//! The rows of old files, each once, without a target: for comparisons and exports.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::as_of::ClockShift;
use super::file_dump::{FileDump, what_differs};
use super::logged_counts::LoggedCounts;
use super::logged_rows::{FamilyLog, LoggedKind, LoggedRows, SharedRows};
use super::logs::Logs;
use super::losses::Losses;
use super::read_thread::ReadThread;
use super::source_partitioner::order_of_files;
use super::sstable_rows::ReadOptions;
use super::summary::ReadSummary;
use super::{FamilyName, ImportError, ImportOptions, Inventory, UnfoundWrites};
use crate::TransferError;
use crate::endpoint::Endpoint;
use crate::rows::{Counts, Meter};
use base::partitioner::PartitionerRef;
use base::schema::CfDef;
use sstable::named_partitioner;

/// The rows of files, as a store with them would dump them.
pub struct FileRows<'a> {
    inventory: &'a Inventory,
    /// Has the definitions of the column families.
    definitions: Arc<Endpoint>,
    name: String,
    /// The order of the rows.
    partitioner: PartitionerRef,
    /// The partitioner of files that do not name theirs.
    usual: PartitionerRef,
    logs: Arc<Logs>,
    read: ReadOptions,
    counters: Option<SharedRows>,
    others: Option<SharedRows>,
    _meter: Option<Meter>,
}

impl<'a> FileRows<'a> {
    /// Prepares to read the files that an inventory lists. `definitions` has the column families.
    ///
    /// # Errors
    ///
    /// If system tables are damaged, unless damage is skipped.
    pub async fn open(
        inventory: &'a Inventory,
        definitions: Arc<Endpoint>,
        options: &ImportOptions,
    ) -> Result<FileRows<'a>, ImportError> {
        let partitioner = order_of_files(inventory, &options.partitioner);
        let shift = ClockShift { seconds: 0, restores_overflow: options.restores_overflow };
        FileRows::in_order(inventory, definitions, options, shift, partitioner).await
    }

    /// Prepares to read the files in the order of a partitioner, with the clock shifted.
    pub(super) async fn in_order(
        inventory: &'a Inventory,
        definitions: Arc<Endpoint>,
        options: &ImportOptions,
        shift: ClockShift,
        partitioner: PartitionerRef,
    ) -> Result<FileRows<'a>, ImportError> {
        let counts = Counts::of_files(inventory.bytes(), 0);
        let logs = Arc::new(Logs::of(inventory, &definitions, options, shift)?);
        let meter = options.shows_progress.then(|| Meter::start(counts.clone(), true));
        let read = options.read_options(inventory, shift, &counts);
        let counters = LoggedRows::read_all(&logs, partitioner.clone(), LoggedKind::Counters).await?;
        let others = LoggedRows::read_all(&logs, partitioner.clone(), LoggedKind::Others).await?;
        let directories = inventory.directories.iter().map(|directory| directory.path.display().to_string());
        let name = directories.collect::<Vec<_>>().join(", ");
        let usual = options.partitioner.clone();
        Ok(FileRows {
            inventory,
            definitions,
            name,
            partitioner,
            usual,
            logs,
            read,
            counters,
            others,
            _meter: meter,
        })
    }

    /// Returns the directories.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn definitions(&self) -> &Arc<Endpoint> {
        &self.definitions
    }

    pub(super) fn partitioner(&self) -> &PartitionerRef {
        &self.partitioner
    }

    /// Returns whether cells whose time to live has overflowed are restored.
    pub(crate) fn restores_overflow(&self) -> bool {
        self.read.shift.restores_overflow
    }

    /// Sets what the progress shows.
    pub(crate) fn set_title(&self, title: String) {
        self.read.counts.set_title(title);
    }

    /// Returns whether there may be rows of a column family.
    pub(crate) fn has(&self, name: &FamilyName) -> bool {
        let is_logged = !self.logs.found().is_empty() && self.inventory.is_selected(name);
        is_logged || self.inventory.families.contains_key(name)
    }

    /// Returns the column families that the files may have, in the order of their names, in which they must be read.
    pub(super) fn families(&self) -> Vec<(FamilyName, Arc<CfDef>)> {
        let mut families = BTreeMap::new();
        for keyspace in self.definitions.keyspaces() {
            for cf in keyspace.column_families.values() {
                families.insert(FamilyName::of(cf), cf.clone());
            }
        }
        families.retain(|name, _| self.has(name));
        families.into_iter().collect()
    }

    /// Starts to read a column family.
    ///
    /// # Errors
    ///
    /// If an SSTable has another order of rows.
    pub(crate) fn read(&self, cf: &Arc<CfDef>) -> Result<ReadThread<ReadSummary>, ImportError> {
        let name = FamilyName::of(cf);
        let tables = self.inventory.families.get(&name).cloned().unwrap_or_default();
        for table in &tables {
            let named = named_partitioner(&table.descriptor);
            let own = named.as_ref().unwrap_or(&self.usual).class_name();
            if own != self.partitioner.class_name() {
                let why = what_differs(&name, own, self.partitioner.class_name());
                return Err(TransferError::Schema(why).into());
            }
        }
        let logged = if cf.is_counter() { &self.counters } else { &self.others };
        let log = logged.as_ref().map(|rows| FamilyLog::of(rows, &name));
        let dump = FileDump { cf: cf.clone(), tables, read: self.read.for_family(Some(cf)), log };
        Ok(ReadThread::start(move |sender| dump.run(sender)))
    }

    /// Reads the commit logs once more. Returns what cannot be read of them, and the writes of column families that are not
    /// defined.
    ///
    /// # Errors
    ///
    /// If the export is stopped.
    pub async fn log_report(&self, options: &ImportOptions) -> Result<(Losses, UnfoundWrites), ImportError> {
        if self.logs.found().is_empty() {
            return Ok(Default::default());
        }
        let counts = LoggedCounts::of(self.inventory, &self.definitions, options).await?;
        let mut losses = counts.losses;
        losses.append(counts.doubts);
        Ok((losses, counts.unfound))
    }
}
