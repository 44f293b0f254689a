//! Builds an index over existing data while the database serves requests.
//!
//! Once the index is defined, every write adds its entries; the builder adds those of the existing rows. Until it is
//! done, reads do not use the index. A metadata record marks the unfinished index, so that a restart continues.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::indexes::Indexes;
use crate::compat::Behaviour;
use crate::compat::features::ConsistencyLevel;
use crate::compat::features::releases::NEWEST;
use crate::db::{Database, Error};
use crate::model::{Bounds, Change, Mutation, Predicate, RangeCommand, RowColumns, SliceRange};
use crate::schema::{Catalog, CfDef};

/// The prefix of the record of an unfinished index; keyspace, column family and the column in hex follow.
pub(super) const BUILD_RECORD: &str = "index/";

/// The number of rows that are indexed at a time.
const ROWS_PER_STEP: usize = 256;
/// How often the builder checks whether requests with the previous schema have ended.
const ASK_EVERY: Duration = Duration::from_millis(2);
/// How long a statement waits for unfinished indexes, and how often it checks.
const PATIENCE: Duration = Duration::from_secs(5);
const ASK_BUILT_EVERY: Duration = Duration::from_millis(1);

/// Returns the name of the record of an unfinished index.
pub(in crate::db) fn build_record(index: &CfDef) -> String {
    format!("{BUILD_RECORD}{}/{}", index.keyspace, index.name)
}

/// The delay before an index that reads use at once is built over existing rows. The old servers flushed memtables
/// first, so a statement right after CREATE INDEX found nothing through the index.
const BUILD_AFTER: Duration = Duration::from_millis(100);

/// How reads treat an index that is not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::db) enum Unfinished {
    /// Reads do not use the index until it is complete.
    Avoided,
    /// Reads use the index and find the entries so far, as with indexes created by CQL in the old servers.
    Asked,
}

impl Indexes<'_> {
    /// Returns whether reads must not use an index yet.
    pub(super) fn is_being_built(&self, index: &CfDef) -> bool {
        self.database.building.read().get(&build_record(index)) == Some(&Unfinished::Avoided)
    }

    /// Returns whether a column has an index that is complete.
    pub fn is_built(&self, cf: &CfDef, column: &Bytes) -> bool {
        let index = cf.index_families.get(column);
        index.is_some_and(|index| !self.database.building.read().contains_key(&build_record(index)))
    }

    /// Waits until all indexes are complete, with a time limit.
    pub async fn until_built(&self) {
        let started = Instant::now();
        while !self.database.building.read().is_empty() && started.elapsed() < PATIENCE {
            tokio::time::sleep(ASK_BUILT_EVERY).await;
        }
    }

    /// Adds the index entries of the cells of a row.
    async fn add_entries_of_row(
        &self,
        cf: &Arc<CfDef>,
        key: Bytes,
        columns: RowColumns,
        behaviour: &'static Behaviour,
    ) -> Result<(), Error> {
        let RowColumns::Cells(cells) = columns else { return Ok(()) };
        for cell in cells {
            let change = Change::Cell { super_column: None, cell };
            for (index_key, family) in self.entries_of(cf, &key, &change) {
                let mutation = Mutation { key: index_key, families: vec![family] };
                self.database.store().apply(vec![mutation], behaviour, ConsistencyLevel::One).await?;
            }
        }
        Ok(())
    }

    /// Stops the builders after their current step, before the store is closed. The next start continues them.
    pub async fn stop_builders(&self) {
        let _no_step = self.database.index_steps.lock().await;
        self.database.epoch.fetch_add(1, Ordering::Release);
    }

    /// Adds the index entries of the existing rows. Returns false if the epoch is no longer `epoch`: either the whole
    /// database was replaced, and the replacement decides which indexes are built, or the server stops.
    async fn build(
        &self,
        cf: &Arc<CfDef>,
        column: &Bytes,
        index: &Arc<CfDef>,
        epoch: u64,
    ) -> Result<bool, Error> {
        let behaviour = Behaviour::of(NEWEST);
        let mut bounds = Bounds::Keys { start: Bytes::new(), end: Bytes::new() };
        let record = build_record(index);
        loop {
            // Held to the end of the step: a change of the whole database comes before or after it.
            let step = self.database.index_steps.lock().await;
            if self.database.epoch.load(Ordering::Acquire) != epoch {
                return Ok(false);
            }
            let is_defined = self
                .database
                .catalog()
                .column_family(&cf.keyspace, &cf.name)
                .is_some_and(|cf| cf.index_families.contains_key(column));
            if !is_defined {
                return self.end_building(&record).await;
            }
            // A column of a CQL table occurs in many cell names.
            let predicate = match cf.table {
                Some(_) => Predicate::Range(SliceRange::all()),
                None => Predicate::Names(vec![column.clone()]),
            };
            let read = self.database.command(cf, None, predicate, behaviour);
            let command =
                RangeCommand { bounds: bounds.clone(), max_rows: ROWS_PER_STEP, read, skip_empty: false };
            let page = self.database.store().scan(command, ConsistencyLevel::One).await?;
            let Some(last) = page.last().map(|row| row.key.clone()) else {
                return self.end_building(&record).await;
            };
            let is_last_page = page.len() < ROWS_PER_STEP;
            for row in page {
                self.add_entries_of_row(cf, row.key, row.columns, behaviour).await?;
            }
            match self.database.ring_order().after_key(&bounds, &last, behaviour.release) {
                Some(after) if !is_last_page => bounds = after,
                _ => return self.end_building(&record).await,
            }
            drop(step);
            tokio::task::yield_now().await;
        }
    }

    /// Records that an index is complete. The caller holds `index_steps`.
    async fn end_building(&self, record: &str) -> Result<bool, Error> {
        self.database.store().put_records(vec![(record.to_owned(), None)]).await?;
        self.database.building.write().remove(record);
        Ok(true)
    }
}

/// Builds an index in the background. `before` is the schema without the index: requests that still use it may write
/// without an entry, so the builder waits for them.
pub(in crate::db) fn start_building(
    database: &Arc<Database>,
    cf: Arc<CfDef>,
    column: Bytes,
    before: Option<Weak<Catalog>>,
    unfinished: Unfinished,
) {
    let Some(index) = cf.index_families.get(&column).cloned() else { return };
    let epoch = database.epoch.load(Ordering::Acquire);
    database.building.write().insert(build_record(&index), unfinished);
    // The reference is weak, so that closing the database need not wait for the delay. The next start continues.
    let database = Arc::downgrade(database);
    // Without a runtime the index stays unfinished, and reads do not use it.
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    runtime.spawn(async move {
        if unfinished == Unfinished::Asked {
            tokio::time::sleep(BUILD_AFTER).await;
        }
        while before.as_ref().is_some_and(|before| before.strong_count() > 0) {
            tokio::time::sleep(ASK_EVERY).await;
        }
        let Some(database) = database.upgrade() else { return };
        match database.indexes().build(&cf, &column, &index, epoch).await {
            Ok(true) => tracing::info!("the index {}.{} is complete", index.keyspace, index.name),
            Ok(false) => {}
            Err(error) => {
                tracing::error!(
                    "the index {}.{} could not be built, and reads do not use it: {error}",
                    index.keyspace,
                    index.name
                );
            }
        }
    });
}
