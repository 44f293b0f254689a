//! Moves rows from a source to a target, several batches at a time.
//!
//! ```text
//!   source.next()   batch 5
//!                     target.take()   batch 4 | batch 3 | batch 2      up to `parallel`
//!                                       delivered(batch 1)             in the order of reading
//! ```
//!
//! A copy, an import, an export and a comparison are this with other sources and targets. Because batches are delivered in
//! the order of reading, everything before a batch is with the target when its place is recorded.

use std::pin::pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::{TryStreamExt, stream};

use super::{Interruption, RowSource, RowTarget, Tally};
use crate::TransferError;
use crate::rows::tally::RowCounter;

/// How rows are moved.
#[derive(Debug, Clone)]
pub struct Pump {
    /// Batches that the target takes at the same time.
    pub parallel: usize,
    pub interruption: Interruption,
}

/// A batch that the target has taken.
#[derive(Debug)]
pub struct Delivered<T> {
    /// What the target has returned.
    pub outcome: T,
    pub tally: Tally,
    pub last_key: Option<Bytes>,
    /// See [`super::RowBatch::place`].
    pub place: Option<Bytes>,
}

impl Pump {
    /// Moves all rows, until the source ends or a signal stops it. `delivered` gets each batch that the target has taken.
    ///
    /// # Errors
    ///
    /// The first one of the source, the target, and `delivered`.
    pub async fn run<S: RowSource, T: RowTarget>(
        &self,
        source: &mut S,
        target: &Arc<T>,
        mut delivered: impl AsyncFnMut(Delivered<T::Outcome>) -> Result<(), S::Error>,
    ) -> Result<(), S::Error> {
        let batches =
            stream::try_unfold((source, RowCounter::default()), |(source, mut counter)| async move {
                if self.interruption.is_stopped() {
                    return Ok(None);
                }
                let batch = source.next().await?;
                Ok::<_, S::Error>(batch.map(|batch| {
                    let tally = counter.count(&batch.rows);
                    ((batch, tally), (source, counter))
                }))
            });
        let deliveries = batches.map_ok(|(batch, tally)| async move {
            let last_key = batch.rows.last().map(|row| row.key.clone());
            let (place, own) = (batch.place.clone(), target.clone());
            let task = tokio::spawn(async move { own.take(batch).await });
            let outcome = task.await.map_err(|panic| TransferError::named(target.name(), panic))??;
            Ok::<_, S::Error>(Delivered { outcome, tally, last_key, place })
        });
        let mut deliveries = pin!(deliveries.try_buffered(self.parallel.max(1)));
        while let Some(batch) = deliveries.try_next().await? {
            delivered(batch).await?;
        }
        Ok(())
    }
}
