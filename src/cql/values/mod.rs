//! Values: from what a statement writes or a client binds to the bytes of a cell.

pub fn short_form(_: &crate::marshal::CqlType, value: &bytes::Bytes) -> bytes::Bytes { value.clone() }
mod typed_term;

pub use typed_term::{Markers, TypeScope, TypedTerm, Value};
