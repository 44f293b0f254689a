//! Values: from what a statement writes or a client binds to the bytes of a cell.

mod typed_term;

pub use typed_term::{Markers, TypeScope, TypedTerm, Value};
