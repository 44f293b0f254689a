//! Writes rows to the target.
//!
//! Everything except counters is written with its original timestamps, so writing it twice does no harm. For a counter
//! the target's total is read first and the difference is added: a resumed copy adds nothing twice.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use super::Endpoint;
use super::open::CONSISTENCY;
use crate::TransferError;
use crate::rows::{RowBatch, RowTarget};
use base::model::{Cell, CellKind, Change, Mutation, Predicate};
use base::schema::CfDef;
use base::util::Clock;
use db::{Database, Error, Restore};

/// Attempts of a write, and the pause before the second; each pause is twice as long as the last.
const TRIES: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(50);

/// Writes rows into the column families of an endpoint.
pub(crate) struct RowWriter {
    to: Arc<Endpoint>,
    database: Arc<Database>,
    clock: Arc<Clock>,
}

/// The counters of a row, by super column.
type Counters = HashMap<Option<Bytes>, Vec<Cell>>;

impl RowWriter {
    /// Creates a writer into an endpoint.
    ///
    /// # Errors
    ///
    /// If the endpoint cannot be written, like a Thrift server.
    pub(crate) fn new(to: Arc<Endpoint>, clock: Arc<Clock>) -> Result<RowWriter, TransferError> {
        let database = to.writable()?.clone();
        Ok(RowWriter { to, database, clock })
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
        self.apply(vec![Mutation::of(key, cf.clone(), changes)], |error| {
            matches!(error, Error::Overloaded(_))
        })
        .await
    }

    async fn apply(
        &self,
        mutations: Vec<Mutation>,
        may_try_again: impl Fn(&Error) -> bool,
    ) -> Result<(), TransferError> {
        let mut pause = FIRST_PAUSE;
        for _ in 1..TRIES {
            match self.database.restore().write(mutations.clone(), CONSISTENCY).await {
                Err(error) if may_try_again(&error) => tokio::time::sleep(pause).await,
                outcome => return outcome.map_err(|error| TransferError::of(&self.to, error)),
            }
            pause *= 2;
        }
        let outcome = self.database.restore().write(mutations, CONSISTENCY).await;
        outcome.map_err(|error| TransferError::of(&self.to, error))
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
            self.apply(mutations, is_worth_another_try).await?;
        }
        for (key, counters) in counted {
            self.write_counters(&cf, key, counters).await?;
        }
        Ok(())
    }
}

/// Returns whether a write of cells with timestamps may be tried again. Such a write may have happened already.
fn is_worth_another_try(error: &Error) -> bool {
    matches!(error, Error::Overloaded(_) | Error::TimedOut(_) | Error::Unavailable { .. })
}
