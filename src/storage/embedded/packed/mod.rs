//! Entries in order, packed into one piece of memory.
//!
//! To find an entry, read it and put another in its place costs little more than the memory that it touches, so the
//! entries of a row lie side by side: no allocation of its own for each, and none when a value is replaced by one that
//! is no longer.
//!
//! ```text
//!   slots      in order:  first bytes of the key | where it lies | lengths
//!   data       as they came:  key value key value ...      values that are replaced by longer ones leave gaps
//!   large      values that are too long to be moved about
//! ```

mod entries;
mod slot;
mod value;
mod walk;

pub use entries::PackedEntries;
pub use value::PackedValue;
pub use walk::PackedWalk;
