//! Builds an index over data that are already there, while the database serves.
//!
//! From the moment the index is defined every write adds its entries; the builder walks the rows that were
//! there before. Until it is done, reads do not use the index. That it is not done is noted in the store, so
//! that a restart goes on.

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

/// What the note of an unfinished index begins with; keyspace, column family and the column in hex follow.
pub(super) const BUILD_NOTE: &str = "index/";

/// Rows that are indexed in one go.
const ROWS_PER_STEP: usize = 256;
/// How often it is asked whether requests with the schema from before have ended.
const ASK_EVERY: Duration = Duration::from_millis(2);
/// How long a statement waits for indexes that are being built, and how often it asks.
const PATIENCE: Duration = Duration::from_secs(5);
const ASK_BUILT_EVERY: Duration = Duration::from_millis(1);

/// The name of the note of an index.
pub(in crate::db) fn build_note(index: &CfDef) -> String {
    format!("{BUILD_NOTE}{}/{}", index.keyspace, index.name)
}

/// How long an index that is asked at once rests before it is built over what is there. Old servers wrote memory to
/// the disk first; a statement right after CREATE INDEX found nothing by it.
const BUILD_AFTER: Duration = Duration::from_millis(100);

/// What reads do with an index that is not complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::db) enum Unfinished {
    /// They do without it, as long as that takes.
    Avoided,
    /// They ask it and find what has been entered: so it was with those that CQL had made.
    Asked,
}

impl Indexes<'_> {
    /// Whether reads cannot rely on an index yet.
    pub(super) fn is_being_built(&self, index: &CfDef) -> bool {
        self.database.building.read().get(&build_note(index)) == Some(&Unfinished::Avoided)
    }

    /// Whether there is an index on a column and it is complete.
    pub fn is_built(&self, cf: &CfDef, column: &Bytes) -> bool {
        let index = cf.index_families.get(column);
        index.is_some_and(|index| !self.database.building.read().contains_key(&build_note(index)))
    }

    /// Waits until all indexes are complete, but not for ever.
    pub async fn until_built(&self) {
        let started = Instant::now();
        while !self.database.building.read().is_empty() && started.elapsed() < PATIENCE {
            tokio::time::sleep(ASK_BUILT_EVERY).await;
        }
    }

    /// Adds the entries of the cells of a row.
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

    /// Adds the entries of the rows that are there.
    async fn build(&self, cf: &Arc<CfDef>, column: &Bytes, index: &Arc<CfDef>) -> Result<(), Error> {
        let behaviour = Behaviour::of(NEWEST);
        let mut bounds = Bounds::Keys { start: Bytes::new(), end: Bytes::new() };
        loop {
            let is_defined = self
                .database
                .catalog()
                .column_family(&cf.keyspace, &cf.name)
                .is_some_and(|cf| cf.index_families.contains_key(column));
            if !is_defined {
                break;
            }
            // A table's column is part of many names.
            let predicate = match cf.table {
                Some(_) => Predicate::Range(SliceRange::all()),
                None => Predicate::Names(vec![column.clone()]),
            };
            let read = self.database.command(cf, None, predicate, behaviour);
            let command =
                RangeCommand { bounds: bounds.clone(), max_rows: ROWS_PER_STEP, read, skip_empty: false };
            let page = self.database.store().scan(command, ConsistencyLevel::One).await?;
            let Some(last) = page.last().map(|row| row.key.clone()) else { break };
            let is_last_page = page.len() < ROWS_PER_STEP;
            for row in page {
                self.add_entries_of_row(cf, row.key, row.columns, behaviour).await?;
            }
            match self.database.ring_order().after_key(&bounds, &last, behaviour.release) {
                Some(after) if !is_last_page => bounds = after,
                _ => break,
            }
            tokio::task::yield_now().await;
        }
        let note = build_note(index);
        self.database.store().note(vec![(note.clone(), None)]).await?;
        self.database.building.write().remove(&note);
        Ok(())
    }
}

/// Builds an index in the background. `before` is the schema without it: a request that still has it may write without an
/// entry, and is waited for.
pub(in crate::db) fn start_building(
    database: &Arc<Database>,
    cf: Arc<CfDef>,
    column: Bytes,
    before: Option<Weak<Catalog>>,
    unfinished: Unfinished,
) {
    let Some(index) = cf.index_families.get(&column).cloned() else { return };
    database.building.write().insert(build_note(&index), unfinished);
    // Held weakly: who closes the database need not wait for the pause. The next start goes on.
    let database = Arc::downgrade(database);
    // Where nobody runs tasks the index stays unfinished, and reads do without it.
    let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
    runtime.spawn(async move {
        if unfinished == Unfinished::Asked {
            tokio::time::sleep(BUILD_AFTER).await;
        }
        while before.as_ref().is_some_and(|before| before.strong_count() > 0) {
            tokio::time::sleep(ASK_EVERY).await;
        }
        let Some(database) = database.upgrade() else { return };
        match database.indexes().build(&cf, &column, &index).await {
            Ok(()) => tracing::info!("the index {}.{} is built", index.keyspace, index.name),
            Err(error) => {
                tracing::error!(
                    "the index {}.{} is not built, reads do without it: {error}",
                    index.keyspace,
                    index.name
                );
            }
        }
    });
}
