//! Compression of bodies, which STARTUP selects.

use bytes::{BufMut, Bytes, BytesMut};

use super::body_error::BodyError;
use base::util::{allocation, meter};

/// The compression of a connection's bodies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// The decompressed length as u32, then a block.
    Lz4,
    /// A block without framing.
    Snappy,
}

impl Compression {
    /// The names that SUPPORTED lists.
    pub const NAMES: [&str; 2] = ["lz4", "snappy"];

    /// Returns the compression with a name in lower case.
    pub fn named(name: &str) -> Option<Compression> {
        match name {
            "lz4" => Some(Compression::Lz4),
            "snappy" => Some(Compression::Snappy),
            _ => None,
        }
    }

    /// Returns the decompressed body, of at most `bytes_max` bytes. Its memory is charged to the request before it is
    /// allocated.
    pub fn decompress(self, body: &Bytes, bytes_max: usize) -> Result<Bytes, BodyError> {
        let failed = || BodyError::protocol("a compressed body cannot be decompressed");
        let check = |length: usize| {
            if length <= bytes_max { Ok(length) } else { Err(BodyError::TooLong { length, bytes_max }) }
        };
        match self {
            Compression::Lz4 => {
                let (length, block) = body.split_first_chunk::<4>().ok_or_else(failed)?;
                let length = check(u32::from_be_bytes(*length) as usize)?;
                // A block of LZ4 expands 255-fold at most: an impossible length reserves no memory.
                if length > block.len().saturating_mul(255) {
                    return if length == 0 { Ok(Bytes::new()) } else { Err(failed()) };
                }
                if length == 0 {
                    return Ok(Bytes::new());
                }
                let mut decompressed = charged(length)?;
                let found =
                    lz4_flex::block::decompress_into(block, &mut decompressed).map_err(|_| failed())?;
                if found == length { Ok(decompressed.into()) } else { Err(failed()) }
            }
            Compression::Snappy => {
                let length = check(snap::raw::decompress_len(body).map_err(|_| failed())?)?;
                // Snappy expands 64-fold at most: three bytes stand for 64.
                if length > body.len().saturating_mul(64) {
                    return Err(failed());
                }
                let mut decompressed = charged(length)?;
                snap::raw::Decoder::new().decompress(body, &mut decompressed).map_err(|_| failed())?;
                Ok(decompressed.into())
            }
        }
    }

    /// Returns the compressed body; `None` if it would not be shorter.
    pub fn compress(self, body: &[u8]) -> Option<Bytes> {
        let compressed = match self {
            Compression::Lz4 => {
                let mut compressed = BytesMut::new();
                compressed.put_u32(u32::try_from(body.len()).ok()?);
                compressed.put_slice(&lz4_flex::block::compress(body));
                compressed.freeze()
            }
            Compression::Snappy => snap::raw::Encoder::new().compress_vec(body).ok()?.into(),
        };
        (compressed.len() < body.len()).then_some(compressed)
    }
}

/// Charges memory to the request, and allocates it.
fn charged(bytes: usize) -> Result<Vec<u8>, BodyError> {
    meter::charge(bytes)?;
    Ok(allocation::zeros(bytes)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limits::NATIVE_FRAME_BYTES_MAX as MAX;

    proptest! {
        #[test]
        fn bodies_round_trip(unit in prop::collection::vec(any::<u8>(), 1..40), times in 0usize..100) {
            let body = unit.repeat(times);
            for compression in [Compression::Lz4, Compression::Snappy] {
                if let Some(compressed) = compression.compress(&body) {
                    prop_assert!(compressed.len() < body.len());
                    prop_assert_eq!(&compression.decompress(&compressed, MAX).unwrap()[..], &body[..]);
                }
            }
        }

        #[test]
        fn random_bytes_are_refused_or_bounded(body in prop::collection::vec(any::<u8>(), 0..60)) {
            for compression in [Compression::Lz4, Compression::Snappy] {
                if let Ok(decompressed) = compression.decompress(&Bytes::from(body.clone()), MAX) {
                    prop_assert!(decompressed.len() <= body.len() * 255);
                }
            }
        }
    }

    #[test]
    fn an_impossible_length_is_refused_before_memory_is_reserved() {
        let huge = Bytes::from_static(b"\x0f\xff\xff\xff\x10a");
        assert!(Compression::Lz4.decompress(&huge, MAX).is_err());
        assert!(Compression::Snappy.decompress(&Bytes::from_static(b"\xff\xff\xff\x7f\x00a"), MAX).is_err());
        // An empty body, as old servers send it.
        assert_eq!(
            Compression::Lz4.decompress(&Bytes::from_static(b"\0\0\0\0\0"), MAX).unwrap(),
            Bytes::new()
        );
    }
}
