//! Compression of bodies, as chosen at the start.

use bytes::{BufMut, Bytes, BytesMut};

use super::error::NativeError;

/// How a connection's bodies may be compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// The length before as u32, then a block.
    Lz4,
    /// A block without framing.
    Snappy,
}

impl Compression {
    /// The names in SUPPORTED.
    pub const NAMES: [&str; 2] = ["lz4", "snappy"];

    /// The one of a name in small letters.
    pub fn named(name: &str) -> Option<Compression> {
        match name {
            "lz4" => Some(Compression::Lz4),
            "snappy" => Some(Compression::Snappy),
            _ => None,
        }
    }

    /// The body as it was before, of at most so many bytes.
    pub fn decompress(self, body: &Bytes, bytes_max: usize) -> Result<Bytes, NativeError> {
        let failed = || NativeError::protocol("a compressed body cannot be decompressed");
        let check = |length: usize| {
            if length <= bytes_max { Ok(length) } else { Err(NativeError::longer(length, bytes_max)) }
        };
        match self {
            Compression::Lz4 => {
                let (length, block) = body.split_first_chunk::<4>().ok_or_else(failed)?;
                let length = check(u32::from_be_bytes(*length) as usize)?;
                // A block of LZ4 grows 255-fold at most: a length that it cannot have is not made room for.
                if length > block.len().saturating_mul(255) {
                    return if length == 0 { Ok(Bytes::new()) } else { Err(failed()) };
                }
                if length == 0 {
                    return Ok(Bytes::new());
                }
                let unpacked = lz4_flex::block::decompress(block, length).map_err(|_| failed())?;
                if unpacked.len() == length { Ok(unpacked.into()) } else { Err(failed()) }
            }
            Compression::Snappy => {
                let length = check(snap::raw::decompress_len(body).map_err(|_| failed())?)?;
                // One byte of Snappy stands for 64 at most, in three.
                if length > body.len().saturating_mul(64) {
                    return Err(failed());
                }
                let unpacked = snap::raw::Decoder::new().decompress_vec(body).map_err(|_| failed())?;
                Ok(unpacked.into())
            }
        }
    }

    /// The body compressed; `None` where that does not make it shorter.
    pub fn compress(self, body: &[u8]) -> Option<Bytes> {
        let packed = match self {
            Compression::Lz4 => {
                let mut packed = BytesMut::new();
                packed.put_u32(u32::try_from(body.len()).ok()?);
                packed.put_slice(&lz4_flex::block::compress(body));
                packed.freeze()
            }
            Compression::Snappy => snap::raw::Encoder::new().compress_vec(body).ok()?.into(),
        };
        (packed.len() < body.len()).then_some(packed)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::util::limits::NATIVE_FRAME_BYTES_MAX as MAX;

    proptest! {
        #[test]
        fn bodies_come_back(unit in prop::collection::vec(any::<u8>(), 1..40), times in 0usize..100) {
            let body = unit.repeat(times);
            for compression in [Compression::Lz4, Compression::Snappy] {
                if let Some(packed) = compression.compress(&body) {
                    prop_assert!(packed.len() < body.len());
                    prop_assert_eq!(&compression.decompress(&packed, MAX).unwrap()[..], &body[..]);
                }
            }
        }

        #[test]
        fn foreign_bytes_are_refused_or_read(body in prop::collection::vec(any::<u8>(), 0..60)) {
            for compression in [Compression::Lz4, Compression::Snappy] {
                if let Ok(unpacked) = compression.decompress(&Bytes::from(body.clone()), MAX) {
                    prop_assert!(unpacked.len() <= body.len() * 255);
                }
            }
        }
    }

    #[test]
    fn a_length_that_cannot_be_is_refused_before_room_is_made() {
        let huge = Bytes::from_static(b"\x0f\xff\xff\xff\x10a");
        assert!(Compression::Lz4.decompress(&huge, MAX).is_err());
        assert!(Compression::Snappy.decompress(&Bytes::from_static(b"\xff\xff\xff\x7f\x00a"), MAX).is_err());
        // An empty body, as old servers sent it.
        assert_eq!(
            Compression::Lz4.decompress(&Bytes::from_static(b"\0\0\0\0\0"), MAX).unwrap(),
            Bytes::new()
        );
    }
}
