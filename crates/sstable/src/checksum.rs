//! Checksums of SSTable files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sha1::{Digest, Sha1};
use simd_adler32::Adler32;

use super::error::SstableError;
use super::format::ChecksumKind;
use base::util::hex;

/// Bytes that are read at a time for the checksum of a whole file.
const READ_BYTES: usize = 256 * 1024;

/// Longest digest component, in bytes: a SHA-1 in hex, two spaces and the name of a file.
const DIGEST_FILE_BYTES_MAX: u64 = 4096;

/// Returns the checksum of some bytes.
pub(super) fn checksum_of(kind: ChecksumKind, bytes: &[u8]) -> u32 {
    match kind {
        ChecksumKind::Crc32 => crc32fast::hash(bytes),
        ChecksumKind::Adler32 => simd_adler32::adler32(&bytes),
    }
}

/// The checksum in a digest component. Its form shows which it is, and its name does not: 2.1 writes Adler-32 into a
/// file named `Digest.sha1`.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FileDigest {
    Sha1(String),
    Number(u32),
}

impl FileDigest {
    /// Reads a digest component.
    pub(crate) fn read(path: &Path) -> Result<FileDigest, SstableError> {
        let mut text = String::new();
        let opened = File::open(path).map_err(SstableError::io_at(path))?;
        let read = opened.take(DIGEST_FILE_BYTES_MAX).read_to_string(&mut text);
        let parsed = read.ok().and_then(|_| FileDigest::parse(&text));
        parsed.ok_or_else(|| SstableError::damaged(path, 0, "it is not a checksum"))
    }

    fn parse(text: &str) -> Option<FileDigest> {
        let word = text.split_whitespace().next()?;
        if word.len() == 40 && word.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Some(FileDigest::Sha1(word.to_ascii_lowercase()));
        }
        word.parse().ok().map(FileDigest::Number)
    }

    /// Returns whether it is the checksum of a whole file, which is read. `numbers` is the kind of a number.
    pub(crate) fn is_of_file(&self, data: &Path, numbers: ChecksumKind) -> Result<bool, SstableError> {
        Ok(match self {
            FileDigest::Sha1(stored) => {
                let mut sha1 = Sha1::new();
                read_all(data, |bytes| sha1.update(bytes))?;
                hex(&sha1.finalize()) == *stored
            }
            FileDigest::Number(stored) => {
                let computed = match numbers {
                    ChecksumKind::Crc32 => {
                        let mut crc = crc32fast::Hasher::new();
                        read_all(data, |bytes| crc.update(bytes))?;
                        crc.finalize()
                    }
                    ChecksumKind::Adler32 => {
                        let mut adler = Adler32::new();
                        read_all(data, |bytes| adler.write(bytes))?;
                        adler.finish()
                    }
                };
                computed == *stored
            }
        })
    }
}

fn read_all(path: &Path, mut each: impl FnMut(&[u8])) -> Result<(), SstableError> {
    let mut file = File::open(path).map_err(SstableError::io_at(path))?;
    let mut buffer = vec![0; READ_BYTES];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => each(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(SstableError::io_at(path)(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_read_in_both_forms() {
        let sha1 = "DA39A3EE5E6B4B0D3255BFEF95601890AFD80709  Ks-Cf-ic-1-Data.db";
        let lower = "da39a3ee5e6b4b0d3255bfef95601890afd80709".to_owned();
        assert_eq!(FileDigest::parse(sha1), Some(FileDigest::Sha1(lower)));
        assert_eq!(FileDigest::parse("3735928559"), Some(FileDigest::Number(3_735_928_559)));
        assert_eq!(FileDigest::parse("x"), None);
        assert_eq!(FileDigest::parse(""), None);
    }

    #[test]
    fn a_changed_file_differs_from_its_digest() {
        let directory = tempfile::tempdir().unwrap();
        let (data, digest) = (directory.path().join("Data.db"), directory.path().join("Digest.sha1"));
        for (text, kind) in [
            ("7c4a8d09ca3762af61e59520943dc26494f8941b  Data.db", ChecksumKind::Crc32),
            ("158520161", ChecksumKind::Crc32),
            ("70123830", ChecksumKind::Adler32),
        ] {
            std::fs::write(&digest, text).unwrap();
            let is_of_file = || FileDigest::read(&digest).unwrap().is_of_file(&data, kind).unwrap();
            std::fs::write(&data, "123456").unwrap();
            assert!(is_of_file(), "{text}");
            std::fs::write(&data, "123457").unwrap();
            assert!(!is_of_file(), "{text}: the file is another one");
        }
    }
}
