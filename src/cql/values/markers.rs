//! What the markers of a statement stand for.

use crate::cql::ColumnSpec;

/// What the markers of a statement stand for, as far as it has been looked at.
#[derive(Debug, Clone, Default)]
pub struct Markers {
    pub specs: Vec<Option<ColumnSpec>>,
}

impl Markers {
    /// For a statement with so many markers.
    pub fn new(count: usize) -> Markers {
        Markers { specs: vec![None; count] }
    }

    /// Says what a marker stands for.
    pub fn set(&mut self, at: usize, spec: ColumnSpec) {
        if let Some(place) = self.specs.get_mut(at) {
            *place = Some(spec);
        }
    }
}
