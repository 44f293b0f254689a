//! Compares the live cells of both endpoints by looking up each cell of one endpoint in the other.
//!
//! The sides may have different orders of rows. A walk over the source compares its cells with the target; then a walk
//! over the target finds cells that the source does not have.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::Endpoint;
use super::difference::{Difference, DifferenceKind};
use crate::TransferError;
use crate::rows::{RowBatch, RowTarget};
use base::compat::features::releases::NEWEST;
use base::marshal;
use base::marshal::StoredOrder;
use base::model::{Cell, CellKind, Change, Predicate, SliceRange};
use base::schema::CfDef;
use base::util::Clock;
use db::Restore;
use store::RowPiece;

/// Names that are looked up at the same time.
const NAMES_MAX: usize = 256;
/// Columns that a slice may have in addition to the compared ones.
const SPARE: usize = 64;
/// Two times of expiry may differ by this many seconds. Cells that expire within this time are not compared.
pub(super) const SLACK_S: i32 = 5;

/// Looks up cells of one endpoint in the other.
pub(crate) struct CellLookup {
    /// The endpoint in which cells are looked up.
    pub other: Arc<Endpoint>,
    /// The column family on that endpoint.
    pub cf: Arc<CfDef>,
    /// The time that decides which cells have expired.
    pub clock: Arc<Clock>,
    /// Whether times of expiry can be compared.
    pub compares_expiry: bool,
    /// The kind of difference of a missing cell.
    pub missing: DifferenceKind,
    /// Whether only missing cells are reported.
    pub only_missing: bool,
}

/// The result of looking up the cells of a batch.
#[derive(Debug, Default)]
pub(crate) struct LookedUp {
    /// The number of live cells.
    pub cells: u64,
    /// The differences of the batch, in the order of its rows.
    pub differences: Vec<Difference>,
}

impl RowTarget for CellLookup {
    type Outcome = LookedUp;

    fn name(&self) -> &str {
        &self.other.name
    }

    async fn take(&self, batch: RowBatch) -> Result<LookedUp, TransferError> {
        let mut looked_up = LookedUp::default();
        for RowPiece { key, changes } in batch.rows {
            for (super_column, cells) in self.alive(changes) {
                looked_up.cells += cells.len() as u64;
                for cells in cells.chunks(NAMES_MAX) {
                    let found = self.compare_cells(&key, super_column.as_ref(), cells).await;
                    looked_up.differences.extend(found.map_err(|why| TransferError::of(&self.other, why))?);
                }
            }
        }
        Ok(looked_up)
    }
}

impl CellLookup {
    /// Returns the live cells of changes, by super column.
    fn alive(&self, changes: Vec<Change>) -> Vec<(Option<Bytes>, Vec<Cell>)> {
        let now_s = self.clock.now_s();
        let mut groups: Vec<(Option<Bytes>, Vec<Cell>)> = Vec::new();
        for change in changes {
            let Change::Cell { super_column, cell } = change else { continue };
            let cell = cell.at(now_s, Restore::behaviour());
            if !cell.is_live() {
                continue;
            }
            match groups.last_mut() {
                Some((last, cells)) if *last == super_column => cells.push(cell),
                _ => groups.push((super_column, vec![cell])),
            }
        }
        groups
    }

    async fn compare_cells(
        &self,
        key: &Bytes,
        super_column: Option<&Bytes>,
        cells: &[Cell],
    ) -> Result<Vec<Difference>, String> {
        let mut there = HashMap::new();
        if let Some(slice) = self.slice_of(cells) {
            self.look_up(key, super_column, slice, &mut there).await?;
        }
        let left: Vec<Bytes> = cells
            .iter()
            .filter(|cell| !there.contains_key(&cell.name))
            .map(|cell| cell.name.clone())
            .collect();
        if !left.is_empty() {
            self.look_up(key, super_column, Predicate::Names(left), &mut there).await?;
        }
        let now_s = self.clock.now_s();
        let mut differences = Vec::new();
        for cell in cells {
            let kind = match there.get(&cell.name) {
                // The cell may have expired between the two reads.
                None if expires_at(cell).is_some_and(|at| at <= now_s.saturating_add(SLACK_S)) => None,
                None => Some(self.missing),
                Some(_) if self.only_missing => None,
                Some(other) => difference_of(cell, other, self.compares_expiry),
            };
            let Some(kind) = kind else { continue };
            let (key, super_column, column) = (key.clone(), super_column.cloned(), Some(cell.name.clone()));
            differences.push(Difference { key, super_column, column, kind });
        }
        Ok(differences)
    }

    async fn look_up(
        &self,
        key: &Bytes,
        super_column: Option<&Bytes>,
        predicate: Predicate,
        there: &mut HashMap<Bytes, Cell>,
    ) -> Result<(), String> {
        let cells = self.other.pages.cells(&self.cf, key.clone(), super_column.cloned(), predicate).await?;
        there.extend(cells.into_iter().map(|cell| (cell.name.clone(), cell)));
        Ok(())
    }

    /// Returns the slice from the first cell to the last, if both endpoints have the cells in the same order.
    fn slice_of(&self, cells: &[Cell]) -> Option<Predicate> {
        let comparator = self.cf.subcomparator().unwrap_or(&self.cf.comparator);
        let is_exact = marshal::at(&**comparator, NEWEST).stored_order() == StoredOrder::Exact;
        if !is_exact || !self.other.pages.prefers_slices() {
            return None;
        }
        let (first, last) = (cells.first()?, cells.last()?);
        let (start, finish) = (first.name.clone(), last.name.clone());
        let count = cells.len() + SPARE;
        Some(Predicate::Range(SliceRange { start, finish, reversed: false, count }))
    }
}

fn expires_at(cell: &Cell) -> Option<i32> {
    match cell.kind {
        CellKind::Expiring { expires_at_s, .. } => Some(expires_at_s),
        _ => None,
    }
}

/// Returns how two cells with the same name differ. Of counters only totals are compared, because their timestamps
/// depend on the store.
pub(crate) fn difference_of(one: &Cell, other: &Cell, compares_expiry: bool) -> Option<DifferenceKind> {
    if one.is_live() != other.is_live() {
        return Some(DifferenceKind::Deletion);
    }
    if one.value != other.value {
        return Some(DifferenceKind::Value);
    }
    if one.kind == CellKind::Counter || other.kind == CellKind::Counter {
        return None;
    }
    if one.timestamp != other.timestamp {
        return Some(DifferenceKind::Timestamp);
    }
    match (expires_at(one), expires_at(other)) {
        (None, None) => None,
        (Some(one), Some(other)) if !compares_expiry || one.abs_diff(other) <= SLACK_S.unsigned_abs() => None,
        _ => Some(DifferenceKind::Expiry),
    }
}
