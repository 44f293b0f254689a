//! The last row key of an SSTable by the Statistics component of 5.0, whose checksum makes it a witness of rows that are
//! missing: nothing else shows them in a file without an Index component.
//!
//! ```text
//!   statistics part   ... | id of the node, if there is one | whether partitions were deleted | first key | last key | ...
//! ```

use bytes::Bytes;

use super::component::{Component, Descriptor};
use super::error::SstableError;
use super::flushed;
use super::statistics::{STATISTICS, open_checked, seek_part};

/// Returns the last key. `None` of the versions that do not have it.
pub(super) fn last_key(descriptor: &Descriptor) -> Result<Option<Bytes>, SstableError> {
    let format = &descriptor.format;
    if !format.has_unsigned_times {
        return Ok(None);
    }
    let mut input = open_checked(&descriptor.path(Component::Statistics), format)?;
    if !seek_part(&mut input, STATISTICS, format)? {
        return Ok(None);
    }
    flushed::read(&mut input, format)?;
    // Whether partitions were deleted.
    input.u8()?;
    input.vint_bytes()?;
    input.vint_bytes().map(Some)
}
