//! From which SSTables a compaction made an SSTable, by the Statistics component.
//!
//! ```text
//!   up to 1.1.2 (hd)      nothing
//!   1.1.3 (he) to 1.2     two histograms | position in the commit log | timestamps | ratio of compression
//!                         | partitioner | number of ancestors | their generations, 4 bytes each
//!   2.0 (ja, jb)          the same, with the greatest local deletion time and the chance of the Bloom filter before the ratio
//!   2.1, 2.2 (ka to lb)   the part COMPACTION of the component: number of ancestors | their generations
//!   3.0 (ma)              the same, and no server reads it: compactions have transaction logs
//! ```
//!
//! An ancestor that was deleted while a later compaction ran is not in the list of that one.

use std::collections::BTreeSet;

use super::component::{Component, Descriptor};
use super::error::SstableError;
use super::flushed::skip_histograms;
use super::format::Format;
use super::input::Input;
use super::statistics::seek_part;

/// The kind of the part with the ancestors.
const COMPACTION: i32 = 1;
/// Bytes of a position in the commit log, of a ratio and of a chance.
const POSITION_BYTES: u64 = 12;
const NUMBER_BYTES: u64 = 8;

/// Returns the generations of the SSTables that were compacted into one. Empty if it was flushed, or if its release did not
/// record them; `None` if its release did, and the Statistics component is missing.
///
/// # Errors
///
/// If the Statistics component cannot be read.
pub fn ancestors(descriptor: &Descriptor) -> Result<Option<BTreeSet<u64>>, SstableError> {
    let format = &descriptor.format;
    let path = descriptor.path(Component::Statistics);
    if !format.has_ancestors() {
        return Ok(Some(BTreeSet::new()));
    }
    if !path.is_file() {
        return Ok(None);
    }
    let mut input = Input::of_file(&path)?;
    if !format.has_statistics_contents {
        skip_to_ancestors(&mut input, format)?;
    } else if !seek_part(&mut input, COMPACTION, format)? {
        return Ok(Some(BTreeSet::new()));
    }
    read(&mut input).map(Some)
}

/// Skips the data before the ancestors up to 2.0.
fn skip_to_ancestors(input: &mut Input, format: &Format) -> Result<(), SstableError> {
    skip_histograms(input)?;
    input.skip(POSITION_BYTES)?;
    // The greatest timestamp, from 1.2 (ib) on after the least one.
    let timestamps = if format.has_least_timestamp() { 2 } else { 1 };
    input.skip(timestamps * NUMBER_BYTES)?;
    if format.has_deletion_time() {
        input.skip(4 + NUMBER_BYTES)?;
    }
    input.skip(NUMBER_BYTES)?;
    input.utf().map(drop)
}

fn read(input: &mut Input) -> Result<BTreeSet<u64>, SstableError> {
    let count = input.u32()?;
    if u64::from(count) * 4 > input.remaining() {
        return Err(input.damaged(format!("{count} ancestors in {} bytes", input.remaining())));
    }
    (0..count).map(|_| input.u32().map(u64::from)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// Returns a Statistics component with ancestors.
    fn statistics(letters: &str, ancestors: &[u32]) -> Vec<u8> {
        let count = u32::try_from(ancestors.len()).unwrap().to_be_bytes();
        let list: Vec<u8> =
            count.into_iter().chain(ancestors.iter().flat_map(|of| of.to_be_bytes())).collect();
        if letters >= "ka" {
            let contents = [0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 20, 0, 0, 0, 1, 0, 0, 0, 23];
            return [&contents[..], b"\0\x01p", &list].concat();
        }
        let mut content =
            [&1u32.to_be_bytes()[..], &[9; 16], &2u32.to_be_bytes(), &[9; 32], &[7; 12]].concat();
        content.extend(vec![5; if letters >= "ib" { 16 } else { 8 }]);
        content.extend(vec![6; if letters >= "ja" { 12 } else { 0 }]);
        content.extend([8; 8]);
        content.extend(b"\0\x03abc");
        content.extend(list);
        content
    }

    #[test]
    fn ancestors_of_all_versions_are_read_and_cuts_refused() {
        let scratch = tempfile::tempdir().unwrap();
        for letters in ["hd", "he", "hf", "ia", "ib", "ic", "ja", "jb", "ka", "lb", "mb"] {
            let name =
                if letters >= "la" { format!("{letters}-9-big") } else { format!("Ks-Cf-{letters}-9") };
            let data = scratch.path().join(format!("{name}-Data.db"));
            let descriptor = Descriptor::of_data_file(&data).unwrap();
            let path = descriptor.path(Component::Statistics);
            let is_read = ("he".."ma").contains(&letters);
            let without = if is_read { None } else { Some(BTreeSet::new()) };
            assert_eq!(ancestors(&descriptor).unwrap(), without, "{letters} without the component");
            let content = statistics(letters, &[4, 3, 70_000]);
            std::fs::write(&path, &content).unwrap();
            let expected = if is_read { BTreeSet::from([3, 4, 70_000]) } else { BTreeSet::new() };
            assert_eq!(ancestors(&descriptor).unwrap(), Some(expected), "{letters}");
            for cut in (0..content.len()).filter(|_| is_read) {
                std::fs::write(&path, &content[..cut]).unwrap();
                ancestors(&descriptor).expect_err("it is cut");
            }
        }
        let mut input = Input::of_memory(Path::new("memory"), vec![0xff; 40]);
        read(&mut input).expect_err("there are fewer bytes");
    }
}
