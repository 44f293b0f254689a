//! Copies and compares one column family.

use std::sync::Arc;

use futures_util::{TryStreamExt, stream};

use super::meter::Meter;
use super::progress_file::ProgressFile;
use super::selection::Pair;
use crate::endpoint::{
    CellLookup, DifferenceKind, Differences, DumpReader, DumpSource, Endpoint, MergeStep, RowBatch,
    RowWriter, StoreWalk, next_of_dumps,
};
use crate::rows::Tally;
use crate::{Interruption, TransferError};
use base::util::Clock;

/// The interval at which a comparison of two dumps updates the progress, in steps of the merge.
const SHOW_EVERY: u64 = 1024;

/// The two endpoints of a copy, and its parameters.
pub struct FamilyCopy {
    pub from: Arc<Endpoint>,
    pub to: Arc<Endpoint>,
    pub clock: Arc<Clock>,
    pub rows_at_a_time: usize,
    pub parallel: usize,
    pub interruption: Interruption,
}

/// Waits for a task. A panic in it is an error of the endpoint.
async fn joined<T>(
    task: tokio::task::JoinHandle<Result<T, TransferError>>,
    side: &Endpoint,
) -> Result<T, TransferError> {
    task.await.unwrap_or_else(|error| Err(TransferError::of(side, error)))
}

impl FamilyCopy {
    fn walk(
        &self,
        side: &Arc<Endpoint>,
        cf: &Arc<base::schema::CfDef>,
        after: Option<bytes::Bytes>,
    ) -> StoreWalk {
        StoreWalk::new(side.clone(), cf.clone(), after, self.rows_at_a_time)
    }

    fn stopped(&self, doing: &str) -> TransferError {
        TransferError::Interrupted(format!("{doing}; with a progress file, the same command continues there"))
    }

    /// Returns the batches of a walk, until it ends or the copy is stopped.
    fn batches(&self, walk: StoreWalk) -> impl stream::Stream<Item = Result<RowBatch, TransferError>> {
        let interruption = self.interruption.clone();
        stream::try_unfold((walk, interruption), |(mut walk, interruption)| async move {
            if interruption.is_stopped() {
                return Ok(None);
            }
            Ok(walk.next().await?.map(|batch| (batch, (walk, interruption))))
        })
    }

    /// Copies a column family, from the place in the progress file on.
    pub async fn copy(
        &self,
        pair: &Pair,
        file: &mut ProgressFile,
        title: String,
    ) -> Result<Tally, TransferError> {
        let name = pair.name();
        let recorded = file.family(&name);
        let mut meter = Meter::new(title, self.from.partitioner.clone(), recorded.tally);
        let writer = Arc::new(RowWriter::new(self.to.clone(), self.clock.clone())?);
        let written = self.batches(self.walk(&self.from, &pair.from, recorded.place())).map_ok(|batch| {
            let (writer, cf) = (writer.clone(), pair.to.clone());
            async move {
                let tally = Tally::of(&batch.rows, batch.rows_begun);
                let last_key = batch.rows.last().map(|row| row.key.clone());
                let task = tokio::spawn(async move { writer.write(&cf, batch.rows).await });
                joined(task, &self.to).await?;
                Ok((batch.place, tally, last_key))
            }
        });
        // In the order of reading: when a place is recorded, everything before it is written.
        let mut written = std::pin::pin!(written.try_buffered(self.parallel.max(1)));
        let mut is_done = false;
        let outcome = loop {
            match written.try_next().await {
                Ok(Some((place, tally, last_key))) => {
                    meter.add(tally, last_key.as_ref());
                    file.note(&name, place.as_ref(), meter.total())?;
                    is_done = place.is_none();
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        // After an error, too, record the data that has been written.
        file.write()?;
        let total = meter.total();
        meter.finish();
        outcome?;
        if is_done { Ok(total) } else { Err(self.stopped(&format!("{name} is copied only in part"))) }
    }

    /// Compares a column family, including tombstones if both endpoints support dumps.
    pub async fn verify(
        &self,
        pair: &Pair,
        differences: &mut Differences,
        title: String,
    ) -> Result<Tally, TransferError> {
        if self.from.can_dump() && self.to.can_dump() && self.from.is_in_order_of(&self.to) {
            return self.verify_all(pair, differences, title).await;
        }
        let there = self.lookup(&self.to, pair.to.clone(), DifferenceKind::OnlyInSource, false);
        let walk = self.walk(&self.from, &pair.from, None);
        let tally = self.look_up(walk, there, pair, differences, title.clone()).await?;
        let back = self.lookup(&self.from, pair.from.clone(), DifferenceKind::OnlyInTarget, true);
        let walk = self.walk(&self.to, &pair.to, None);
        self.look_up(walk, back, pair, differences, format!("{title}, rows of the target")).await?;
        Ok(tally)
    }

    fn lookup(
        &self,
        other: &Arc<Endpoint>,
        cf: Arc<base::schema::CfDef>,
        missing: DifferenceKind,
        only_missing: bool,
    ) -> Arc<CellLookup> {
        let compares_expiry = self.from.pages.has_expiry_time() && self.to.pages.has_expiry_time();
        let (other, clock) = (other.clone(), self.clock.clone());
        Arc::new(CellLookup { other, cf, clock, compares_expiry, missing, only_missing })
    }

    /// Looks up the cells that a walk over one endpoint reads in the other endpoint.
    async fn look_up(
        &self,
        walk: StoreWalk,
        lookup: Arc<CellLookup>,
        pair: &Pair,
        differences: &mut Differences,
        title: String,
    ) -> Result<Tally, TransferError> {
        let partitioner = if lookup.only_missing { &self.to } else { &self.from }.partitioner.clone();
        let mut meter = Meter::new(title, partitioner, Tally::default());
        let looked_up = self.batches(walk).map_ok(|batch| {
            let lookup = lookup.clone();
            async move {
                let tally = Tally::of(&batch.rows, batch.rows_begun);
                let last_key = batch.rows.last().map(|row| row.key.clone());
                let other = lookup.other.clone();
                let task = tokio::spawn(async move { lookup.compare(batch.rows).await });
                let (_, found) = joined(task, &other).await?;
                Ok((found, tally, last_key))
            }
        });
        let mut looked_up = std::pin::pin!(looked_up.try_buffered(self.parallel.max(1)));
        while let Some((found, tally, last_key)) = looked_up.try_next().await? {
            found.iter().for_each(|difference| differences.add(&pair.from, difference));
            meter.add(tally, last_key.as_ref());
        }
        if self.interruption.is_stopped() {
            return Err(self.stopped(&format!("{} is compared only in part", pair.name())));
        }
        let total = meter.total();
        meter.finish();
        Ok(total)
    }

    /// Compares dumps of both endpoints.
    async fn verify_all(
        &self,
        pair: &Pair,
        differences: &mut Differences,
        title: String,
    ) -> Result<Tally, TransferError> {
        let no_order = || TransferError::of(&self.from, "the order of its rows is not known");
        let partitioner = self.from.partitioner.clone().ok_or_else(no_order)?;
        let stream = |side: &Arc<Endpoint>, cf: &Arc<base::schema::CfDef>| {
            let walk = DumpSource::Store(self.walk(side, cf, None));
            DumpReader::new(walk, cf.clone(), partitioner.clone())
        };
        let (mut from, mut to) = (stream(&self.from, &pair.from), stream(&self.to, &pair.to));
        let mut meter = Meter::new(title, Some(partitioner.clone()), Tally::default());
        let now_s = self.clock.now_s();
        let mut steps = 0u64;
        while let Some(step) = next_of_dumps(&mut from, &mut to, now_s).await? {
            if let MergeStep::Different(difference) = step {
                differences.add(&pair.from, &difference);
            }
            steps += 1;
            if steps.is_multiple_of(SHOW_EVERY) {
                meter.add(std::mem::take(&mut from.tally), from.last_key.as_ref());
                if self.interruption.is_stopped() {
                    return Err(self.stopped(&format!("{} is compared only in part", pair.name())));
                }
            }
        }
        meter.add(std::mem::take(&mut from.tally), None);
        let total = meter.total();
        meter.finish();
        Ok(total)
    }
}
