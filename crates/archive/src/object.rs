//! The form of all objects except tables.
//!
//! ```text
//!   "thriftar" | u32 1 | u8 kind, B F or L | u32 bytes of the header | u32 bytes of the body
//!   | LZ4 block of the header, which is JSON, and the body | u64 XXH3 of everything before
//! ```
//!
//! Numbers are big-endian.

use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

use crate::{ArchiveError, Result};

const MAGIC: &[u8; 8] = b"thriftar";
/// The version of the format.
const VERSION: u32 = 1;
/// Bytes before the compressed ones.
const HEAD: usize = 8 + 4 + 1 + 4 + 4;
const SUM: usize = 8;
/// Largest header or body, in bytes. A part of the log has at most 16 MiB; the list of tables of a full backup is limited
/// by the number of tables.
const BYTES_MAX: usize = 1 << 30;

/// The kind of an object, which its contents say, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ObjectKind {
    Begin = b'B' as isize,
    Full = b'F' as isize,
    Log = b'L' as isize,
}

/// Encodes an object.
pub(crate) fn encode(kind: ObjectKind, header: &impl Serialize, body: &[u8]) -> Result<Vec<u8>> {
    let unwritable =
        |why: String| ArchiveError::Refused(format!("an object of the archive cannot be written: {why}"));
    let mut content = serde_json::to_vec(header).map_err(|error| unwritable(error.to_string()))?;
    let lengths = [content.len(), body.len()];
    content.extend_from_slice(body);
    let mut object = MAGIC.to_vec();
    object.extend_from_slice(&VERSION.to_be_bytes());
    object.push(kind as u8);
    for length in lengths {
        let length = u32::try_from(length).ok().filter(|_| length <= BYTES_MAX);
        object
            .extend_from_slice(&length.ok_or_else(|| unwritable("it is too long".to_owned()))?.to_be_bytes());
    }
    object.extend_from_slice(&lz4_flex::block::compress(&content));
    object.extend_from_slice(&xxh3_64(&object).to_be_bytes());
    Ok(object)
}

/// Decodes an object. Returns its header and its body.
///
/// # Errors
/// `Damaged`, with the name of the object.
pub(crate) fn decode<H: DeserializeOwned>(
    name: &str,
    kind: ObjectKind,
    object: &[u8],
) -> Result<(H, Vec<u8>)> {
    let damaged = |why: &str| ArchiveError::damaged(name, why);
    let (summed, sum) = object.split_last_chunk::<SUM>().ok_or_else(|| damaged("it is too short"))?;
    let (head, compressed) = summed.split_at_checked(HEAD).ok_or_else(|| damaged("it is too short"))?;
    if !head.starts_with(MAGIC) {
        return Err(damaged("it does not begin as an object of an archive"));
    }
    let number = |at: usize| {
        head.get(at..at + 4).map_or(0, |bytes| bytes.iter().fold(0, |n, b| n << 8 | usize::from(*b)))
    };
    if xxh3_64(summed).to_be_bytes() != *sum {
        return Err(damaged("its checksum does not match"));
    }
    if number(8) != VERSION as usize {
        let why = format!("it has version {} of the format, and this program reads {VERSION}", number(8));
        return Err(damaged(&why));
    }
    if head.get(12) != Some(&(kind as u8)) {
        return Err(damaged("it is an object of another kind"));
    }
    let (header, body) = (number(13), number(17));
    if header > BYTES_MAX || body > BYTES_MAX {
        return Err(damaged("it is too long"));
    }
    let content = lz4_flex::block::decompress(compressed, header + body);
    let mut content = content.map_err(|error| damaged(&format!("it cannot be decompressed ({error})")))?;
    if content.len() != header + body {
        return Err(damaged("it is shorter than its head says"));
    }
    let body = content.split_off(header);
    let header = serde_json::from_slice(&content).map_err(|error| damaged(&error.to_string()))?;
    Ok((header, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_changed_or_missing_byte_is_damage() {
        let object = encode(ObjectKind::Log, &("header", 7), &[9; 100]).unwrap();
        let read = |object: &[u8]| decode::<(String, u8)>("log/1", ObjectKind::Log, object);
        assert_eq!(read(&object).unwrap(), (("header".to_owned(), 7), vec![9; 100]));
        for at in 0..object.len() {
            let mut changed = object.clone();
            changed[at] ^= 0x10;
            let error = read(&changed).unwrap_err().to_string();
            assert!(error.starts_with("log/1 is damaged: "), "byte {at}: {error}");
            assert!(read(&object[..at]).is_err(), "{at} bytes");
        }
        let other = decode::<(String, u8)>("log/1", ObjectKind::Full, &object).unwrap_err().to_string();
        assert!(other.contains("another kind"), "{other}");
    }
}
