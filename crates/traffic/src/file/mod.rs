//! The files of recordings.
//!
//! ```text
//! file     head | block | block | ... | end
//!
//! head     "thriftrc" | u32 format, 1 | u32 length of the JSON | u32 CRC-32 of these 16 bytes and the JSON | JSON
//! block    "TBLK" | u32 events | i64 first time | i64 last time
//!          | u32 length of the index | u32 length of the payload | u32 length of the payload before compression
//!          | u32 CRC-32 of the index | u32 CRC-32 of the payload | u32 CRC-32 of these 44 bytes
//!          | index | payload
//! end      a block "TEND" without index and payload; its events count the whole file, its times are the first and last
//! ```
//!
//! Numbers are big-endian, times are microseconds since 1970. The times in a block's head are the earliest and the latest
//! of its events. A payload is a block of LZ4; it has the time of the first event as i64, then events (`event_codec`).
//! Each block is complete in itself: a file of a killed recorder is readable up to its last whole block, and damage
//! costs one block. An index (`index`) has the connections, methods and column families of its block, so a reader that
//! looks for one of them does not decompress other blocks.
//!
//! A recording can have several files, its parts: `day.rec`, `day.rec.2`, `day.rec.3` (`parts`). The first events of a
//! part are `Opened` of all connections that are open, so a part can be used alone.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod block;
mod event_codec;
mod index;
mod labels;
mod number;
mod parts;
mod reader;
#[cfg(test)]
mod tests;
mod writer;

pub use index::{BlockIndex, BlockNames};
pub(crate) use labels::thrift_id_of_reply;
pub use labels::{CallLabels, EventLabels, Labels};
pub use parts::{PartReader, PartWriter, RotationLimits, part_path};
pub use reader::{BlockSelection, Ending, RecordingReader};
pub use writer::RecordingWriter;

/// The first bytes of a file.
const FILE_MARK: [u8; 8] = *b"thriftrc";

/// Returns the checksum of a file's head: of the 16 bytes before it, and the JSON.
fn head_sum(before: &[u8], json: &[u8]) -> u32 {
    let mut sum = crc32fast::Hasher::new();
    sum.update(before);
    sum.update(json);
    sum.finalize()
}
