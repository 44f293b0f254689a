//! The limits of this layer, each with its reason.

/// Cells that are read between two checks of the time and memory of a request.
pub const CELLS_PER_CHECK: usize = 256;
