//! The header and the sections of commit logs of 2.1 and later. A section has the records between two syncs of the
//! file.
//!
//! ```text
//!   header    version (4) | id (8) | 2.2: length (2), parameters | CRC-32 (4)
//!   section   end (4) | CRC-32 of id and position (4) | 2.2, if compressed: length of the content (4) | content
//! ```
//!
//! Parameters are a JSON object, which names the compressor. Positions in a compressed file, as SSTables have them, are
//! those that the content would have without compression.

use bytes::Bytes;
use serde::Deserialize;

use super::super::compressed::Compressor;
use super::super::error::SstableError;
use super::super::input::Input;
use super::segment::crc;
use super::version::LogVersion;
use crate::limits::SSTABLE_VALUE_BYTES_MAX;

/// Bytes of the marker in front of a section.
const MARKER_BYTES: u64 = 8;

/// The parameters in the header.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct LogParameters {
    compression_class: Option<String>,
    /// The cipher of encrypted logs (3.4 and later).
    enc_cipher: Option<String>,
}

/// Reads sections one after the other.
#[derive(Debug)]
pub(super) struct Sections {
    id: i64,
    compressor: Option<Compressor>,
    /// Where the present section begins in the file.
    start: u64,
    /// Where the next section begins in the file.
    next: u64,
    /// Where it would begin without compression.
    logical: u64,
}

/// A section.
#[derive(Debug)]
pub(super) enum Section {
    /// The records are in the file, up to a position. If the file was cut, the last ones are lost.
    InFile { end: u64, is_cut: bool },
    /// The records were compressed. The first one has this position.
    Decompressed { content: Input, position: u64 },
    /// The section cannot be read.
    Damaged,
    /// There are no further sections. Those that should follow are lost if `is_damaged`.
    End { is_damaged: bool },
}

impl Sections {
    /// Reads the header of a file.
    pub(super) fn open(input: &mut Input, version: LogVersion) -> Result<Sections, SstableError> {
        let number = input.u32()?;
        let id = input.i64()?;
        let (high, low) = halves(id);
        let mut summed = vec![number.to_be_bytes().to_vec(), low, high];
        let mut parameters = Bytes::new();
        if version >= LogVersion::Five {
            let length = input.u16()?;
            parameters = input.bytes(u64::from(length))?;
            summed.extend([u32::from(length).to_be_bytes().to_vec(), parameters.to_vec()]);
        }
        let expected = crc(&summed.iter().map(Vec::as_slice).collect::<Vec<_>>());
        if number != version.number() || input.u32()? != expected {
            return Err(input.damaged("the header of the commit log is not what its checksum says"));
        }
        let parameters =
            parse(&parameters).ok_or_else(|| input.damaged("its parameters are no JSON object"))?;
        if parameters.enc_cipher.is_some() {
            return Err(input.unsupported(
                "the commit log is encrypted (transparent_data_encryption_options). Start its server once more, and \
                 `nodetool drain` it: then all its writes are in SSTables",
            ));
        }
        let compressor = match parameters.compression_class {
            None => None,
            Some(class) => Some(Compressor::of_class(&class, input)?),
        };
        Ok(Sections { id, compressor, start: 0, next: input.position(), logical: input.position() })
    }

    pub(super) fn id(&self) -> i64 {
        self.id
    }

    /// Returns where the present section begins in the file.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// Moves to the next section.
    pub(super) fn advance(&mut self, input: &mut Input) -> Result<Section, SstableError> {
        let end_of_all = Section::End { is_damaged: false };
        let position = self.next;
        self.start = position;
        if input.length().saturating_sub(position) < MARKER_BYTES {
            return Ok(end_of_all);
        }
        input.seek(position)?;
        let (end, sum) = (input.u32()?, input.u32()?);
        let (high, low) = halves(self.id);
        let place = u32::try_from(position).unwrap_or_default().to_be_bytes();
        if (end, sum) == (0, 0) {
            return Ok(end_of_all);
        }
        let end = u64::from(end);
        if sum != crc(&[&low, &high, &place]) || end < position + MARKER_BYTES {
            return Ok(Section::End { is_damaged: true });
        }
        self.next = end;
        let start = self.logical + MARKER_BYTES;
        let Some(compressor) = self.compressor else {
            self.logical = end;
            // Of a file that was cut, each record that is whole is taken.
            return Ok(Section::InFile { end: end.min(input.length()), is_cut: end > input.length() });
        };
        if end > input.length() || end < position + MARKER_BYTES + size_of::<u32>() as u64 {
            // The file was cut, or the server was stopped while it wrote the section.
            return Ok(Section::End { is_damaged: true });
        }
        let length = u64::from(input.u32()?);
        self.logical = start + length;
        let compressed = input.bytes(end.saturating_sub(input.position()))?;
        let content = decompressed(compressor, &compressed, length);
        Ok(content.map_or(Section::Damaged, |content| Section::Decompressed {
            content: Input::of_memory(input.path(), content),
            position: start,
        }))
    }
}

fn decompressed(compressor: Compressor, compressed: &[u8], length: u64) -> Option<Vec<u8>> {
    let length = usize::try_from(length).ok().filter(|length| *length <= SSTABLE_VALUE_BYTES_MAX)?;
    // A damaged length allocates no more than the compressed bytes can become.
    if length / compressor.growth_max() > compressed.len() {
        return None;
    }
    let mut content = vec![0; length];
    if length > 0 {
        compressor.decompress(compressed, &mut content).ok()?;
    }
    Some(content)
}

fn parse(parameters: &[u8]) -> Option<LogParameters> {
    if parameters.is_empty() {
        return Some(LogParameters::default());
    }
    serde_json::from_slice(parameters).ok()
}

/// Returns the two halves of an id. The checksums contain each as a number.
fn halves(id: i64) -> (Vec<u8>, Vec<u8>) {
    let bytes = id.to_be_bytes();
    let (high, low) = bytes.split_at(4);
    (high.to_vec(), low.to_vec())
}
