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

use super::rate::RatePace;
use super::{Interruption, RateLimit, RowSource, RowTarget, Tally};
use crate::TransferError;
use crate::rows::tally::RowCounter;

/// Moves batches.
#[derive(Debug, Clone)]
pub(crate) struct Pump {
    /// Batches that the target takes at the same time.
    pub parallel: usize,
    pub interruption: Interruption,
    /// The bytes per second that are read.
    pub rate: RateLimit,
}

/// A batch that the target has taken.
#[derive(Debug)]
pub(crate) struct Delivered<T> {
    /// The result of the target.
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
    pub(crate) async fn run<S: RowSource, T: RowTarget>(
        &self,
        source: &mut S,
        target: &Arc<T>,
        mut delivered: impl AsyncFnMut(Delivered<T::Outcome>) -> Result<(), S::Error>,
    ) -> Result<(), S::Error> {
        let reading = (source, RowCounter::default(), RatePace::new(self.rate));
        let batches = stream::try_unfold(reading, |(source, mut counter, mut pace)| async move {
            if self.interruption.is_stopped() {
                return Ok(None);
            }
            let Some(batch) = source.next().await? else { return Ok(None) };
            let tally = counter.count(&batch.rows);
            pace.spend(tally.bytes).await;
            Ok::<_, S::Error>(Some(((batch, tally), (source, counter, pace))))
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;
    use crate::rows::RowBatch;
    use base::schema::CfDef;
    use store::RowPiece;

    /// Batches with the rows 0, 1, 2, ..., of which each has its number as its place.
    struct Numbers(u8);

    impl RowSource for Numbers {
        type Error = TransferError;

        async fn next(&mut self) -> Result<Option<RowBatch>, TransferError> {
            self.0 += 1;
            let key = Bytes::from(vec![self.0]);
            let rows = vec![RowPiece { key: key.clone(), changes: Vec::new() }];
            let cf = Arc::new(CfDef::new("K", "A"));
            Ok((self.0 <= 100).then_some(RowBatch { cf, rows, place: Some(key) }))
        }
    }

    /// Takes longer for some batches than for those after them, and refuses one.
    #[derive(Default)]
    struct Uneven {
        refused: Option<u8>,
        running: AtomicUsize,
        most: AtomicUsize,
    }

    impl RowTarget for Uneven {
        type Outcome = u8;

        fn name(&self) -> &str {
            "uneven"
        }

        async fn take(&self, batch: RowBatch) -> Result<u8, TransferError> {
            let number = batch.rows[0].key[0];
            self.most.fetch_max(self.running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(u64::from(3 - number % 4))).await;
            self.running.fetch_sub(1, Ordering::SeqCst);
            if self.refused == Some(number) {
                Err(TransferError::named("uneven", "full"))
            } else {
                Ok(number)
            }
        }
    }

    /// Moves the numbers, and returns those that were delivered.
    async fn moved(
        target: Uneven,
        parallel: usize,
        stops_at: u8,
    ) -> (Vec<u8>, usize, Result<(), TransferError>) {
        let pump = Pump { parallel, interruption: Interruption::default(), rate: RateLimit::default() };
        let target = Arc::new(target);
        let mut numbers = Vec::new();
        let delivered = async |batch: Delivered<u8>| {
            assert_eq!(batch.place, batch.last_key);
            assert_eq!(batch.tally.rows, 1);
            numbers.push(batch.outcome);
            if batch.outcome == stops_at {
                pump.interruption.stop();
            }
            Ok(())
        };
        let outcome = pump.run(&mut Numbers(0), &target, delivered).await;
        (numbers, target.most.load(Ordering::SeqCst), outcome)
    }

    #[tokio::test]
    async fn batches_are_delivered_in_the_order_of_reading() {
        let all: Vec<u8> = (1..=100).collect();
        for parallel in [1, 7] {
            let (numbers, most, outcome) = moved(Uneven::default(), parallel, 0).await;
            assert_eq!((&numbers, most), (&all, parallel));
            outcome.unwrap();
        }
    }

    #[tokio::test]
    async fn a_signal_stops_after_the_batches_on_their_way() {
        let (numbers, _, outcome) = moved(Uneven::default(), 4, 10).await;
        outcome.unwrap();
        assert!((10..20).contains(&numbers.len()), "{numbers:?}");
    }

    #[tokio::test]
    async fn everything_before_a_refused_batch_is_delivered() {
        let (numbers, _, outcome) = moved(Uneven { refused: Some(9), ..Uneven::default() }, 4, 0).await;
        assert_eq!(numbers, (1..9).collect::<Vec<u8>>());
        assert_eq!(outcome.unwrap_err().to_string(), "uneven: full");
    }
}
