//! Reads: columns of rows by their keys, counts, ranges of rows.

mod cells;
mod counts;
mod many_rows;
mod multi_slice;
mod pages;
mod ranges;
mod reads;
mod reversed_slice;
mod stored_slice;
mod unchecked_slice;
mod validate;

pub use many_rows::ManyRows;
pub use multi_slice::MultiSliceRequest;
pub use ranges::Ranges;
pub use reads::{GetResult, Reads};
pub(crate) use reversed_slice::ReversedSlice;
pub use stored_slice::{StoredRows, StoredRowsArgs};
