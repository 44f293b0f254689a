//! Builds an index over existing data while the database serves requests.
//!
//! Once the index is defined, every write adds its entries; the builder adds the entries of the existing rows. Until it
//! is done, no read uses the index (`Indexes::usable`): conditions are checked on every row. The old servers used an
//! index that CQL had created at once, and missed the rows that were not indexed yet. A metadata record marks the
//! unfinished index, so that a restart continues.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::future::BoxFuture;

use super::indexes::Indexes;
use super::unfinished::{Build, build_record};
use crate::{Database, Result};
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::compat::features::releases::NEWEST;
use base::model::{Bounds, Change, Mutation, Predicate, RangeCommand, Row, RowColumns, SliceRange};
use base::schema::{Catalog, CfDef};
use store::StoreChange;

/// The number of rows that are indexed at a time.
const ROWS_PER_STEP: usize = 256;
/// The interval at which the builder checks whether requests with the previous schema have ended.
const ASK_EVERY: Duration = Duration::from_millis(2);
/// The time that `until_built` waits for unfinished indexes, and the interval of its checks.
const PATIENCE: Duration = Duration::from_secs(5);
const ASK_BUILT_EVERY: Duration = Duration::from_millis(1);

/// The delay before an index is built. The old servers flushed memtables first, so a statement right after CREATE INDEX
/// found nothing by it; over Thrift it is recorded to find nothing.
const BUILD_AFTER: Duration = Duration::from_millis(100);

impl Indexes<'_> {
    /// Records in memory that an index is not complete, before requests see it.
    pub(crate) fn mark_unfinished(&self, index: &CfDef) -> Build {
        let build = Build::default();
        self.database.building.write().insert(build_record(index), build.clone());
        build
    }

    /// Returns whether an index was created so recently that its build has not begun.
    pub(super) fn is_new(&self, index: &CfDef) -> bool {
        let building = self.database.building.read();
        building.get(&build_record(index)).is_some_and(|build| build.age() < BUILD_AFTER)
    }

    /// Returns whether a column has an index that is complete.
    pub fn is_built(&self, cf: &CfDef, column: &Bytes) -> bool {
        let index = cf.index_families.get(column);
        index.is_some_and(|index| !self.database.building.read().contains_key(&build_record(index)))
    }

    /// Waits until all indexes are complete, with a time limit.
    pub fn until_built(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let started = Instant::now();
            while !self.database.building.read().is_empty() && started.elapsed() < PATIENCE {
                tokio::time::sleep(ASK_BUILT_EVERY).await;
            }
        })
    }

    /// Returns the current definition of a column family if it still has an index on a column.
    fn with_index(&self, cf: &CfDef, column: &Bytes) -> Option<Arc<CfDef>> {
        let catalog = self.database.catalog();
        let now = catalog.column_family(&cf.keyspace, &cf.name)?;
        now.index_families.contains_key(column).then(|| now.clone())
    }

    /// Adds the entries of the next rows to an index, and to no other index of the column family. Returns the rest of
    /// the range, or `None` at its end.
    async fn add_entries_of_rows(
        &self,
        cf: &Arc<CfDef>,
        column: &Bytes,
        index: &CfDef,
        bounds: Bounds,
    ) -> Result<Option<Bounds>> {
        let (store, behaviour) = (self.database.store(), Behaviour::of(NEWEST));
        // A column of a CQL table occurs in many cell names.
        let predicate = match cf.table {
            Some(_) => Predicate::Range(SliceRange::all()),
            None => Predicate::Names(vec![column.clone()]),
        };
        let read = self.database.command(cf, None, predicate, behaviour);
        let command =
            RangeCommand { bounds: bounds.clone(), max_rows: ROWS_PER_STEP, read, skip_empty: false };
        let page = store.scan(command, ConsistencyLevel::One).await?;
        let is_last_page = page.len() < ROWS_PER_STEP;
        let last = page.last().map(|row| row.key.clone());
        for Row { key, columns } in page {
            let RowColumns::Cells(cells) = columns else { continue };
            for cell in cells {
                let change = Change::Cell { super_column: None, cell };
                let entries = self.entries_of(cf, &key, &change);
                for (index_key, family) in
                    entries.into_iter().filter(|(_, entry)| entry.cf.name == index.name)
                {
                    let mutation = Mutation { key: index_key, families: vec![family] };
                    store.apply(vec![mutation], behaviour, ConsistencyLevel::One).await?;
                }
            }
        }
        let last = last.filter(|_| !is_last_page);
        Ok(last.and_then(|last| self.database.ring_order().after_key(&bounds, &last, behaviour.release)))
    }

    /// Stops the builders after their current step, before the store is closed. The next start continues them.
    pub async fn stop_builders(&self) {
        let _no_step = self.database.index_steps.lock().await;
        self.database.building.write().values_mut().for_each(|build| *build = Build::default());
    }

    /// Returns whether this is still the build of an index. It is not if the index was created again, if the whole
    /// database was replaced, or if the server stops.
    fn is_current(&self, record: &str, build: &Build) -> bool {
        self.database.building.read().get(record).is_some_and(|now| now.is(build))
    }

    /// Adds the index entries of the existing rows, until the index is complete or dropped. Returns false if this is no
    /// longer its build.
    async fn build(&self, cf: &CfDef, column: &Bytes, index: &CfDef, build: &Build) -> Result<bool> {
        let record = build_record(index);
        let mut rest = Some(Bounds::Keys { start: Bytes::new(), end: Bytes::new() });
        while let Some(bounds) = rest.clone() {
            // Held to the end of the step: a change of the whole database comes before or after it.
            let step = self.database.index_steps.lock().await;
            if !self.is_current(&record, build) {
                return Ok(false);
            }
            let Some(cf) = self.with_index(cf, column) else {
                drop(step);
                // The column family may only be hidden by a drop. If the drop fails, the build goes on.
                let _no_change = self.database.changing.lock().await;
                if self.with_index(cf, column).is_none() {
                    break;
                }
                continue;
            };
            match self.add_entries_of_rows(&cf, column, index, bounds).await {
                Ok(next) => rest = next,
                // The index was dropped or hidden during the step.
                Err(_) if self.with_index(&cf, column).is_none() => {}
                Err(error) => return Err(error),
            }
            drop(step);
            tokio::task::yield_now().await;
        }
        self.end_building(&record, build).await
    }

    /// Records that an index is complete or dropped, unless this is no longer its build. Without the lock of schema
    /// changes an index that is created again in between would count as complete.
    async fn end_building(&self, record: &str, build: &Build) -> Result<bool> {
        let _no_change = self.database.changing.lock().await;
        let _step = self.database.index_steps.lock().await;
        let is_current = self.is_current(record, build);
        if is_current {
            let change = StoreChange::of_records(vec![(record.to_owned(), None)]);
            self.database.store().change_schema(change).await?;
            self.database.building.write().remove(record);
        }
        Ok(is_current)
    }
}

/// Builds an index in the background. `before` is the schema without the index: requests that still use it may write
/// without an entry, so the builder waits for them.
pub(crate) fn start_building(
    database: &Arc<Database>,
    cf: Arc<CfDef>,
    column: Bytes,
    before: Option<Weak<Catalog>>,
) {
    let Some(index) = cf.index_families.get(&column).cloned() else { return };
    let build = database.indexes().mark_unfinished(&index);
    // The reference is weak, so that closing the database need not wait for requests. The next start continues.
    let database = Arc::downgrade(database);
    // Without a runtime the index stays unfinished, and reads do not use it.
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    runtime.spawn(async move {
        if before.is_some() {
            tokio::time::sleep(BUILD_AFTER).await;
        }
        while before.as_ref().is_some_and(|before| before.strong_count() > 0) {
            tokio::time::sleep(ASK_EVERY).await;
        }
        let Some(database) = database.upgrade() else { return };
        match database.indexes().build(&cf, &column, &index, &build).await {
            Ok(true) => tracing::info!("the index {}.{} is complete", index.keyspace, index.name),
            Ok(false) => {}
            Err(error) => {
                tracing::error!(
                    "the index {}.{} could not be built; reads do not use it, and the next start builds it again: {error}",
                    index.keyspace,
                    index.name
                );
            }
        }
    });
}
