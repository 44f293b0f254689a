//! Reads the text of a CQL statement, which may be compressed.

use std::io::Read;

use flate2::bufread::ZlibDecoder;

use base::util::meter::{self, MeterError};

/// The number of `Compression.GZIP`. It is a zlib stream.
const GZIP: i32 = 1;
/// The number of `Compression.NONE`.
pub const NOT_COMPRESSED: i32 = 2;

/// Bytes that are decompressed at a time.
const PIECE: usize = 64 * 1024;

/// Why a text cannot be decompressed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryTextError {
    /// The number names no compression.
    #[error("the query has an unknown compression")]
    UnknownCompression,
    /// The bytes are not a zlib stream. The message has the old servers' words.
    #[error("Error deflating query string.")]
    Damaged,
    /// The decompressed text exceeds the limit.
    #[error("the query is longer than {bytes_max} bytes after decompression")]
    TooLong {
        /// The longest allowed text, in bytes.
        bytes_max: usize,
    },
    /// The memory of the request does not suffice for the text.
    #[error(transparent)]
    Memory(#[from] MeterError),
}

/// Returns the text of a statement that was sent with the compression of this number. A text that is decompressed has at
/// most `bytes_max` bytes; its memory is charged to the request piece by piece.
///
/// # Errors
///
/// If the text cannot be decompressed.
pub fn query_text(sent: &[u8], compression: i32, bytes_max: usize) -> Result<Vec<u8>, QueryTextError> {
    match compression {
        GZIP => inflate(sent, bytes_max),
        NOT_COMPRESSED => Ok(sent.to_vec()),
        _ => Err(QueryTextError::UnknownCompression),
    }
}

fn inflate(compressed: &[u8], bytes_max: usize) -> Result<Vec<u8>, QueryTextError> {
    let mut text = Vec::new();
    let mut decoder = ZlibDecoder::new(compressed).take(bytes_max as u64 + 1);
    loop {
        // The list doubles when it grows.
        meter::charge(2 * PIECE.min(bytes_max + 1 - text.len()))?;
        let read = decoder.by_ref().take(PIECE as u64).read_to_end(&mut text);
        match read.map_err(|_| QueryTextError::Damaged)? {
            _ if text.len() > bytes_max => return Err(QueryTextError::TooLong { bytes_max }),
            0 => return Ok(text),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    const BYTES_MAX: usize = 100_000;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn compressed_text_is_decompressed() {
        for length in [0, 15, BYTES_MAX] {
            let text = vec![b'x'; length];
            assert_eq!(query_text(&compressed(&text), GZIP, BYTES_MAX), Ok(text));
        }
        assert_eq!(query_text(b"SELECT", 3, BYTES_MAX), Err(QueryTextError::UnknownCompression));
    }

    #[test]
    fn invalid_or_truncated_zlib_data_is_refused() {
        let whole = compressed(b"SELECT * FROM t");
        for bad in [&b"SELECT"[..], b"", &whole[..whole.len() - 6]] {
            assert_eq!(query_text(bad, GZIP, BYTES_MAX), Err(QueryTextError::Damaged), "{bad:?}");
        }
    }

    #[test]
    fn a_small_message_does_not_become_a_huge_text() {
        let longer = compressed(&[b' '; BYTES_MAX + 1]);
        assert_eq!(
            query_text(&longer, GZIP, BYTES_MAX),
            Err(QueryTextError::TooLong { bytes_max: BYTES_MAX })
        );
    }
}
