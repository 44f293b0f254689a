//! The file with the position up to which everything is acknowledged.
//!
//! ```text
//!   0   8  TSWQSENT
//!   8   4  format, 1
//!   12  8  the number of the first write that is not acknowledged
//!   20  8  the number of the write of the rule `Once` that is being sent; all bits 1 if there is none
//!   28  4  CRC-32 of the bytes before
//! ```
//!
//! It is overwritten in place, in one write, so a killed process leaves the old or the new bytes.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use bytes::{Buf, BufMut};

use super::failure::QueueError;

const MARK: &[u8; 8] = b"TSWQSENT";
const FORMAT: u32 = 1;
const BYTES: usize = 32;
const NONE: u64 = u64::MAX;

/// The position of the sender.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Position {
    /// The first write that is not acknowledged.
    pub acknowledged: u64,
    /// The write that is sent once, and whose answer had not come.
    pub begun: Option<u64>,
}

/// The file of a position.
#[derive(Debug)]
pub(super) struct PositionFile {
    path: PathBuf,
    file: File,
}

impl PositionFile {
    /// Opens the file. A new one has the position 0.
    pub(super) fn open(path: &Path) -> Result<(PositionFile, Position), QueueError> {
        let failed = |why| QueueError::io(path, why);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let opened = PositionFile { path: path.to_owned(), file: file.map_err(failed)? };
        let length = opened.file.metadata().map_err(failed)?.len();
        if length == 0 {
            opened.write(Position::default())?;
            return Ok((opened, Position::default()));
        }
        let mut bytes = [0; BYTES];
        let read = opened.file.read_at(&mut bytes, 0).map_err(failed)?;
        let position = decode(path, &bytes[..read])?;
        Ok((opened, position))
    }

    pub(super) fn write(&self, position: Position) -> Result<(), QueueError> {
        self.file.write_all_at(&encode(position), 0).map_err(|why| QueueError::io(&self.path, why))
    }
}

fn encode(position: Position) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    let mut out = bytes.as_mut_slice();
    out.put_slice(MARK);
    out.put_u32(FORMAT);
    out.put_u64(position.acknowledged);
    out.put_u64(position.begun.unwrap_or(NONE));
    let sum = crc32fast::hash(&bytes[..BYTES - 4]);
    bytes[BYTES - 4..].copy_from_slice(&sum.to_be_bytes());
    bytes
}

fn decode(path: &Path, bytes: &[u8]) -> Result<Position, QueueError> {
    let damaged = |why| QueueError::damaged(path, 0, why);
    let (fields, sum) = bytes.split_last_chunk::<4>().ok_or_else(|| damaged("it is cut off"))?;
    if bytes.len() != BYTES || !fields.starts_with(MARK) {
        return Err(damaged("it is not the position of a queue"));
    }
    if crc32fast::hash(fields) != u32::from_be_bytes(*sum) {
        return Err(damaged("its checksum is wrong"));
    }
    let mut fields = fields.get(MARK.len()..).unwrap_or_default();
    let found = fields.get_u32();
    if found != FORMAT {
        return Err(QueueError::OtherFormat { file: path.to_owned(), found, known: FORMAT });
    }
    let (acknowledged, begun) = (fields.get_u64(), fields.get_u64());
    Ok(Position { acknowledged, begun: (begun != NONE).then_some(begun) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_stored_and_damage_is_found() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("position");
        let (file, position) = PositionFile::open(&path).unwrap();
        assert_eq!(position, Position::default());
        for position in [
            Position { acknowledged: 7, begun: Some(7) },
            Position { acknowledged: u64::MAX - 1, begun: None },
        ] {
            file.write(position).unwrap();
            assert_eq!(PositionFile::open(&path).unwrap().1, position);
        }
        let whole = std::fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            std::fs::write(&path, &damaged).unwrap();
            assert!(PositionFile::open(&path).is_err(), "{at}");
            std::fs::write(&path, &whole[..at]).unwrap();
            assert!(at == 0 || PositionFile::open(&path).is_err(), "{at}");
        }
    }
}
