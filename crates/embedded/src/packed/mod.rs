//! Sorted entries, packed into one block of memory.
//!
//! The cost of finding, reading and replacing an entry is mostly the cost of the memory it touches. So the entries of a
//! row are stored side by side, without an allocation for each, and without one if a value is replaced by a value that
//! is not longer.
//!
//! ```text
//!   slots      sorted by key:  first bytes of the key | offset in data | lengths
//!   data       in the order of writing:  key value key value ...      values replaced by longer ones leave gaps
//!   large      values that are too long to be copied often
//! ```

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod entries;
mod slot;
mod value;
mod walk;

pub(crate) use entries::PackedEntries;
pub(crate) use value::PackedValue;
pub(crate) use walk::PackedWalk;
