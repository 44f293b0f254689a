//! Compressed Data files (1.0 and later).
//!
//! ```text
//!   Data             chunk | checksum | chunk | checksum | ...       each checksum has four bytes
//!   CompressionInfo  compressor, options, bytes in a chunk, length of the content, number and offsets of chunks
//!   .. of 4.0        compressor, options, bytes in a chunk, bytes of a stored chunk, length, number, offsets
//! ```
//!
//! Every chunk but the last holds the same number of bytes, so the chunk of a position is found by division. A chunk of 4.0
//! with as many bytes as a stored chunk, or more, is the content itself: it did not compress well enough. If it is the last
//! one, zeros make it as long.

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
    /// 4.0 and later, and ScyllaDB.
    Zstd,
    /// Chunks with checksums and without compression (4.0 and later).
    Noop,
}

/// The beginning of a frame of Zstandard, and the bits of the byte behind it: the frame is one segment, and a dictionary is
/// needed.
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
const ZSTD_SINGLE_SEGMENT: u8 = 0x20;
const ZSTD_DICTIONARY: u8 = 0x03;
/// The smallest window of a frame as a power of two, and the largest one in bytes: decoders need not have more (RFC 8878).
const ZSTD_WINDOW_LOG_MIN: u32 = 10;
const ZSTD_WINDOW_BYTES_MAX: u64 = 8 << 20;

impl Compressor {
    /// Returns the compressor of a class that a file names. Fails if the releases that can be read did not have it.
    pub(crate) fn of_class(class: &str, file: &Input) -> Result<Compressor, SstableError> {
        match class.rsplit('.').next() {
            Some("SnappyCompressor") => Ok(Compressor::Snappy),
            Some("DeflateCompressor") => Ok(Compressor::Deflate),
            Some("LZ4Compressor") => Ok(Compressor::Lz4),
            Some("ZstdCompressor") => Ok(Compressor::Zstd),
            Some("NoopCompressor") => Ok(Compressor::Noop),
            Some(dictionary) if dictionary.contains("Dict") => Err(file.unsupported(format!(
                "the compressor {class} uses a dictionary, which is not supported: let the server rewrite its SSTables with \
                 another compressor"
            ))),
            _ => Err(file.unsupported(format!(
                "the compressor {class} is not supported: Snappy, Deflate, LZ4, Zstd and Noop are"
            ))),
        }
    }

    /// Returns the number of bytes that one byte can become, or more: 1,032 by Deflate, and by Zstd a block of 128 KB from four.
    pub(crate) fn growth_max(self) -> usize {
        if self == Compressor::Zstd { 1 << 15 } else { 1040 }
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
            Compressor::Zstd => {
                check_window(chunk, content.len())?;
                let mut decoder = ruzstd::decoding::FrameDecoder::new();
                decoder.decode_all(chunk, content).map_err(|error| error.to_string())?
            }
            Compressor::Noop => {
                content.iter_mut().zip(chunk).for_each(|(to, from)| *to = *from);
                chunk.len()
            }
        };
        if length == content.len() { Ok(()) } else { Err(other_length(length, content.len())) }
    }
}

/// Checks the window that a frame of Zstandard announces, which the decoder allocates: it is the content, or at most 8 MiB.
/// Returns why the frame is refused.
fn check_window(frame: &[u8], length: usize) -> Result<(), String> {
    let Some(([magic @ .., flags], rest)) = frame.split_first_chunk::<5>() else {
        return Err("it ends within its header".to_owned());
    };
    if *magic != ZSTD_MAGIC {
        return Err("it is not a frame of Zstandard".to_owned());
    }
    if flags & ZSTD_DICTIONARY != 0 {
        return Err("it needs a dictionary".to_owned());
    }
    let first = *rest.first().ok_or("it ends within its header")?;
    if flags & ZSTD_SINGLE_SEGMENT != 0 {
        // The size of the content, which is the window, has one, two, four or eight bytes; two bytes begin at 256.
        let size =
            rest.iter().take(1 << (flags >> 6)).rev().fold(0_u64, |size, byte| size << 8 | u64::from(*byte));
        let size = if flags >> 6 == 1 { size + 256 } else { size };
        return if size == length as u64 {
            Ok(())
        } else {
            Err(format!("it decompresses to {size} bytes instead of {length}"))
        };
    }
    let window = 1_u64 << (ZSTD_WINDOW_LOG_MIN + u32::from(first >> 3));
    let window = window + window / 8 * u64::from(first & 7);
    if window > ZSTD_WINDOW_BYTES_MAX {
        return Err(format!("its window has {window} bytes, and at most {ZSTD_WINDOW_BYTES_MAX} are read"));
    }
    Ok(())
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
    /// Bytes from which on a chunk is stored without compression.
    stored_length: usize,
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
        let stored_length = if format.has_stored_chunks { input.u32()? as usize } else { usize::MAX };
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
            stored_length,
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

    /// Returns whether no bytes follow the chunks. Those behind the last chunk that is read make its checksum wrong, and those
    /// behind an empty one do so here.
    pub(crate) fn ends_with_its_chunks(&mut self) -> bool {
        let expected = usize::try_from(self.length.div_ceil(self.chunk_length as u64)).unwrap_or(usize::MAX);
        self.offsets.len() <= expected || self.read(expected, &mut Vec::new()).is_ok()
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
        if compressed.len() >= self.stored_length {
            let Some(stored) = compressed.get(..content.len()) else {
                let found = compressed.len();
                return Err(format!(
                    "{place} is stored without compression, and has {found} bytes instead of {rest}"
                ));
            };
            content.copy_from_slice(stored);
        } else {
            let outcome = self.compressor.decompress(compressed, content);
            outcome.map_err(|why| format!("{place} cannot be decompressed: {why}"))?;
        }
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
        let zstd = ruzstd::encoding::compress_to_vec(&text[..], ruzstd::encoding::CompressionLevel::Fastest);
        for (class, chunk) in [
            ("SnappyCompressor", snappy),
            ("org.a.LZ4Compressor", lz4),
            ("org.a.DeflateCompressor", deflate),
            ("org.a.ZstdCompressor", zstd),
            ("org.a.NoopCompressor", text.clone()),
        ] {
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
        for (class, why) in [
            (
                "org.a.ZstdDictionaryCompressor",
                "the compressor org.a.ZstdDictionaryCompressor uses a dictionary",
            ),
            ("LZ4WithDictsCompressor", "the compressor LZ4WithDictsCompressor uses a dictionary"),
            (
                "com.b.EncryptingLZ4Compressor",
                "the compressor com.b.EncryptingLZ4Compressor is not supported",
            ),
        ] {
            let error = Compressor::of_class(class, &nameless()).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_frame_announces_no_more_than_the_chunk() {
        let frame = |flags: u8, rest: &[u8]| [&ZSTD_MAGIC[..], &[flags], rest].concat();
        for (frame, length, is_right) in [
            (frame(0x20, &[9]), 9, true),
            (frame(0x20, &[9]), 10, false),
            (frame(0x60, &[0, 1]), 512, true),
            (frame(0xA0, &[0, 0, 0, 1]), 1 << 24, true),
            (frame(0xE0, &[0, 0, 0, 0, 0, 0, 0, 1]), 1 << 24, false),
            (frame(0, &[0]), 100, true),
            (frame(0, &[0xFF]), 100, false),
            (frame(0, &[10 << 3]), 1 << 20, true),
            (frame(1, &[0]), 100, false),
            (frame(0, &[]), 100, false),
            (vec![1; 20], 100, false),
        ] {
            assert_eq!(check_window(&frame, length).is_ok(), is_right, "{frame:?}");
        }
    }
}
