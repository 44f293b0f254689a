//! The changes of a mutation to one column family.
//!
//! A batch or a collection has a hundred thousand short cells, and a [`Change`] takes 128 bytes besides its name. So only
//! the first changes are stored as they are. Short cells behind them are packed into buffers, each of which is freed when
//! its cells have been read:
//!
//! ```text
//!   plain    change | change | ..                   most rows have no others
//!   packed   buffer | buffer | change | buffer
//!   cell     u8 length of the name | u8 length of the value | u8 form | stamp | name | value
//!   form     0: the stamp of the cell before   1: i64 timestamp   2: i64, i32 ttl, i32 expiry   3: i64, i32 deletion
//! ```

use std::borrow::Cow;

use bytes::{Buf, Bytes};

use super::{Cell, CellKind, Change};
use crate::util::allocation;
use crate::util::meter::MeterError;

/// Changes that are not packed: most rows of a request have fewer, and packing a cell takes 180 instructions.
const UNPACKED: usize = 64;
/// The longest name and value of a packed cell, in bytes: for a longer one 128 bytes are little.
const SHORT: usize = u8::MAX as usize;
/// Capacity of a new buffer and of a full one, in bytes: sizes that the allocator does not round up. Short cells may
/// alternate with other changes, so a buffer begins small.
const BUFFER_BYTES_MIN: usize = 64;
const BUFFER_BYTES: usize = 16 * 1024;
/// The longest packed cell in bytes.
const CELL_BYTES_MAX: usize = 3 + 16 + 2 * SHORT;

/// Changes in the order of the request.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// The first changes.
    plain: Vec<Change>,
    /// The changes behind them.
    packed: Vec<Piece>,
}

#[derive(Debug, Clone)]
enum Piece {
    One(Change),
    Cells(CellBuffer),
}

/// When a cell was written, and of what kind it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    timestamp: i64,
    kind: CellKind,
}

/// Packed cells, of which none is in a super column.
#[derive(Debug, Clone, Default)]
struct CellBuffer {
    bytes: Vec<u8>,
    count: usize,
    last: Option<Stamp>,
}

/// A cell outside of super columns, borrowed from a list of changes.
#[derive(Debug, Clone, Copy)]
pub struct CellView<'a> {
    /// The name.
    pub name: &'a [u8],
    /// The value; empty in a tombstone.
    pub value: &'a [u8],
    /// The client's timestamp.
    pub timestamp: i64,
    /// Whether it is a value, a counter or a tombstone.
    pub kind: CellKind,
}

/// A change, borrowed from a list.
#[derive(Debug, Clone, Copy)]
pub enum ChangeView<'a> {
    /// A cell outside of super columns.
    Cell(CellView<'a>),
    /// Any other change.
    Other(&'a Change),
}

impl Changes {
    /// Adds a change behind all others.
    pub fn push(&mut self, change: Change) {
        if self.packed.is_empty() && (self.plain.len() < UNPACKED || !is_packable(&change)) {
            return self.plain.push(change);
        }
        match (change, self.packed.last_mut()) {
            (change, _) if !is_packable(&change) => self.packed.push(Piece::One(change)),
            (Change::Cell { cell, .. }, Some(Piece::Cells(buffer)))
                if buffer.bytes.len() + CELL_BYTES_MAX <= BUFFER_BYTES =>
            {
                buffer.push(&cell);
            }
            (Change::Cell { cell, .. }, _) => {
                let bytes = Vec::with_capacity(BUFFER_BYTES_MIN);
                let mut buffer = CellBuffer { bytes, count: 0, last: None };
                buffer.push(&cell);
                self.packed.push(Piece::Cells(buffer));
            }
            (change, _) => self.packed.push(Piece::One(change)),
        }
    }

    /// Adds the changes of another list behind all others.
    ///
    /// # Errors
    /// `OutOfMemory` if the list cannot grow.
    pub fn append(&mut self, other: Changes) -> Result<(), MeterError> {
        if self.is_empty() {
            *self = other;
            return Ok(());
        }
        allocation::make_room(&mut self.plain, other.plain.len())?;
        other.plain.into_iter().for_each(|change| self.push(change));
        allocation::make_room(&mut self.packed, other.packed.len())?;
        for piece in other.packed {
            match piece {
                Piece::One(change) => self.push(change),
                cells => self.packed.push(cells),
            }
        }
        Ok(())
    }

    /// Returns the number of changes.
    pub fn len(&self) -> usize {
        let count = |piece: &Piece| match piece {
            Piece::One(_) => 1,
            Piece::Cells(buffer) => buffer.count,
        };
        self.plain.len() + self.packed.iter().map(count).sum::<usize>()
    }

    /// Returns whether there are no changes.
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty() && self.packed.is_empty()
    }

    /// Returns about how many bytes the names and values have.
    pub(super) fn bytes(&self) -> usize {
        let bytes = |piece: &Piece| match piece {
            Piece::One(change) => change.bytes(),
            Piece::Cells(buffer) => buffer.bytes.len(),
        };
        self.plain.iter().map(Change::bytes).sum::<usize>() + self.packed.iter().map(bytes).sum::<usize>()
    }

    /// Iterates over the changes. Packed cells are copied.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, Change>> {
        let packed = self.packed.iter().flat_map(|piece| {
            let cells = piece.cells().map(|cell| Cow::Owned(cell.change(Bytes::copy_from_slice)));
            piece.one().map(Cow::Borrowed).into_iter().chain(cells)
        });
        self.plain.iter().map(Cow::Borrowed).chain(packed)
    }

    /// Iterates over the changes without a copy.
    pub fn views(&self) -> impl Iterator<Item = ChangeView<'_>> {
        let packed = self.packed.iter().flat_map(|piece| {
            piece.one().map(ChangeView::of).into_iter().chain(piece.cells().map(ChangeView::Cell))
        });
        self.plain.iter().map(ChangeView::of).chain(packed)
    }

    /// Iterates over the changes that are not packed: all but cells outside of super columns are among them.
    pub fn unpacked_mut(&mut self) -> impl Iterator<Item = &mut Change> {
        let packed = self.packed.iter_mut().filter_map(|piece| match piece {
            Piece::One(change) => Some(change),
            Piece::Cells(_) => None,
        });
        self.plain.iter_mut().chain(packed)
    }

    /// Iterates over the cells outside of super columns.
    pub fn cells(&self) -> impl Iterator<Item = CellView<'_>> {
        self.views().filter_map(|view| match view {
            ChangeView::Cell(cell) => Some(cell),
            ChangeView::Other(_) => None,
        })
    }

    /// Gives all changes to `take`.
    pub fn take_all(self, mut take: impl FnMut(Change)) {
        self.plain.into_iter().for_each(&mut take);
        for piece in self.packed {
            match piece {
                Piece::One(change) => take(change),
                Piece::Cells(buffer) => {
                    let bytes = Bytes::from(buffer.bytes);
                    let walk = CellWalk { rest: &bytes, last: None };
                    walk.for_each(|cell| take(cell.change(|part| bytes.slice_ref(part))));
                }
            }
        }
    }

    /// Lends each cell outside of super columns to `take`, without a copy, and frees each buffer behind its cells.
    ///
    /// # Errors
    /// The first error of `take`.
    pub fn try_take_cells<E>(self, mut take: impl FnMut(CellView<'_>) -> Result<(), E>) -> Result<(), E> {
        self.plain.iter().filter_map(column_of).try_for_each(|cell| take(cell.into()))?;
        for piece in self.packed {
            piece.one().and_then(column_of).map_or(Ok(()), |cell| take(cell.into()))?;
            piece.cells().try_for_each(&mut take)?;
        }
        Ok(())
    }

    /// Gives all changes but cells outside of super columns to `take`. Those cells are left.
    pub fn leave_cells(&mut self, mut take: impl FnMut(Change)) {
        self.plain.extract_if(.., |change| column_of(change).is_none()).for_each(&mut take);
        let others =
            self.packed.extract_if(.., |piece| piece.one().is_some_and(|of| column_of(of).is_none()));
        for piece in others {
            if let Piece::One(change) = piece {
                take(change);
            }
        }
    }
}

/// Returns the cell of a change outside of super columns.
fn column_of(change: &Change) -> Option<&Cell> {
    match change {
        Change::Cell { super_column: None, cell } => Some(cell),
        _ => None,
    }
}

/// Whether a change is a short cell outside of super columns, and no counter.
fn is_packable(change: &Change) -> bool {
    column_of(change).is_some_and(|cell| {
        !matches!(cell.kind, CellKind::Counter | CellKind::Increment)
            && cell.name.len() <= SHORT
            && cell.value.len() <= SHORT
    })
}

impl Piece {
    fn one(&self) -> Option<&Change> {
        match self {
            Piece::One(change) => Some(change),
            Piece::Cells(_) => None,
        }
    }

    fn cells(&self) -> CellWalk<'_> {
        match self {
            Piece::One(_) => CellWalk::default(),
            Piece::Cells(buffer) => CellWalk { rest: &buffer.bytes, last: None },
        }
    }
}

impl From<Vec<Change>> for Changes {
    fn from(changes: Vec<Change>) -> Changes {
        Changes { plain: changes, packed: Vec::new() }
    }
}

impl CellBuffer {
    fn push(&mut self, cell: &Cell) {
        let stamp = Stamp { timestamp: cell.timestamp, kind: cell.kind };
        #[expect(clippy::cast_possible_truncation, reason = "at most SHORT")]
        self.bytes.extend_from_slice(&[cell.name.len() as u8, cell.value.len() as u8]);
        if self.last == Some(stamp) {
            self.bytes.push(0);
        } else {
            let (form, first, second) = match cell.kind {
                CellKind::Live | CellKind::Counter | CellKind::Increment => (1, None, None),
                CellKind::Expiring { ttl_s, expires_at_s } => (2, Some(ttl_s), Some(expires_at_s)),
                CellKind::Deleted { local_deletion_time } => (3, Some(local_deletion_time), None),
            };
            self.bytes.push(form);
            self.bytes.extend_from_slice(&cell.timestamp.to_be_bytes());
            [first, second]
                .into_iter()
                .flatten()
                .for_each(|s| self.bytes.extend_from_slice(&s.to_be_bytes()));
        }
        self.bytes.extend_from_slice(&cell.name);
        self.bytes.extend_from_slice(&cell.value);
        self.last = Some(stamp);
        self.count += 1;
    }
}

/// Iterates over packed cells.
#[derive(Debug, Clone, Copy, Default)]
struct CellWalk<'a> {
    rest: &'a [u8],
    last: Option<Stamp>,
}

impl CellWalk<'_> {
    fn number(&mut self) -> Option<i32> {
        self.rest.try_get_i32().ok()
    }

    fn stamp(&mut self, form: u8) -> Option<Stamp> {
        if form == 0 {
            return self.last;
        }
        let timestamp = self.rest.try_get_i64().ok()?;
        let kind = match form {
            1 => CellKind::Live,
            2 => CellKind::Expiring { ttl_s: self.number()?, expires_at_s: self.number()? },
            _ => CellKind::Deleted { local_deletion_time: self.number()? },
        };
        Some(Stamp { timestamp, kind })
    }
}

impl<'a> Iterator for CellWalk<'a> {
    type Item = CellView<'a>;

    fn next(&mut self) -> Option<CellView<'a>> {
        let ([name, value, form], rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        self.last = self.stamp(*form);
        let Stamp { timestamp, kind } = self.last?;
        let name = self.rest.split_off(..usize::from(*name))?;
        let value = self.rest.split_off(..usize::from(*value))?;
        Some(CellView { name, value, timestamp, kind })
    }
}

impl<'a> ChangeView<'a> {
    fn of(change: &'a Change) -> ChangeView<'a> {
        column_of(change).map_or(ChangeView::Other(change), |cell| ChangeView::Cell(cell.into()))
    }
}

impl<'a> From<&'a Cell> for CellView<'a> {
    fn from(cell: &'a Cell) -> CellView<'a> {
        CellView { name: &cell.name, value: &cell.value, timestamp: cell.timestamp, kind: cell.kind }
    }
}

impl CellView<'_> {
    /// Returns whether it is not a tombstone.
    pub(super) fn is_live(&self) -> bool {
        !matches!(self.kind, CellKind::Deleted { .. })
    }

    /// Returns the cell, whose name and value `owned` copies.
    pub fn cell(self, owned: impl Fn(&[u8]) -> Bytes) -> Cell {
        let CellView { name, value, timestamp, kind } = self;
        Cell { name: owned(name), value: owned(value), timestamp, kind }
    }

    fn change(self, owned: impl Fn(&[u8]) -> Bytes) -> Change {
        Change::Cell { super_column: None, cell: self.cell(owned) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::DeletionTime;
    use proptest::prelude::*;

    fn change() -> impl Strategy<Value = Change> {
        let kind = prop_oneof![
            4 => Just(CellKind::Live),
            1 => Just(CellKind::Increment),
            1 => (1..3, 1..3).prop_map(|(ttl_s, expires_at_s)| CellKind::Expiring { ttl_s, expires_at_s }),
            1 => (1..3).prop_map(|second| CellKind::Deleted { local_deletion_time: second }),
        ];
        let length = prop_oneof![8 => 0usize..4, 1 => 254usize..258];
        let cell = (
            prop::option::weighted(0.1, Just(Bytes::from_static(b"s"))),
            length.clone(),
            length,
            1i64..3,
            kind,
        );
        let cell = cell.prop_map(|(super_column, name, value, timestamp, kind)| Change::Cell {
            super_column,
            cell: Cell { name: vec![1; name].into(), value: vec![2; value].into(), timestamp, kind },
        });
        prop_oneof![9 => cell, 1 => Just(Change::DeleteRow { deletion: DeletionTime::LIVE })]
    }

    proptest! {
        #[test]
        fn changes_are_unpacked_as_they_were(lists in prop::collection::vec(prop::collection::vec(change(), 0..300), 1..4)) {
            let mut all = Changes::default();
            for list in &lists {
                let mut changes = Changes::default();
                list.iter().for_each(|change| changes.push(change.clone()));
                all.append(changes).unwrap();
            }
            let expected = lists.concat();
            let is_cell = |change: &&Change| matches!(change, Change::Cell { super_column: None, .. });
            let cells: Vec<Change> = expected.iter().filter(is_cell).cloned().collect();
            prop_assert_eq!((all.len(), all.is_empty()), (expected.len(), expected.is_empty()));
            prop_assert!(all.iter().map(Cow::into_owned).eq(expected.iter().cloned()));
            prop_assert!(all.cells().map(|cell| cell.change(Bytes::copy_from_slice)).eq(cells.iter().cloned()));
            let (mut owned, mut taken) = (Vec::new(), Vec::new());
            all.clone().take_all(|change| owned.push(change));
            prop_assert_eq!(&owned, &expected);
            let took = all.clone().try_take_cells(|cell| { taken.push(cell.change(Bytes::copy_from_slice)); Ok::<_, ()>(()) });
            prop_assert_eq!((took, &taken), (Ok(()), &cells));
            let mut others = 0;
            all.leave_cells(|_| others += 1);
            prop_assert_eq!(others, expected.len() - cells.len());
            prop_assert!(all.iter().map(Cow::into_owned).eq(cells));
        }
    }
}
