//! Opens the files next to a Data file: finds the damaged or missing ones, and whether the rows can be read without
//! them.
//!
//! | file | without it |
//! |---|---|
//! | CompressionInfo of a compressed file | no row can be read |
//! | Statistics of 3.x | no row can be read |
//! | Statistics of 2.1 and 2.2 | the partitioner is not known: the order of rows is not checked |
//! | Index | rows are not compared with it, and after damage the next row may not be found |
//! | CRC, Digest | fewer bytes, or none, have a checksum |

use std::path::Path;

use bytes::Bytes;

use super::component::{Component, Descriptor};
use super::compressed::CompressedFile;
use super::error::SstableError;
use super::index::IndexReader;
use super::input::Input;
use super::key_range::last_key;
use super::statistics::{Statistics, read_statistics};
use base::partitioner::{PartitionerRef, resolve};

/// The opened files of a table.
#[derive(Debug)]
pub(super) struct Companions {
    /// The content of the Data file.
    pub input: Input,
    pub statistics: Statistics,
    /// The key of the last row, if the Statistics file has it.
    pub last_key: Option<Bytes>,
    pub index: Option<IndexReader>,
    /// Files without which all rows can be read, and which are damaged.
    pub damages: Vec<SstableError>,
}

impl Companions {
    /// Opens the files. Fails if the rows cannot be read without a file that is damaged or missing.
    pub(crate) fn open(data: &Path, descriptor: &Descriptor) -> Result<Companions, SstableError> {
        let mut damages = Vec::new();
        let statistics = open_statistics(descriptor, &mut damages)?;
        let input = open_data(data, descriptor, &mut damages)?;
        let index = match IndexReader::open(descriptor) {
            Err(error @ SstableError::Damaged(_)) => {
                damages.push(error);
                None
            }
            opened => opened?,
        };
        let last_key = last_key(descriptor)?;
        Ok(Companions { input, statistics, last_key, index, damages })
    }
}

/// Returns the partitioner that the Statistics component of an SSTable names (2.1 and later).
pub fn named_partitioner(descriptor: &Descriptor) -> Option<PartitionerRef> {
    let path = descriptor.path(Component::Statistics);
    if !descriptor.format.has_statistics_contents || !path.is_file() {
        return None;
    }
    resolve(&read_statistics(&path, &descriptor.format).ok()?.partitioner?)
}

fn open_statistics(
    descriptor: &Descriptor,
    damages: &mut Vec<SstableError>,
) -> Result<Statistics, SstableError> {
    let format = &descriptor.format;
    let path = descriptor.path(Component::Statistics);
    if format.has_modern_rows {
        if !path.is_file() {
            let why = "rows of 3.x and later cannot be read without the types and baselines in it";
            return Err(SstableError::missing(&path, why));
        }
        return read_statistics(&path, format);
    }
    if !format.has_statistics_contents || !path.is_file() {
        return Ok(Statistics::default());
    }
    match read_statistics(&path, format) {
        Err(error @ SstableError::Damaged(_)) => {
            damages.push(error);
            Ok(Statistics::default())
        }
        read => read,
    }
}

/// Opens a Data file with its compression or its checksums of blocks.
fn open_data(
    data: &Path,
    descriptor: &Descriptor,
    damages: &mut Vec<SstableError>,
) -> Result<Input, SstableError> {
    let format = &descriptor.format;
    let info = descriptor.path(Component::CompressionInfo);
    let crc = descriptor.path(Component::Crc);
    if info.is_file() {
        let file = CompressedFile::open(data, &info, format)?;
        return Ok(Input::of_compressed(data, file));
    }
    if descriptor.missing().iter().any(|name| name == Component::CompressionInfo.name()) {
        return Err(SstableError::missing(&info, "a compressed Data file cannot be read without it"));
    }
    if !crc.is_file() {
        if format.has_block_sums && !descriptor.has_list() {
            let why =
                "there is no CRC file either: if the Data file is compressed, what is read of it is wrong";
            damages.push(SstableError::missing(&info, why));
        }
        return Input::of_file(data);
    }
    match Input::with_block_sums(data, &crc, format.block_checksum) {
        Err(SstableError::Damaged(damage)) if damage.path == crc => {
            damages.push(SstableError::Damaged(damage));
            Input::of_file(data)
        }
        opened => opened,
    }
}
