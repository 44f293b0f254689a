//! Writes rows to the target.
//!
//! Everything except counters is written with its original timestamps, so writing it twice does no harm. For a counter
//! the target's total is read first and the difference is added: a resumed copy adds nothing twice.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::Endpoint;
use super::row_sink::{RowSink, WriteFailure};
use crate::TransferError;
use crate::rows::{RowBatch, RowTarget};
use base::model::{Cell, CellKind, Change, Mutation, Predicate};
use base::schema::CfDef;
use base::util::Clock;
use db::Restore;

/// Attempts of a write, and the pause before the second; each pause is twice as long as the last.
const TRIES: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// Writes rows into the column families of an endpoint.
pub(crate) struct RowWriter {
    to: Arc<Endpoint>,
    sink: RowSink,
    clock: Arc<Clock>,
}

/// The counters of a row, by super column.
type Counters = HashMap<Option<Bytes>, Vec<Cell>>;

impl RowWriter {
    /// Creates a writer into an endpoint.
    ///
    /// # Errors
    ///
    /// If the endpoint cannot be written.
    pub(crate) fn new(to: Arc<Endpoint>, clock: Arc<Clock>) -> Result<RowWriter, TransferError> {
        let sink = RowSink::of(&to, &clock)?;
        Ok(RowWriter { to, sink, clock })
    }

    /// Returns a change as the target can store it. A store with dumps stores everything as it is. Others cannot store
    /// an expired cell with its time to live, and it must not become live again: it is written as a tombstone.
    fn as_written(&self, change: Change) -> Change {
        match change {
            Change::Cell { super_column, cell } if !self.to.can_dump() => {
                let cell = cell.at(self.clock.now_s(), Restore::behaviour());
                Change::Cell { super_column, cell }
            }
            change => change,
        }
    }

    async fn write_counters(
        &self,
        cf: &Arc<CfDef>,
        key: Bytes,
        counters: Counters,
    ) -> Result<(), TransferError> {
        let mut changes = Vec::new();
        for (super_column, cells) in counters {
            let names = Predicate::Names(cells.iter().map(|cell| cell.name.clone()).collect());
            let there = self.to.pages.cells(cf, key.clone(), super_column.clone(), names).await;
            let there = there.map_err(|why| TransferError::of(&self.to, why))?;
            let totals: HashMap<&Bytes, i64> =
                there.iter().filter_map(|cell| Some((&cell.name, cell.count()?))).collect();
            for cell in &cells {
                let total = totals.get(&cell.name);
                let delta = cell.count().unwrap_or_default().wrapping_sub(total.copied().unwrap_or_default());
                if delta != 0 || total.is_none() {
                    let cell = Cell::increment(cell.name.clone(), delta, cell.timestamp);
                    changes.push(Change::Cell { super_column: super_column.clone(), cell });
                }
            }
        }
        if changes.is_empty() {
            return Ok(());
        }
        // Try again only if nothing was written.
        self.apply(vec![Mutation::of(key, cf.clone(), changes)], |failure| failure.is_unwritten).await
    }

    async fn apply(
        &self,
        mutations: Vec<Mutation>,
        may_try_again: impl Fn(&WriteFailure) -> bool,
    ) -> Result<(), TransferError> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..TRIES {
            match self.sink.write(&mutations).await {
                Err(failure) if may_try_again(&failure) => tokio::time::sleep(pause).await,
                outcome => return outcome.map_err(|failure| TransferError::of(&self.to, failure.why)),
            }
            pause *= 2;
        }
        self.sink.write(&mutations).await.map_err(|failure| TransferError::of(&self.to, failure.why))
    }
}

impl RowTarget for RowWriter {
    type Outcome = ();

    fn name(&self) -> &str {
        &self.to.name
    }

    async fn take(&self, RowBatch { cf, rows, .. }: RowBatch) -> Result<(), TransferError> {
        let mut mutations = Vec::with_capacity(rows.len());
        let mut counted = Vec::new();
        for row in rows {
            let mut counters = Counters::new();
            let mut changes = Vec::with_capacity(row.changes.len());
            for change in row.changes {
                match change {
                    Change::Cell { super_column, cell } if cell.kind == CellKind::Counter => {
                        counters.entry(super_column).or_default().push(cell);
                    }
                    change => changes.push(self.as_written(change)),
                }
            }
            if !counters.is_empty() {
                counted.push((row.key.clone(), counters));
            }
            if !changes.is_empty() {
                mutations.push(Mutation::of(row.key, cf.clone(), changes));
            }
        }
        if !mutations.is_empty() {
            // Cells have timestamps, so they may have been written already.
            self.apply(mutations, |failure| failure.is_temporary).await?;
        }
        for (key, counters) in counted {
            self.write_counters(&cf, key, counters).await?;
        }
        Ok(())
    }
}
