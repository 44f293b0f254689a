//! The end of a segment of format 1, which releases up to 1.0 wrote. It has no marks, so zeros decide whether a record
//! that cannot be read is torn or damaged.
//!
//! ```text
//!   the file ends within the record                             torn
//!   no checksum of the head, and no good head after it          torn: it was written last
//!   a payload after zeros in place of its head                  torn: a sector was written between the two
//!   zeros over a whole sector, or over the rest of one          torn
//!   zeros to the end of the file, which is a sector away        torn
//!   a checksum is wrong otherwise                               damaged
//! ```

use std::ops::Range;

use super::record::{HEAD, HEAD_SUM, read_head};
use super::stored_segment::{SECTOR, is_zero, written_from};

/// First bytes of a payload: column family, generation and the length of a prefix. They are never all zero.
const ROW_HEAD: usize = 12;

/// Zero bytes that the end of an undamaged record may have.
const OWN_ZEROS_MAX: usize = 64;

/// Returns whether the record at `at`, which cannot be read, is the torn end of the log.
pub(super) fn is_torn(bytes: &[u8], number: u64, at: usize) -> bool {
    let Some(head) = part(bytes, at..bytes.len()).first_chunk::<HEAD>() else { return true };
    match read_head(number, at as u64, head) {
        None => {
            has_no_head(number, bytes, at) || is_payload_alone(bytes, at) || is_lost(bytes, at, at + HEAD)
        }
        Some((length, _)) => {
            let end = at + HEAD + length;
            end > bytes.len() || is_lost(bytes, at, end)
        }
    }
}

/// Returns whether the record has no checksum of its head and is the last one: no valid head follows. If the checksum
/// crosses the end of a sector, it is enough that the part in the second sector is missing.
fn has_no_head(number: u64, bytes: &[u8], at: usize) -> bool {
    let next_sector = at + SECTOR - at % SECTOR;
    let sum = at + HEAD_SUM..at + HEAD;
    let lost = if sum.contains(&next_sector) { next_sector..sum.end } else { sum };
    is_zero(part(bytes, lost))
        && !(at + 1..at + written_from(bytes, at).len()).any(|place| {
            let head = part(bytes, place..bytes.len()).first_chunk::<HEAD>();
            head.is_some_and(|head| read_head(number, place as u64, head).is_some())
        })
}

/// Returns whether a payload follows zeros in place of its head. The head was written after the payload. If the sector
/// reached the disk between the two, it stayed like that, and later sectors may have been written.
fn is_payload_alone(bytes: &[u8], at: usize) -> bool {
    let behind = part(bytes, at + HEAD..at + HEAD + ROW_HEAD);
    is_zero(part(bytes, at..at + HEAD)) && !is_zero(behind)
}

/// Returns whether a part of the bytes from `at` to `end` never reached the disk. That is so if they are zero up to the
/// next sector; if a sector that begins between them is zero as far as the file goes; or if the file has only zeros from
/// well before `end` on, for at least a sector.
fn is_lost(bytes: &[u8], at: usize, end: usize) -> bool {
    let next_sector = at + SECTOR - at % SECTOR;
    let mut sectors =
        (next_sector..end.min(bytes.len())).step_by(SECTOR).map(|begin| part(bytes, begin..begin + SECTOR));
    let written = at + written_from(bytes, at).len();
    is_zero(part(bytes, at..next_sector))
        || sectors.any(is_zero)
        || written + OWN_ZEROS_MAX < end && bytes.len() - written >= SECTOR
}

/// Returns the bytes of a range, as far as the file goes.
fn part(bytes: &[u8], range: Range<usize>) -> &[u8] {
    bytes.get(range.start..bytes.len().min(range.end)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::segment::path_of;
    use super::super::segment_head::SegmentHead;
    use super::*;
    use crate::disk::RealDisk;
    use crate::log::{ChangeList, RecordBuilder, replay};
    use store::Result;

    /// Bytes of a head of format 1.
    const SEGMENT_HEAD: usize = 32;
    const BESIDE_VALUE: usize = 38;

    /// Returns a segment as release 1.0 wrote it, with records 1, 2 and so on that have values of these lengths.
    fn segment(values: &[usize]) -> Vec<u8> {
        let mut bytes = SegmentHead { number: 1, before: 0, key: None }.to_bytes();
        assert_eq!(bytes.len(), SEGMENT_HEAD);
        for (number, length) in (1u8..).zip(values) {
            let mut record = RecordBuilder::default();
            let mut changes = ChangeList::default();
            changes.add(&[number], Some(&vec![number; *length]));
            record.row(1 << 32 | 1, &[number], changes);
            let at = bytes.len() as u64;
            record.seal().unwrap().write_at(1, at, &mut bytes);
            assert_eq!(bytes.len(), at as usize + BESIDE_VALUE + length);
        }
        bytes
    }

    fn replayed(bytes: &[u8]) -> Result<(Vec<u8>, usize)> {
        let directory = tempfile::tempdir().unwrap();
        fs::write(path_of(directory.path(), 1), bytes).unwrap();
        let mut found = Vec::new();
        let end = replay(&RealDisk, directory.path(), 1, 1, |row| {
            found.push(row.prefix[0]);
            Ok(())
        })?;
        Ok((found, end.end.offset as usize))
    }

    /// If a head crosses the end of a sector, one of the two sectors may reach the disk without the other.
    #[test]
    fn a_head_of_which_a_sector_was_lost_ends_the_log() {
        for in_first in 1..HEAD {
            let first_end = SECTOR - in_first;
            let whole = segment(&[first_end - SEGMENT_HEAD - BESIDE_VALUE, 9]);
            for lost in [first_end..SECTOR, SECTOR..whole.len()] {
                if whole[lost.clone()].iter().all(|byte| *byte == 0) {
                    // The length begins with zeros, so these zeros are the record's own.
                    continue;
                }
                let mut bytes = whole.clone();
                bytes[lost.clone()].fill(0);
                bytes.resize(3 * SECTOR, 0);
                assert_eq!(replayed(&bytes).unwrap(), (vec![1], first_end), "{lost:?}");
            }
        }
    }

    /// The rest of a record was lost that begins at the end of a sector, however short it is. The space behind it is
    /// allocated ahead, or the file ends.
    #[test]
    fn a_rest_that_was_lost_with_its_sector_ends_the_log() {
        for sectors in [1, 2, 8] {
            for in_last in [1, 3, 53, 59, SECTOR - 1, SECTOR] {
                for room in [0, 1, 5000] {
                    let first_end = SEGMENT_HEAD + BESIDE_VALUE + 100;
                    let last_begin = sectors * SECTOR;
                    let end = last_begin + in_last;
                    let mut bytes = segment(&[100, end - first_end - BESIDE_VALUE]);
                    assert_eq!(bytes.len(), end);
                    bytes.resize(end + room, 0);
                    assert_eq!(replayed(&bytes).unwrap().0, [1, 2]);
                    bytes[last_begin..].fill(0);
                    assert_eq!(replayed(&bytes).unwrap(), (vec![1], first_end), "{sectors} {in_last} {room}");
                }
            }
        }
    }

    /// A sector reached the disk after the payload was written and before its head was.
    #[test]
    fn a_payload_without_its_head_ends_the_log() {
        let whole = segment(&[100, 100]);
        let record = BESIDE_VALUE + 100;
        let mut bytes = whole.clone();
        bytes[SEGMENT_HEAD..SEGMENT_HEAD + HEAD].fill(0);
        assert_eq!(replayed(&bytes).unwrap(), (vec![], SEGMENT_HEAD));
        // A kill leaves such a record only at the end. A good record after it shows that a sector was lost.
        assert!(!has_no_head(1, &bytes, SEGMENT_HEAD));
        assert!(has_no_head(1, &bytes[..SEGMENT_HEAD + record], SEGMENT_HEAD));
        // More zeros are damage.
        bytes[SEGMENT_HEAD..SEGMENT_HEAD + HEAD + ROW_HEAD].fill(0);
        replayed(&bytes).unwrap_err();
    }

    #[test]
    fn flipped_bits_are_found_and_torn_ends_are_ignored() {
        let whole = segment(&[10, 100, 9]);
        let last = whole.len() - BESIDE_VALUE - 9;
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            let text = replayed(&bytes).unwrap_err().to_string();
            assert!(text.starts_with("corrupt data: "), "byte {at}: {text}");
        }
        for torn in last..whole.len() {
            assert_eq!(replayed(&whole[..torn]).unwrap(), (vec![1, 2], last), "{torn}");
            // With space behind it, the checksum of the head is missing.
            let mut bytes = whole.clone();
            bytes[torn.max(last + HEAD)..].fill(0);
            bytes[last + HEAD_SUM..last + HEAD].fill(0);
            bytes.resize(9000, 0);
            assert_eq!(replayed(&bytes).unwrap(), (vec![1, 2], last), "{torn}");
        }
    }
}
