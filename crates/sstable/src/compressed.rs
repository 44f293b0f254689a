//! Compressed Data files (1.0 and later).
//!
//! ```text
//!   Data             chunk | checksum | chunk | checksum | ...       each checksum has four bytes
//!   CompressionInfo  compressor, options, bytes in a chunk, length of the content, number and offsets of chunks
//! ```
//!
//! Every chunk but the last holds the same number of bytes, so the chunk of a position is found by division.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use simd_adler32::Adler32;

use super::checksum::checksum_of;
use super::error::SstableError;
use super::format::{ChecksumKind, Format};
use super::input::Input;
use crate::limits::{SSTABLE_CHUNK_BYTES_MAX, SSTABLE_COMPRESSION_OPTIONS_MAX};

/// Bytes of the checksum behind a chunk.
const CHECKSUM_BYTES: usize = 4;

/// A compressor that a release had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Compressor {
    Snappy,
    Deflate,
    Lz4,
}

impl Compressor {
    /// Returns the compressor of a class that a file names. Fails if the releases that can be read did not have it.
    pub(crate) fn of_class(class: &str, file: &Input) -> Result<Compressor, SstableError> {
        match class.rsplit('.').next() {
            Some("SnappyCompressor") => Ok(Compressor::Snappy),
            Some("DeflateCompressor") => Ok(Compressor::Deflate),
            Some("LZ4Compressor") => Ok(Compressor::Lz4),
            _ => Err(file.unsupported(format!(
                "the compressor {class} is not supported: Snappy, Deflate and LZ4 are"
            ))),
        }
    }

    /// Decompresses a chunk into `content`, which has the length of the result. Returns why it cannot.
    pub(crate) fn decompress(self, chunk: &[u8], content: &mut [u8]) -> Result<(), String> {
        let length = match self {
            Compressor::Snappy => {
                // Checked first, because the crate's error for a short buffer does not say what is wrong.
                let length = snap::raw::decompress_len(chunk).map_err(|error| error.to_string())?;
                if length != content.len() {
                    return Err(other_length(length, content.len()));
                }
                snap::raw::Decoder::new().decompress(chunk, content).map_err(|error| error.to_string())?
            }
            Compressor::Deflate => {
                let mut decoder = flate2::read::ZlibDecoder::new(chunk);
                decoder.read_exact(content).map_err(|error| error.to_string())?;
                // The end has the checksum of zlib, which is checked only when it is read.
                match decoder.read(&mut [0]) {
                    Ok(0) => content.len(),
                    Ok(_) => return Err("it has more content than the chunk".to_owned()),
                    Err(error) => return Err(error.to_string()),
                }
            }
            Compressor::Lz4 => {
                let (length, block) = chunk.split_first_chunk::<4>().ok_or("it has no length")?;
                let length = u32::from_le_bytes(*length) as usize;
                if length != content.len() {
                    return Err(other_length(length, content.len()));
                }
                lz4_flex::block::decompress_into(block, content).map_err(|error| error.to_string())?
            }
        };
        if length == content.len() { Ok(()) } else { Err(other_length(length, content.len())) }
    }
}

fn other_length(found: usize, expected: usize) -> String {
    format!("it decompresses to {found} bytes instead of {expected}")
}

/// A compressed file that is read in chunks.
#[derive(Debug)]
pub(super) struct CompressedFile {
    file: File,
    /// Length of the compressed file in bytes.
    file_length: u64,
    compressor: Compressor,
    checksum: ChecksumKind,
    checks_compressed_bytes: bool,
    offsets: Vec<u64>,
    /// Bytes that a chunk holds.
    pub chunk_length: usize,
    /// Length of the content in bytes.
    pub length: u64,
    compressed: Vec<u8>,
}

impl CompressedFile {
    /// Opens a Data file with its CompressionInfo.
    pub(crate) fn open(data: &Path, info: &Path, format: &Format) -> Result<CompressedFile, SstableError> {
        let file = File::open(data).map_err(SstableError::io_at(data))?;
        let file_length = file.metadata().map_err(SstableError::io_at(data))?.len();
        let mut input = Input::of_file(info)?;
        let class = input.utf()?;
        let compressor = Compressor::of_class(&class, &input)?;
        let options = input.i32()?;
        if !(0..=SSTABLE_COMPRESSION_OPTIONS_MAX).contains(&options) {
            return Err(input.damaged(format!("{options} options of the compressor")));
        }
        for _ in 0..options {
            input.utf()?;
            input.utf()?;
        }
        let chunk_length = input.i32()?;
        let chunk_length = usize::try_from(chunk_length)
            .ok()
            .filter(|length| (1..=SSTABLE_CHUNK_BYTES_MAX).contains(length))
            .ok_or_else(|| input.damaged(format!("chunks of {chunk_length} bytes")))?;
        let length = input.i64()?;
        let count = input.i32()?;
        let expected = u64::try_from(length).ok().map(|length| length.div_ceil(chunk_length as u64));
        let (Some(expected), Ok(count)) = (expected, u64::try_from(count)) else {
            return Err(input.damaged(format!("{count} chunks and {length} bytes of content")));
        };
        // An empty chunk can follow the last one, if the server flushed twice. Its offset is the end of the one before it.
        let has_all = (expected..=expected + 1).contains(&count) && (count > 0 || file_length == 0);
        if !has_all {
            return Err(input.damaged(format!("{count} chunks for {length} bytes of content")));
        }
        if count.saturating_mul(8) > input.remaining() {
            return Err(input.damaged(format!("it ends before the offsets of {count} chunks")));
        }
        let mut offsets = Vec::new();
        for _ in 0..count {
            offsets.push(input.u64()?);
        }
        if !offsets.is_sorted() {
            return Err(input.damaged("the offsets of chunks are not in order"));
        }
        Ok(CompressedFile {
            file,
            file_length,
            compressor,
            checksum: format.chunk_checksum,
            checks_compressed_bytes: format.checks_compressed_bytes,
            offsets,
            chunk_length,
            length: length.unsigned_abs(),
            compressed: Vec::new(),
        })
    }

    /// Reads a chunk with its checksum, as they are stored. Returns its place, for messages, or why it cannot be read.
    fn load(&mut self, chunk: usize) -> Result<String, String> {
        let start = *self.offsets.get(chunk).ok_or("there is no such chunk")?;
        let end = self.offsets.get(chunk + 1).copied().unwrap_or(self.file_length);
        let place = format!("chunk {chunk} at byte {start} of the compressed file");
        let span = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
        // Compressed bytes can be more than the content, but not by much.
        let is_possible = (CHECKSUM_BYTES..=2 * self.chunk_length + 1024).contains(&span);
        if !is_possible || end > self.file_length {
            return Err(format!("{place} has {span} bytes, and the file has {}", self.file_length));
        }
        self.compressed.resize(span, 0);
        let read = self.file.seek(SeekFrom::Start(start));
        match read.and_then(|_| self.file.read_exact(&mut self.compressed)) {
            Ok(()) => Ok(place),
            Err(error) => Err(format!("{place}: {error}")),
        }
    }

    /// Returns the Adler-32 of all chunks without their checksums. Returns why a chunk cannot be read.
    pub(crate) fn adler_of_chunks(&mut self) -> Result<u32, String> {
        let mut adler = Adler32::new();
        for chunk in 0..self.offsets.len() {
            self.load(chunk)?;
            if let Some((compressed, _)) = self.compressed.split_last_chunk::<CHECKSUM_BYTES>() {
                adler.write(compressed);
            }
        }
        Ok(adler.finish())
    }

    /// Reads the content of a chunk into `content` and checks it. Returns why it cannot be read.
    pub(crate) fn read(&mut self, chunk: usize, content: &mut Vec<u8>) -> Result<(), String> {
        let place = self.load(chunk)?;
        let before = (chunk as u64).saturating_mul(self.chunk_length as u64);
        let rest = self.length.saturating_sub(before).min(self.chunk_length as u64);
        content.clear();
        content.resize(usize::try_from(rest).unwrap_or_default(), 0);
        let Some((compressed, stored)) = self.compressed.split_last_chunk::<CHECKSUM_BYTES>() else {
            return Err(format!("{place} has no checksum"));
        };
        let stored = u32::from_be_bytes(*stored);
        if self.checks_compressed_bytes && checksum_of(self.checksum, compressed) != stored {
            return Err(format!("the checksum of {place} is wrong"));
        }
        let outcome = self.compressor.decompress(compressed, content);
        outcome.map_err(|why| format!("{place} cannot be decompressed: {why}"))?;
        if !self.checks_compressed_bytes && checksum_of(self.checksum, content) != stored {
            return Err(format!("the checksum of {place} is wrong"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nameless() -> Input {
        Input::of_memory(Path::new(""), Vec::new())
    }

    #[test]
    fn chunks_of_all_compressors_are_read_and_other_bytes_refused() {
        let text = b"the quick brown fox the quick brown fox the quick brown fox".repeat(20);
        let snappy = snap::raw::Encoder::new().compress_vec(&text).unwrap();
        let mut lz4 = u32::try_from(text.len()).unwrap().to_le_bytes().to_vec();
        lz4.extend(lz4_flex::block::compress(&text));
        let mut deflate = Vec::new();
        let mut encoder = flate2::read::ZlibEncoder::new(&text[..], flate2::Compression::default());
        encoder.read_to_end(&mut deflate).unwrap();
        for (class, chunk) in
            [("SnappyCompressor", snappy), ("org.a.LZ4Compressor", lz4), ("org.a.DeflateCompressor", deflate)]
        {
            let compressor = Compressor::of_class(class, &nameless()).unwrap();
            let mut content = vec![0; text.len()];
            compressor.decompress(&chunk, &mut content).unwrap();
            assert_eq!(content, text);
            for length in [text.len() - 1, text.len() + 1, 0] {
                compressor.decompress(&chunk, &mut vec![0; length]).expect_err("another length");
            }
            for cut in 0..chunk.len() {
                // A chunk that is cut may still have the whole content: its checksum tells.
                let _ = compressor.decompress(&chunk[..cut], &mut content);
            }
            for at in 0..chunk.len() {
                let mut changed = chunk.clone();
                changed[at] ^= 0x41;
                let _ = compressor.decompress(&changed, &mut content);
            }
        }
        assert!(Compressor::of_class("org.a.ZstdCompressor", &nameless()).is_err());
    }
}
