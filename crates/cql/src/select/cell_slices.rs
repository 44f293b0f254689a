//! The slices of cells that a SELECT reads of each partition.

use std::cmp::Ordering;

use bytes::Bytes;

use super::bounds::CellSlice;
use crate::Result;
use crate::error::invalid;
use base::marshal::AbstractType;
use base::util::{allocation, meter};

/// Slices in the comparator's order. There may be `IN_COMBINATIONS_MAX` of them, so all names are in one buffer.
#[derive(Debug, Clone)]
pub(super) struct CellSlices {
    names: Bytes,
    places: Vec<SlicePlace>,
}

/// Collects slices in any order.
pub(super) struct SliceBuilder {
    names: Vec<u8>,
    places: Vec<SlicePlace>,
}

/// The most bytes of the names, whose places have 32 bits. The memory of a request is mostly less.
const NAMES_BYTES_MAX: usize = u32::MAX as usize;

/// Where the names of a slice are: first the start, then the finish.
#[derive(Debug, Clone, Copy)]
struct SlicePlace {
    start: u32,
    finish: u32,
    end: u32,
    skips_start: bool,
    skips_finish: bool,
}

impl SlicePlace {
    fn start<'n>(&self, names: &'n [u8]) -> &'n [u8] {
        &names[self.start as usize..self.finish as usize]
    }

    fn finish<'n>(&self, names: &'n [u8]) -> &'n [u8] {
        &names[self.finish as usize..self.end as usize]
    }
}

impl SliceBuilder {
    /// Makes room for `count` slices, whose names have about `name_bytes` bytes together, and charges that memory to the
    /// request: a list that doubles would have up to three times as much.
    pub(super) fn new(count: usize, name_bytes: usize) -> Result<SliceBuilder> {
        meter::charge(name_bytes)?;
        let mut places = Vec::new();
        allocation::make_room(&mut places, count)?;
        Ok(SliceBuilder { names: allocation::buffer_of(name_bytes)?, places })
    }

    /// Adds a slice, and charges the rest of its memory to the request.
    pub(super) fn push(&mut self, slice: &CellSlice) -> Result<()> {
        let length = slice.start.len() + slice.finish.len();
        if length > NAMES_BYTES_MAX - self.names.len() {
            return invalid("the values of the IN relations have more than 4 GiB together");
        }
        let missing = (self.names.len() + length).saturating_sub(self.names.capacity());
        meter::charge(missing + size_of::<SlicePlace>())?;
        allocation::make_room(&mut self.names, length)?;
        let start = self.offset();
        self.names.extend_from_slice(&slice.start);
        let finish = self.offset();
        self.names.extend_from_slice(&slice.finish);
        let (skips_start, skips_finish) = (slice.skips_start, slice.skips_finish);
        self.places.push(SlicePlace { start, finish, end: self.offset(), skips_start, skips_finish });
        Ok(())
    }

    fn offset(&self) -> u32 {
        debug_assert!(self.names.len() <= NAMES_BYTES_MAX);
        self.names.len() as u32
    }

    /// Returns the slices that can contain names, sorted and each once.
    pub(super) fn sorted(self, comparator: &dyn AbstractType) -> CellSlices {
        let SliceBuilder { names, mut places } = self;
        places.retain(|place| {
            let (start, finish) = (place.start(&names), place.finish(&names));
            start.is_empty() || finish.is_empty() || comparator.compare(start, finish) != Ordering::Greater
        });
        // In place: of equal values with different bytes any can stay, as both are the same bound.
        places.sort_unstable_by(|a, b| comparator.compare(a.start(&names), b.start(&names)));
        // Different bytes can be equal values: the decimals 1.0 and 1.00.
        let is_same = |one: &[u8], other: &[u8]| {
            one == other || !one.is_empty() && !other.is_empty() && comparator.compare(one, other).is_eq()
        };
        places.dedup_by(|one, other| {
            is_same(one.start(&names), other.start(&names))
                && is_same(one.finish(&names), other.finish(&names))
        });
        CellSlices { names: names.into(), places }
    }
}

impl CellSlices {
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(super) fn get(&self, at: usize) -> Option<CellSlice> {
        let place = self.places.get(at)?;
        let part = |from: u32, to: u32| self.names.slice(from as usize..to as usize);
        Some(CellSlice {
            start: part(place.start, place.finish),
            finish: part(place.finish, place.end),
            skips_start: place.skips_start,
            skips_finish: place.skips_finish,
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = CellSlice> {
        (0..self.len()).filter_map(|at| self.get(at))
    }
}
