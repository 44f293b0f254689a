//! The text of a statement as it comes in a call: plain or packed.

use std::io::Read;

use bytes::Bytes;
use flate2::bufread::ZlibDecoder;

use super::args::Args;
use super::failure::Failure;
use crate::db;
use crate::util::limits::STATEMENT_BYTES_MAX;

/// The numbers of the interface's Compression. Its GZIP is a stream of zlib's.
const GZIP: i32 = 1;
const NONE: i32 = 2;

/// The text in arguments 1 and 2 of a CQL call.
pub fn query_text(args: &Args<'_>) -> Result<String, Failure> {
    let packed = args.bytes(1)?;
    let unpacked = match args.required(2)?.i32()? {
        GZIP => inflate(&packed)?,
        NONE => packed.into(),
        // The old servers read a number that they do not know as nothing at all.
        _ => return Err(args.missing(2)),
    };
    String::from_utf8(unpacked).map_err(|_| db::Error::invalid("Input length = 1").into())
}

fn inflate(packed: &Bytes) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let limit = STATEMENT_BYTES_MAX as u64 + 1;
    if ZlibDecoder::new(&packed[..]).take(limit).read_to_end(&mut text).is_err() {
        return Err(db::Error::invalid("Error deflating query string.").into());
    }
    if text.len() > STATEMENT_BYTES_MAX {
        let text = format!("the query is longer than {STATEMENT_BYTES_MAX} bytes when it is unpacked");
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

    fn packed(text: &[u8]) -> Bytes {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap().into()
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        assert_eq!(inflate(&packed(b"SELECT * FROM t")).unwrap(), b"SELECT * FROM t");
    }

    #[test]
    fn what_is_not_zlib_or_not_whole_is_refused() {
        let whole = packed(b"SELECT * FROM t");
        for bad in [Bytes::from_static(b"SELECT"), Bytes::new(), whole.slice(..whole.len() - 6)] {
            let Err(Failure::Failed(error)) = inflate(&bad) else { unreachable!("{bad:?} was unpacked") };
            assert_eq!(error.to_string(), "Error deflating query string.");
        }
    }

    #[test]
    fn a_small_message_does_not_become_a_huge_text() {
        let Err(Failure::Failed(error)) = inflate(&packed(&vec![b' '; STATEMENT_BYTES_MAX + 1])) else {
            unreachable!("it was unpacked")
        };
        assert!(error.to_string().contains("longer than"), "{error}");
    }
}
