//! Copies and compares one column family.

use std::sync::Arc;

use bytes::Bytes;

use super::CopyOptions;
use super::progress_file::ProgressFile;
use super::repair::{AGAIN_MAX, Repair};
use super::selection::Pair;
use crate::TransferError;
use crate::endpoint::{
    CellLookup, Difference, DifferenceKind, Differences, DumpReader, Endpoint, LookedUp, RowWriter,
    StoreWalk, compare_dumps,
};
use crate::rows::{Delivered, Tally, WalkMeter};
use base::schema::CfDef;
use base::util::Clock;

/// The findings of a comparison.
pub(super) struct Found<'d> {
    /// The differences that stay.
    pub differences: &'d mut Differences,
    /// The differences of a column family that are looked at again.
    pub again: Vec<Difference>,
    /// Cells that were repaired.
    pub repaired: u64,
}

/// The two endpoints of a copy, and its options.
pub(super) struct FamilyCopy<'o> {
    pub from: Arc<Endpoint>,
    pub to: Arc<Endpoint>,
    pub clock: Arc<Clock>,
    pub options: &'o CopyOptions,
}

impl FamilyCopy<'_> {
    fn walk(&self, endpoint: &Arc<Endpoint>, cf: &Arc<CfDef>, after: Option<Bytes>) -> StoreWalk {
        StoreWalk::new(endpoint.clone(), cf.clone(), after, self.options.rows_at_a_time)
    }

    fn stopped(&self, doing: &str) -> TransferError {
        TransferError::Interrupted(format!("{doing}; with a progress file, the same command continues there"))
    }

    fn check_comparing(&self, pair: &Pair) -> Result<(), TransferError> {
        if self.options.interruption.is_stopped() {
            return Err(self.stopped(&format!("{} is compared only in part", pair.name())));
        }
        Ok(())
    }

    /// Copies a column family, from the place in the progress file on.
    pub(super) async fn copy(
        &self,
        pair: &Pair,
        file: &mut ProgressFile,
        title: String,
    ) -> Result<Tally, TransferError> {
        let name = pair.name();
        let recorded = file.family(&name);
        let mut meter = WalkMeter::new(title, self.from.partitioner.as_ref(), recorded.tally);
        let writer = Arc::new(RowWriter::new(self.to.clone(), self.clock.clone())?);
        let mut walk = self.walk(&self.from, &pair.from, recorded.place()).into_family(pair.to.clone());
        let mut is_done = false;
        let delivered = async |batch: Delivered<()>| {
            meter.add(batch.tally, batch.last_key.as_ref());
            is_done = batch.place.is_none();
            file.note(&name, batch.place.as_ref(), meter.total())
        };
        let outcome = self.options.pump().run(&mut walk, &writer, delivered).await;
        // After an error, too, record the data that has been written.
        file.write()?;
        let total = meter.finish();
        outcome?;
        if is_done { Ok(total) } else { Err(self.stopped(&format!("{name} is copied only in part"))) }
    }

    /// Compares a column family, including tombstones if both endpoints support dumps.
    pub(super) async fn verify(
        &self,
        pair: &Pair,
        found: &mut Found<'_>,
        title: String,
    ) -> Result<Tally, TransferError> {
        let are_dumps = self.from.can_dump() && self.to.can_dump() && self.from.is_in_order_of(&self.to);
        if are_dumps && self.options.repair_after.is_none() {
            return self.verify_dumps(pair, found.differences, title).await;
        }
        let forth = self.lookup(&self.to, &pair.to, DifferenceKind::OnlyInSource);
        let walk = self.walk(&self.from, &pair.from, None);
        let tally = self.look_up(walk, forth, pair, found, title.clone()).await?;
        let back = CellLookup {
            only_missing: true,
            ..self.lookup(&self.from, &pair.from, DifferenceKind::OnlyInTarget)
        };
        let walk = self.walk(&self.to, &pair.to, None);
        self.look_up(walk, back, pair, found, format!("{title}, rows of the target")).await?;
        if let Some(pause) = self.options.repair_after.clone() {
            let (from, to, clock) = (self.from.clone(), self.to.clone(), self.clock.clone());
            let again = std::mem::take(&mut found.again);
            let interruption = self.options.interruption.clone();
            let repair = Repair { from, to, clock, pause, interruption };
            found.repaired = repair.repair(pair, again, found.differences).await?;
        }
        Ok(tally)
    }

    fn lookup(&self, other: &Arc<Endpoint>, cf: &Arc<CfDef>, missing: DifferenceKind) -> CellLookup {
        let compares_expiry = self.from.pages.has_expiry_time() && self.to.pages.has_expiry_time();
        let (other, cf, clock) = (other.clone(), cf.clone(), self.clock.clone());
        CellLookup { other, cf, clock, compares_expiry, missing, only_missing: false }
    }

    /// Looks up the cells that a walk over one endpoint reads in the other endpoint.
    async fn look_up(
        &self,
        mut walk: StoreWalk,
        lookup: CellLookup,
        pair: &Pair,
        found: &mut Found<'_>,
        title: String,
    ) -> Result<Tally, TransferError> {
        let mut meter = WalkMeter::new(title, walk.partitioner(), Tally::default());
        let delivered = async |batch: Delivered<LookedUp>| {
            if self.options.repair_after.is_some() {
                found.again.extend(batch.outcome.differences);
                if found.again.len() > AGAIN_MAX {
                    let many =
                        format!("{} has more than {AGAIN_MAX} differences: copy it again", pair.name());
                    return Err(TransferError::Schema(many));
                }
            } else {
                found.differences.add_all(&pair.from, &batch.outcome.differences);
            }
            meter.add(batch.tally, batch.last_key.as_ref());
            Ok(())
        };
        self.options.pump().run(&mut walk, &Arc::new(lookup), delivered).await?;
        self.check_comparing(pair)?;
        Ok(meter.finish())
    }

    /// Compares dumps of both endpoints.
    async fn verify_dumps(
        &self,
        pair: &Pair,
        differences: &mut Differences,
        title: String,
    ) -> Result<Tally, TransferError> {
        let Some(partitioner) = self.from.partitioner.clone() else {
            return Err(TransferError::of(&self.from, "the order of its rows is not known"));
        };
        let from = self.walk(&self.from, &pair.from, None);
        let mut from = DumpReader::new(from, pair.from.clone(), partitioner.clone());
        let to = self.walk(&self.to, &pair.to, None);
        let mut to = DumpReader::new(to, pair.to.clone(), partitioner.clone());
        let mut meter = WalkMeter::new(title, Some(&partitioner), Tally::default());
        let now_s = self.clock.now_s();
        compare_dumps(&mut from, &mut to, now_s, differences, |from| {
            meter.add(from.take_tally(), from.last_key());
            self.check_comparing(pair)
        })
        .await?;
        meter.add(from.take_tally(), None);
        Ok(meter.finish())
    }
}
