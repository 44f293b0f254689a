//! The headers of commit logs up to 0.7: the position from which on a column family is in no SSTable.
//!
//! ```text
//!   0.4 to 0.6   in front of the records:  BitSet, serialized by Java | count | position (4) of each column family
//!   0.7          CommitLog-<id>.log.header:  count (4) | CRC-32 (8) | (number, position) of each | CRC-32 (8)
//!   0.7 betas    the same, with the number of all column families in front
//! ```
//!
//! A column family without a position has nothing in the log that is not in SSTables. Up to 0.6 the positions are in
//! the order of a Java hash table, so only the least of them is known: records before it are in SSTables. The checksums
//! of 0.7 contain the last byte of each number only. A server without a header, or with a damaged one, replays the
//! whole log.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::segment::crc;

/// Longest header file: the positions of a hundred thousand column families.
const HEADER_BYTES_MAX: u64 = 1024 * 1024;

/// The beginning of a serialized array of longs: the content of the BitSet.
const ARRAY: &[u8] = b"\x75\x72\0\x02[J";
/// Bytes between that and the length of the array: the version of the class, its flags and its number of fields.
const ARRAY_CLASS_BYTES: usize = 8 + 1 + 2 + 2;
/// Ends what a class writes by itself.
const END_OF_BLOCK: u8 = 0x78;

/// Returns the least position in the header of 0.4 to 0.6; 0 if there is none, and so nothing to replay. `None` if it
/// cannot be read.
pub(super) fn least_position(header: &[u8]) -> Option<u64> {
    let array = header.windows(ARRAY.len()).position(|window| window == ARRAY)?;
    let array = header.get(array + ARRAY.len() + ARRAY_CLASS_BYTES..)?;
    let (length, rest) = array.split_first_chunk::<4>()?;
    let longs = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    let mut rest = rest.get(longs.checked_mul(8)?..)?;
    if rest.len() % 4 == 1 {
        rest = rest.strip_prefix(&[END_OF_BLOCK])?;
    }
    let (count, rest) = rest.split_first_chunk::<4>()?;
    let positions: Vec<u32> = numbers(rest).collect();
    if rest.len() % 4 != 0 || usize::try_from(u32::from_be_bytes(*count)) != Ok(positions.len()) {
        return None;
    }
    Some(positions.into_iter().filter(|position| *position > 0).min().map_or(0, u64::from))
}

/// The positions in a header of 0.7.
#[derive(Debug)]
pub(super) struct Dirty {
    /// By the numbers of column families. `None` without a readable header.
    positions: Option<HashMap<i32, u32>>,
}

impl Dirty {
    /// Reads the header beside a log.
    pub(super) fn beside(log: &Path) -> Dirty {
        let path = PathBuf::from(format!("{}.header", log.display()));
        let is_short = fs::metadata(&path).is_ok_and(|found| found.len() <= HEADER_BYTES_MAX);
        let content = if is_short { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        Dirty { positions: parse(&content, false).or_else(|| parse(&content, true)) }
    }

    /// Whether the write of a column family that ends at a position is in no SSTable.
    pub(super) fn needs(&self, number: i32, end: u32) -> bool {
        let Some(positions) = &self.positions else { return true };
        positions.get(&number).is_some_and(|position| end > *position)
    }
}

/// Parses a header, which may begin with the number of all column families.
fn parse(content: &[u8], has_total: bool) -> Option<HashMap<i32, u32>> {
    let (sizes, rest) = content.split_at_checked(if has_total { 8 } else { 4 })?;
    let mut summed: Vec<u8> = numbers(sizes).map(last_byte).collect();
    let count = usize::try_from(numbers(sizes).last()?).ok()?;
    let (sum, rest) = rest.split_first_chunk::<8>()?;
    let is_sum = |sum: &[u8; 8], summed: &[u8]| u64::from_be_bytes(*sum) == u64::from(crc(&[summed]));
    let (pairs, rest) = rest.split_at_checked(count.checked_mul(8)?)?;
    let (last_sum, _) = rest.split_first_chunk::<8>()?;
    if !is_sum(sum, &summed) {
        return None;
    }
    summed.extend(numbers(pairs).map(last_byte));
    if !is_sum(last_sum, &summed) {
        return None;
    }
    let pairs: Vec<u32> = numbers(pairs).collect();
    pairs.chunks_exact(2).map(|pair| Some((pair.first()?.cast_signed(), *pair.get(1)?))).collect()
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes.chunks_exact(4).filter_map(|number| Some(u32::from_be_bytes(number.try_into().ok()?)))
}

fn last_byte(number: u32) -> u8 {
    number.to_be_bytes()[3]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A BitSet as Java 6 serializes it, and as Java 5 does.
    fn bits(is_new: bool) -> Vec<u8> {
        let flags = if is_new { 3 } else { 2 };
        let mut object = b"\xac\xed\0\x05sr\0\x10java.util.BitSetn\xfd\x88~94!\xab".to_vec();
        object.extend([flags, 0, 1]);
        object.extend(b"[\0\x04bitst\0\x02[Jxpur\0\x02[Jx \x04\xb5\x12\xb1u\x93\x02\0\0xp\0\0\0\x01");
        object.extend(0x15_u64.to_be_bytes());
        object.extend(is_new.then_some(END_OF_BLOCK));
        object
    }

    fn header_of_0_6(is_new: bool, positions: &[u32]) -> Vec<u8> {
        let mut header = bits(is_new);
        header.extend(u32::try_from(positions.len()).unwrap().to_be_bytes());
        positions.iter().for_each(|position| header.extend(position.to_be_bytes()));
        header
    }

    #[test]
    fn the_least_position_of_old_headers_is_found() {
        for is_new in [false, true] {
            assert_eq!(least_position(&header_of_0_6(is_new, &[0, 90, 0, 70, 100])), Some(70));
            assert_eq!(least_position(&header_of_0_6(is_new, &[0, 0])), Some(0));
            let header = header_of_0_6(is_new, &[5, 6]);
            for cut in 0..header.len() {
                assert_eq!(least_position(&header[..cut]), None, "cut at {cut}");
            }
        }
    }

    fn header_of_0_7(total: Option<u32>, pairs: &[(u32, u32)]) -> Vec<u8> {
        let mut header = Vec::new();
        let mut summed = Vec::new();
        let count = u32::try_from(pairs.len()).unwrap();
        for number in total.into_iter().chain([count]) {
            header.extend(number.to_be_bytes());
            summed.push(last_byte(number));
        }
        header.extend(u64::from(crc(&[&summed])).to_be_bytes());
        for number in pairs.iter().flat_map(|(number, position)| [*number, *position]) {
            header.extend(number.to_be_bytes());
            summed.push(last_byte(number));
        }
        header.extend(u64::from(crc(&[&summed])).to_be_bytes());
        header
    }

    #[test]
    fn headers_of_0_7_have_the_positions_of_column_families() {
        let directory = tempfile::tempdir().unwrap();
        let log = directory.path().join("CommitLog-1.log");
        assert!(Dirty::beside(&log).needs(1000, 5), "without a header everything is replayed");
        let path = directory.path().join("CommitLog-1.log.header");
        for total in [None, Some(300)] {
            let header = header_of_0_7(total, &[(1000, 700), (1001, 0)]);
            fs::write(&path, &header).unwrap();
            let dirty = Dirty::beside(&log);
            let found = [(1000, 700), (1000, 701), (1001, 1), (1002, 900)];
            assert_eq!(found.map(|(number, end)| dirty.needs(number, end)), [false, true, true, false]);
            for cut in 0..header.len() {
                fs::write(&path, &header[..cut]).unwrap();
                assert!(Dirty::beside(&log).needs(1002, 900), "cut at {cut}");
            }
        }
    }
}
