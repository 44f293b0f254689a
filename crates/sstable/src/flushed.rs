//! The writes of the commit logs that an SSTable has, by the Statistics component: the server does not replay them.
//!
//! ```text
//!   up to 0.7     nothing
//!   0.8 to 2.0    two histograms | upper bound | ...
//!   2.1           the same, as the part STATS of the component
//!   2.2 (lb)      two histograms | upper bound | ... | lower bound
//!   3.0 (mb)      the same
//!   3.0 (mc)      two histograms | upper bound | ... | lower bound | number of intervals | intervals
//!   3.11 (me)     the same | 1 | id of the node, or 0
//!   4.0 (na)      two histograms | ... | intervals | 1 and the id of a repair, or 0 | whether it is a transient replica
//!   4.0 (nb)      the same | 1 | id of the node, or 0
//!   5.0 (oa, da)  the same, with other clustering values and a smaller histogram of tombstones before the lower bound
//!   position      id of the segment (8) | position in it (4)
//! ```
//!
//! Before there were lower bounds, an SSTable stood for all writes up to its bound. A compaction takes the bounds of its
//! sources over. SSTables that were streamed have none.

use super::component::{Component, Descriptor};
use super::error::SstableError;
use super::format::Format;
use super::input::Input;
use super::modern::read_bound;
use super::statistics::{count_of_columns, open_checked, read_type, seek_part};

/// The kind of the part with the bounds.
const STATS: i32 = 2;

/// Bytes of an entry of both kinds of histograms, and of that of tombstones of 5.0.
const HISTOGRAM_ENTRY_BYTES: u64 = 16;
const SHORT_ENTRY_BYTES: u64 = 12;

/// A position in the commit logs of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogPosition {
    /// The id of the segment.
    pub segment: i64,
    /// The position in the segment. The position of a write is the end of its record.
    pub position: u32,
}

impl LogPosition {
    /// The position before all others.
    pub const NONE: LogPosition = LogPosition { segment: -1, position: 0 };
}

/// The writes that an SSTable has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flushed {
    /// Intervals, without their beginnings and with their ends.
    pub intervals: Vec<(LogPosition, LogPosition)>,
    /// The id of the node whose positions these are, if the file names it.
    pub node: Option<[u8; 16]>,
}

impl Flushed {
    /// Reads the Statistics component of an SSTable. Up to 0.7, which had none, nothing is known to be flushed.
    ///
    /// # Errors
    ///
    /// If the component cannot be read, or is missing.
    pub fn of(descriptor: &Descriptor) -> Result<Flushed, SstableError> {
        let none = Flushed { intervals: Vec::new(), node: None };
        let format = &descriptor.format;
        let path = descriptor.path(Component::Statistics);
        if !format.has_log_position() {
            return Ok(none);
        }
        if !path.is_file() {
            let why =
                "only this file has the position in the commit logs up to which the SSTable has the writes";
            return Err(SstableError::missing(&path, why));
        }
        let mut input = open_checked(&path, format)?;
        if format.has_statistics_contents && !seek_part(&mut input, STATS, format)? {
            return Ok(none);
        }
        read(&mut input, format)
    }
}

/// Reads the statistics part up to the node.
pub(super) fn read(input: &mut Input, format: &Format) -> Result<Flushed, SstableError> {
    skip_histograms(input)?;
    let upper = position(input)?;
    let (mut lower, mut intervals, mut node) = (LogPosition::NONE, Vec::new(), None);
    if format.has_lower_bounds() {
        skip_to_lower_bound(input, format)?;
        lower = position(input)?;
    }
    if upper.segment >= 0 && !format.has_intervals() {
        intervals.push((lower, upper));
    }
    if format.has_intervals() {
        for _ in 0..count(input, 24)? {
            intervals.push((position(input)?, position(input)?));
        }
    }
    if format.has_stored_chunks {
        let has_repair = input.u8()? != 0;
        input.skip(if has_repair { 16 + 1 } else { 1 })?;
    }
    if format.has_node() && input.u8()? != 0 {
        node = input.bytes(16)?.as_ref().try_into().ok();
    }
    Ok(Flushed { intervals, node })
}

/// Skips the histograms of the sizes of rows and of their numbers of columns.
pub(super) fn skip_histograms(input: &mut Input) -> Result<(), SstableError> {
    skip_entries(input, HISTOGRAM_ENTRY_BYTES)?;
    skip_entries(input, HISTOGRAM_ENTRY_BYTES)
}

fn position(input: &mut Input) -> Result<LogPosition, SstableError> {
    let segment = input.i64()?;
    Ok(LogPosition { segment, position: input.u32()? })
}

/// Skips the data between the upper and the lower bound.
fn skip_to_lower_bound(input: &mut Input, format: &Format) -> Result<(), SstableError> {
    // The range of timestamps, of local deletion times and of times to live, and the ratio of compression.
    input.skip(if format.has_modern_rows { 8 + 8 + 4 + 4 + 4 + 4 + 8 } else { 8 + 8 + 4 + 8 })?;
    // The histogram of tombstones begins with its greatest size.
    input.skip(4)?;
    skip_entries(input, if format.has_unsigned_times { SHORT_ENTRY_BYTES } else { HISTOGRAM_ENTRY_BYTES })?;
    // The level and the time of the repair.
    input.skip(4 + 8)?;
    // The least and greatest clustering values.
    if format.has_unsigned_times {
        skip_slice(input)?;
    } else {
        for _ in 0..2 {
            for _ in 0..count(input, 2)? {
                input.short_bytes()?;
            }
        }
    }
    // Whether there are counters of 2.0; the numbers of columns and rows.
    input.skip(if format.has_modern_rows { 1 + 8 + 8 } else { 1 })
}

/// Skips the types of the clustering columns, and the bounds of their values (5.0).
fn skip_slice(input: &mut Input) -> Result<(), SstableError> {
    let mut types = Vec::new();
    for _ in 0..count_of_columns(input)? {
        types.push(read_type(input)?);
    }
    for _ in 0..2 {
        // The kind of the bound.
        input.u8()?;
        read_bound(input, &types)?;
    }
    Ok(())
}

/// Reads a count of entries with at least `least` bytes.
fn count(input: &mut Input, least: u64) -> Result<u64, SstableError> {
    let count = input.u32()?;
    if u64::from(count).saturating_mul(least) > input.remaining() {
        return Err(input.damaged(format!("{count} entries in {} bytes", input.remaining())));
    }
    Ok(u64::from(count))
}

fn skip_entries(input: &mut Input, bytes: u64) -> Result<(), SstableError> {
    let count = count(input, bytes)?;
    input.skip(count * bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::format_of;
    use std::path::Path;

    fn number(content: &mut Vec<u8>, segment: i64, at: u32) {
        content.extend(segment.to_be_bytes());
        content.extend(at.to_be_bytes());
    }

    /// The statistics of a file, with histograms of one and two entries.
    fn statistics(letters: &str) -> Vec<u8> {
        let mut content = [&1u32.to_be_bytes()[..], &[9; 16], &2u32.to_be_bytes(), &[9; 32]].concat();
        number(&mut content, 7, 70);
        if letters >= "lb" {
            let between = if letters >= "ma" { 40 } else { 28 };
            content.extend(vec![0; between]);
            content.extend([0, 0, 0, 100, 0, 0, 0, 1]);
            content.extend(vec![3; if letters >= "oa" { 12 } else { 16 }]);
            content.extend([0; 12]);
            if letters >= "oa" {
                // One clustering column, whose values begin at ff and end nowhere.
                content.extend([1, 8]);
                content.extend(b"UTF8Type");
                content.extend([1, 0, 1, 0, 1, 0xFF, 6, 0, 0]);
            } else {
                content.extend([0, 0, 0, 1, 0, 2, 5, 5, 0, 0, 0, 0]);
            }
            content.extend(vec![0; if letters >= "ma" { 17 } else { 1 }]);
            number(&mut content, 3, 30);
        }
        if letters >= "mc" {
            content.extend([0, 0, 0, 2]);
            for at in [1, 2, 4, 7] {
                number(&mut content, at, 10);
            }
        }
        if letters >= "na" {
            // A repair, and no transient replica.
            content.push(1);
            content.extend([4; 17]);
        }
        if letters >= "me" && letters != "na" {
            content.push(1);
            content.extend([8; 16]);
        }
        content
    }

    fn read_of(letters: &str, content: &[u8]) -> Result<Flushed, SstableError> {
        let mut input = Input::of_memory(Path::new("memory"), content.to_vec());
        read(&mut input, &format_of(letters).unwrap())
    }

    #[test]
    fn bounds_of_all_versions_are_read_and_cuts_refused() {
        let at = |segment, position| LogPosition { segment, position };
        for (letters, expected) in [
            ("g", vec![(LogPosition::NONE, at(7, 70))]),
            ("ic", vec![(LogPosition::NONE, at(7, 70))]),
            ("lb", vec![(at(3, 30), at(7, 70))]),
            ("mb", vec![(at(3, 30), at(7, 70))]),
            ("mc", vec![(at(1, 10), at(2, 10)), (at(4, 10), at(7, 10))]),
            ("me", vec![(at(1, 10), at(2, 10)), (at(4, 10), at(7, 10))]),
            ("na", vec![(at(1, 10), at(2, 10)), (at(4, 10), at(7, 10))]),
            ("nb", vec![(at(1, 10), at(2, 10)), (at(4, 10), at(7, 10))]),
            ("oa", vec![(at(1, 10), at(2, 10)), (at(4, 10), at(7, 10))]),
        ] {
            let content = statistics(letters);
            let found = read_of(letters, &content).unwrap();
            assert_eq!(found.intervals, expected, "{letters}");
            assert_eq!(found.node, ["me", "nb", "oa"].contains(&letters).then_some([8; 16]));
            for cut in 0..content.len() {
                read_of(letters, &content[..cut]).expect_err("it is cut");
            }
        }
    }

    #[test]
    fn without_the_component_the_positions_are_missing() {
        let scratch = tempfile::tempdir().unwrap();
        for (name, is_missing) in [("Carts-f-1", false), ("Carts-g-1", true), ("Shop-Carts-he-1", true)] {
            let data = scratch.path().join(format!("{name}-Data.db"));
            let flushed = Flushed::of(&Descriptor::of_data_file(&data).unwrap());
            assert_eq!(
                flushed.as_ref().is_err_and(|error| error.to_string().contains("is missing")),
                is_missing
            );
            assert_eq!(flushed.is_ok(), !is_missing, "{name}: {flushed:?}");
        }
    }
}
