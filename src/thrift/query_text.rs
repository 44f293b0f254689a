//! Reads the text of a CQL statement, which may be compressed.

use std::io::{self, Read};

use bytes::Bytes;
use flate2::bufread::ZlibDecoder;

use super::args::Args;
use super::failure::Failure;
use crate::db;
use crate::util::limits::STATEMENT_BYTES_MAX;

/// The numbers of the interface's `Compression`. GZIP is a zlib stream.
const GZIP: i32 = 1;
const NONE: i32 = 2;

/// Returns the text in arguments 1 and 2 of a CQL call.
pub fn query_text(args: &Args<'_>) -> Result<String, Failure> {
    let compressed = args.bytes(1)?;
    let decompressed = match args.required(2)?.i32()? {
        GZIP => inflate(&compressed)?,
        NONE => compressed.into(),
        // Old servers treat an unknown number as a missing argument.
        _ => return Err(args.missing(2)),
    };
    String::from_utf8(decompressed).map_err(|_| db::Error::invalid("Input length = 1").into())
}

/// Returns the text of a statement that was sent with the compression of this number; `None` if it cannot be
/// decompressed.
pub fn decompressed(text: &[u8], compression: i32) -> Option<Vec<u8>> {
    match compression {
        GZIP => read_zlib(text).ok().filter(|text| text.len() <= STATEMENT_BYTES_MAX),
        _ => Some(text.to_vec()),
    }
}

/// Decompresses up to one byte more than a statement may have.
fn read_zlib(compressed: &[u8]) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    let limit = STATEMENT_BYTES_MAX as u64 + 1;
    ZlibDecoder::new(compressed).take(limit).read_to_end(&mut text)?;
    Ok(text)
}

fn inflate(compressed: &Bytes) -> Result<Vec<u8>, Failure> {
    let Ok(text) = read_zlib(compressed) else {
        return Err(db::Error::invalid("Error deflating query string.").into());
    };
    if text.len() > STATEMENT_BYTES_MAX {
        let text = format!("the query is longer than {STATEMENT_BYTES_MAX} bytes after decompression");
        return Err(db::Error::invalid(text).into());
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    fn compressed(text: &[u8]) -> Bytes {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap().into()
    }

    #[test]
    fn compressed_text_is_decompressed() {
        assert_eq!(inflate(&compressed(b"SELECT * FROM t")).unwrap(), b"SELECT * FROM t");
    }

    #[test]
    fn invalid_or_truncated_zlib_data_is_refused() {
        let whole = compressed(b"SELECT * FROM t");
        for bad in [Bytes::from_static(b"SELECT"), Bytes::new(), whole.slice(..whole.len() - 6)] {
            let Err(Failure::Failed(error)) = inflate(&bad) else { unreachable!("{bad:?} was decompressed") };
            assert_eq!(error.to_string(), "Error deflating query string.");
        }
    }

    #[test]
    fn a_small_message_does_not_become_a_huge_text() {
        let Err(Failure::Failed(error)) = inflate(&compressed(&vec![b' '; STATEMENT_BYTES_MAX + 1])) else {
            unreachable!("it was decompressed")
        };
        assert!(error.to_string().contains("longer than"), "{error}");
    }
}
