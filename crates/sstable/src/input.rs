//! Reads values from files of old servers: numbers in big-endian order, texts and bytes with their lengths, and the
//! variable-length integers of 3.x.
//!
//! The content of a file is read block by block. A block of a compressed file is a chunk. No length that a file
//! specifies is allocated before as many bytes are known to follow.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::checksum::checksum_of;
use super::compressed::CompressedFile;
use super::error::SstableError;
use super::format::ChecksumKind;
use crate::limits::{SSTABLE_CHUNK_BYTES_MAX, SSTABLE_VALUE_BYTES_MAX};

/// Bytes of a block of a file without checksums of blocks.
const BLOCK_BYTES: usize = 64 * 1024;

/// The checksums of the blocks of an uncompressed file.
#[derive(Debug)]
struct BlockSums {
    kind: ChecksumKind,
    sums: Vec<u32>,
}

/// Where blocks come from.
#[derive(Debug)]
enum BlockSource {
    Plain {
        file: File,
        block_bytes: usize,
        sums: Option<BlockSums>,
    },
    Compressed(Box<CompressedFile>),
    /// The content is in memory, as one block.
    Memory,
}

/// A position in the content of a file.
#[derive(Debug)]
pub(super) struct Input {
    path: Arc<Path>,
    blocks: BlockSource,
    /// Length of the content in bytes.
    length: u64,
    /// The content from `block_start` on.
    block: Vec<u8>,
    block_start: u64,
    /// The position in `block`.
    at: usize,
    /// The last block that could not be read, with the reason. When the next row is searched behind damage, many
    /// positions of one block are tried.
    unreadable: Option<(u64, String)>,
}

impl Input {
    /// Opens a file without compression and checksums.
    pub(crate) fn of_file(path: &Path) -> Result<Input, SstableError> {
        let file = File::open(path).map_err(SstableError::io_at(path))?;
        let length = file.metadata().map_err(SstableError::io_at(path))?.len();
        Ok(Input::over(path, BlockSource::Plain { file, block_bytes: BLOCK_BYTES, sums: None }, length))
    }

    /// Opens a Data file whose blocks have their checksums in the file `crc`.
    pub(crate) fn with_block_sums(
        path: &Path,
        crc: &Path,
        kind: ChecksumKind,
    ) -> Result<Input, SstableError> {
        let mut input = Input::of_file(path)?;
        let mut stored = Input::of_file(crc)?;
        let bytes = stored.i32()?;
        let block_bytes = usize::try_from(bytes)
            .ok()
            .filter(|bytes| (1..=SSTABLE_CHUNK_BYTES_MAX).contains(bytes))
            .ok_or_else(|| stored.damaged(format!("blocks of {bytes} bytes")))?;
        let mut sums = Vec::new();
        while stored.remaining() > 0 {
            sums.push(stored.u32()?);
        }
        if (sums.len() as u64) < input.length.div_ceil(block_bytes as u64) {
            let why = format!("{} checksums of blocks, and the Data file has more", sums.len());
            return Err(stored.damaged(why));
        }
        if let BlockSource::Plain { file, .. } = input.blocks {
            input.blocks = BlockSource::Plain { file, block_bytes, sums: Some(BlockSums { kind, sums }) };
        }
        Ok(input)
    }

    /// Returns whether each block that is read is compared with a checksum.
    pub(crate) fn has_sums(&self) -> bool {
        match &self.blocks {
            BlockSource::Plain { sums, .. } => sums.is_some(),
            BlockSource::Compressed(_) => true,
            BlockSource::Memory => false,
        }
    }

    /// Returns whether each byte of the file is in a block with a checksum, and each checksum has its block: the file is
    /// whole if all of them are right.
    pub(crate) fn is_covered_by_sums(&mut self) -> bool {
        match &mut self.blocks {
            BlockSource::Plain { block_bytes, sums: Some(BlockSums { kind, sums }), .. } => {
                let blocks = usize::try_from(self.length.div_ceil(*block_bytes as u64)).unwrap_or(usize::MAX);
                // A server that flushed twice has written a checksum of no bytes at the end.
                sums.get(blocks..).is_some_and(|more| more.iter().all(|sum| *sum == checksum_of(*kind, &[])))
            }
            BlockSource::Compressed(file) => file.ends_with_its_chunks(),
            BlockSource::Plain { .. } | BlockSource::Memory => false,
        }
    }

    /// Returns the Adler-32 of all chunks of a compressed file without their checksums. `None` for other files, and if a
    /// chunk cannot be read.
    pub(crate) fn adler_of_chunks(&mut self) -> Option<u32> {
        match &mut self.blocks {
            BlockSource::Compressed(file) => file.adler_of_chunks().ok(),
            BlockSource::Plain { .. } | BlockSource::Memory => None,
        }
    }

    /// Returns whether the content is as long as the file. Another file has the length of compressed content.
    pub(crate) fn is_as_long_as_file(&self) -> bool {
        !matches!(self.blocks, BlockSource::Compressed(_))
    }

    /// Reads on without the checksums of blocks.
    pub(crate) fn forget_block_sums(&mut self) {
        if let BlockSource::Plain { sums, .. } = &mut self.blocks {
            (*sums, self.unreadable) = (None, None);
        }
    }

    /// Reads the content of a compressed file.
    pub(crate) fn of_compressed(path: &Path, file: CompressedFile) -> Input {
        let length = file.length;
        Input::over(path, BlockSource::Compressed(Box::new(file)), length)
    }

    /// Reads bytes that are in memory. Errors have the path.
    pub(crate) fn of_memory(path: &Path, content: Vec<u8>) -> Input {
        let length = content.len() as u64;
        Input { block: content, ..Input::over(path, BlockSource::Memory, length) }
    }

    fn over(path: &Path, blocks: BlockSource, length: u64) -> Input {
        Input {
            path: Arc::from(path),
            blocks,
            length,
            block: Vec::new(),
            block_start: 0,
            at: 0,
            unreadable: None,
        }
    }

    /// Returns the position in the content.
    pub(crate) fn position(&self) -> u64 {
        self.block_start + self.at as u64
    }

    /// Returns the number of bytes up to the end of the content.
    pub(crate) fn remaining(&self) -> u64 {
        self.length.saturating_sub(self.position())
    }

    /// Returns the length of the content.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Returns the error of damage at the present position.
    pub(crate) fn damaged(&self, why: impl Into<String>) -> SstableError {
        SstableError::damaged(&self.path, self.position(), why)
    }

    /// Returns the error of a file that cannot be read by this release.
    pub(crate) fn unsupported(&self, why: impl Into<String>) -> SstableError {
        SstableError::unsupported(&self.path, why)
    }

    /// Returns the path, which errors have.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Moves to a position. Fails if it is after the end.
    pub(crate) fn seek(&mut self, position: u64) -> Result<(), SstableError> {
        if position > self.length {
            let why = format!("position {position} is after the end at {}", self.length);
            return Err(self.damaged(why));
        }
        match position.checked_sub(self.block_start).and_then(|at| usize::try_from(at).ok()) {
            Some(at) if at <= self.block.len() => self.at = at,
            _ => {
                self.block.clear();
                self.block_start = position;
                self.at = 0;
            }
        }
        Ok(())
    }

    /// Skips bytes.
    pub(crate) fn skip(&mut self, count: u64) -> Result<(), SstableError> {
        if count > self.remaining() {
            return Err(self.ends_early(count));
        }
        self.seek(self.position() + count)
    }

    fn ends_early(&self, count: u64) -> SstableError {
        self.damaged(format!("{count} bytes should follow, and {} do", self.remaining()))
    }

    /// Reads the block of the present position.
    fn load(&mut self) -> Result<(), SstableError> {
        let position = self.position();
        let size = match &self.blocks {
            BlockSource::Plain { block_bytes, .. } => *block_bytes,
            BlockSource::Compressed(file) => file.chunk_length,
            BlockSource::Memory => return Err(self.damaged("the content ends early")),
        };
        let number = position / size as u64;
        let start = number * size as u64;
        if let Some((_, why)) = self.unreadable.as_ref().filter(|(place, _)| *place == start) {
            return Err(SstableError::damaged(&self.path, start, why.clone()));
        }
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        let read = match &mut self.blocks {
            BlockSource::Plain { file, sums, .. } => {
                let length = self.length.saturating_sub(start).min(size as u64);
                self.block.resize(usize::try_from(length).unwrap_or_default(), 0);
                let read = file.seek(SeekFrom::Start(start)).and_then(|_| file.read_exact(&mut self.block));
                read.map_err(|error| error.to_string()).and_then(|()| match sums {
                    Some(sums) => sums.check(index, &self.block),
                    None => Ok(()),
                })
            }
            BlockSource::Compressed(file) => file.read(index, &mut self.block),
            BlockSource::Memory => Ok(()),
        };
        if let Err(why) = read {
            self.block.clear();
            (self.block_start, self.at) = (position, 0);
            self.unreadable = Some((start, why.clone()));
            return Err(SstableError::damaged(&self.path, start, why));
        }
        self.block_start = start;
        self.at = usize::try_from(position - start).unwrap_or_default();
        Ok(())
    }

    /// Returns bytes of the present block, at least one and at most `count`, and moves behind them.
    fn some(&mut self, count: usize) -> Result<&[u8], SstableError> {
        if self.at >= self.block.len() {
            self.load()?;
        }
        let end = self.at.saturating_add(count).min(self.block.len());
        let found = self.block.get(self.at..end).unwrap_or_default();
        self.at = end;
        if found.is_empty() {
            return Err(SstableError::damaged(&self.path, self.block_start, "the block is too short"));
        }
        Ok(found)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], SstableError> {
        if let Some(found) = self.block.get(self.at..).and_then(|rest| rest.first_chunk::<N>()) {
            let found = *found;
            self.at += N;
            return Ok(found);
        }
        if self.remaining() < N as u64 {
            return Err(self.ends_early(N as u64));
        }
        let mut found = [0; N];
        let mut filled = 0;
        while let Some(rest) = found.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            let bytes = self.some(rest.len())?;
            rest.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            filled += bytes.len();
        }
        Ok(found)
    }

    /// Reads an unsigned byte.
    pub(crate) fn u8(&mut self) -> Result<u8, SstableError> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    /// Reads an unsigned number of two bytes.
    pub(crate) fn u16(&mut self) -> Result<u16, SstableError> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    /// Reads a signed number of four bytes.
    pub(crate) fn i32(&mut self) -> Result<i32, SstableError> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// Reads an unsigned number of four bytes.
    pub(crate) fn u32(&mut self) -> Result<u32, SstableError> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    /// Reads a signed number of eight bytes.
    pub(crate) fn i64(&mut self) -> Result<i64, SstableError> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    /// Reads an unsigned number of eight bytes.
    pub(crate) fn u64(&mut self) -> Result<u64, SstableError> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    /// Reads an unsigned variable-length number (3.x). The leading one bits of the first byte are the number of bytes
    /// after it; its other bits are the highest of the number.
    pub(crate) fn vint(&mut self) -> Result<u64, SstableError> {
        let first = self.u8()?;
        let more = first.leading_ones();
        let mut value = u64::from(first) & (0xFF_u64 >> more);
        for _ in 0..more {
            value = value << 8 | u64::from(self.u8()?);
        }
        Ok(value)
    }

    /// Reads bytes.
    pub(crate) fn bytes(&mut self, count: u64) -> Result<Bytes, SstableError> {
        if count > self.remaining() {
            return Err(self.ends_early(count));
        }
        let count = match usize::try_from(count) {
            Ok(count) if count <= SSTABLE_VALUE_BYTES_MAX => count,
            _ => {
                let why = format!("a value of {count} bytes; at most {SSTABLE_VALUE_BYTES_MAX} are read");
                return Err(self.damaged(why));
            }
        };
        let mut found = Vec::with_capacity(count);
        while found.len() < count {
            let bytes = self.some(count - found.len())?;
            found.extend_from_slice(bytes);
        }
        Ok(Bytes::from(found))
    }

    /// Reads bytes whose length has two bytes before them: keys and names.
    pub(crate) fn short_bytes(&mut self) -> Result<Bytes, SstableError> {
        let length = self.u16()?;
        self.bytes(u64::from(length))
    }

    /// Reads bytes whose length has four bytes before them: values.
    pub(crate) fn int_bytes(&mut self) -> Result<Bytes, SstableError> {
        let length = self.i32()?;
        match u64::try_from(length) {
            Ok(length) => self.bytes(length),
            Err(_) => Err(self.damaged(format!("a value of {length} bytes"))),
        }
    }

    /// Reads bytes whose length is a variable-length number (3.x).
    pub(crate) fn vint_bytes(&mut self) -> Result<Bytes, SstableError> {
        let length = self.vint()?;
        self.bytes(length)
    }

    /// Reads a text as Java's `writeUTF` writes it. Bytes that are not text are replaced, since only names of classes
    /// and options are read.
    pub(crate) fn utf(&mut self) -> Result<String, SstableError> {
        Ok(String::from_utf8_lossy(&self.short_bytes()?).into_owned())
    }
}

impl BlockSums {
    fn check(&self, index: usize, block: &[u8]) -> Result<(), String> {
        match self.sums.get(index) {
            Some(sum) if *sum == checksum_of(self.kind, block) => Ok(()),
            Some(_) => Err(format!("the checksum of the block of {} bytes is wrong", block.len())),
            None => Err("the block has no checksum".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(content: &[u8]) -> Input {
        Input::of_memory(Path::new("memory"), content.to_vec())
    }

    #[test]
    fn variable_length_numbers_are_read() {
        let cases: [(&[u8], u64); 6] = [
            (&[0x00], 0),
            (&[0x7F], 127),
            (&[0x80, 0x80], 128),
            (&[0xBF, 0xFF], 16_383),
            (&[0xC0, 0x40, 0x00], 16_384),
            (&[0xFF; 9], u64::MAX),
        ];
        for (bytes, expected) in cases {
            assert_eq!(over(bytes).vint().unwrap(), expected);
            over(&bytes[..bytes.len() - 1]).vint().expect_err("it is cut");
        }
    }

    #[test]
    fn lengths_beyond_the_end_are_refused() {
        over(&[0x7F, 0xFF, 0xFF, 0xFF, 1]).int_bytes().expect_err("too long");
        over(&[0xFF, 0xFF, 0xFF, 0xFF, 1]).int_bytes().expect_err("negative");
        over(&[0, 3, 1, 2]).short_bytes().expect_err("too long");
        over(&[0xFF; 9]).vint_bytes().expect_err("too long");
        let mut input = over(&[1, 2, 3]);
        input.skip(4).expect_err("too far");
        input.skip(3).unwrap();
        assert_eq!(input.remaining(), 0);
        input.u8().expect_err("at the end");
        input.seek(1).unwrap();
        assert_eq!(input.u16().unwrap(), 0x0203);
    }

    #[test]
    fn values_across_blocks_are_read_and_changed_blocks_refused() {
        let directory = tempfile::tempdir().unwrap();
        let (data, crc) = (directory.path().join("Data.db"), directory.path().join("CRC.db"));
        let content: Vec<u8> = (0..100).collect();
        let mut sums = 7i32.to_be_bytes().to_vec();
        content.chunks(7).for_each(|block| sums.extend(crc32fast::hash(block).to_be_bytes()));
        std::fs::write(&data, &content).unwrap();
        std::fs::write(&crc, &sums).unwrap();
        let open = || Input::with_block_sums(&data, &crc, ChecksumKind::Crc32).unwrap();
        let mut input = open();
        input.seek(3).unwrap();
        assert_eq!(input.u64().unwrap(), u64::from_be_bytes([3, 4, 5, 6, 7, 8, 9, 10]));
        assert_eq!(input.bytes(50).unwrap(), &content[11..61]);
        assert_eq!(input.bytes(39).unwrap(), &content[61..]);
        for at in 0..content.len() {
            let mut changed = content.clone();
            changed[at] ^= 1;
            std::fs::write(&data, &changed).unwrap();
            let error = open().bytes(100).expect_err("a block is changed");
            assert!(
                matches!(error, SstableError::Damaged(damage) if damage.offset == Some(at as u64 / 7 * 7))
            );
        }
        std::fs::write(&crc, &sums[..sums.len() - 1]).unwrap();
        Input::with_block_sums(&data, &crc, ChecksumKind::Crc32).expect_err("the checksums are cut");
    }
}
