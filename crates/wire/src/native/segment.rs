//! Segments, in which version 5 wraps frames, with checksums.
//!
//! ```text
//!   plain        17 bits length | self-contained | 6 bits 0 | CRC-24 of these 3 bytes | payload | CRC-32
//!   compressed   17 bits length | 17 bits length before | self-contained | 5 bits 0 | CRC-24 | payload | CRC-32
//! ```
//!
//! Numbers are little-endian. A self-contained segment has whole frames; another has a part of one frame. In a
//! compressed segment, "length before" is the length before compression; 0 means that the payload is not compressed.

use bytes::{Buf, BufMut, BytesMut};

/// Longest payload of a segment, in bytes.
pub const PAYLOAD_BYTES_MAX: usize = (1 << 17) - 1;

const CRC24_START: u32 = 0x0087_5060;
const CRC24_POLYNOMIAL: u32 = 0x0197_4f0b;
/// Bytes that the CRC-32 of every payload includes first.
const CRC32_START: [u8; 4] = [0xfa, 0x2d, 0x55, 0xca];
const HEADER_CHECKSUM_BYTES: usize = 3;
const CHECKSUM_BYTES: usize = 4;
/// Length of a frame's header: version, flags, stream, opcode, and the length of the body.
const FRAME_HEADER_BYTES: usize = 9;

/// Why a segment is damaged. The connection must be closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// The CRC-24 of the header is wrong.
    #[error("a segment's header does not fit its checksum")]
    Header,
    /// The CRC-32 of the payload is wrong.
    #[error("a segment's payload does not fit its checksum")]
    Payload,
    /// The payload is not an LZ4 block of the announced length.
    #[error("a segment's payload cannot be decompressed")]
    Compression,
}

/// Decodes and encodes segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SegmentCodec {
    /// Whether payloads are compressed, with LZ4.
    pub is_compressed: bool,
}

impl SegmentCodec {
    fn fields_bytes(self) -> usize {
        if self.is_compressed { 5 } else { 3 }
    }

    /// Moves the payload of the first segment of `input` to `frames`. Returns false if the segment is incomplete.
    pub fn take(self, input: &mut BytesMut, frames: &mut BytesMut) -> Result<bool, SegmentError> {
        let number =
            |bytes: &[u8]| bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
        let fields = self.fields_bytes();
        let Some((header, rest)) = input.split_at_checked(fields) else { return Ok(false) };
        let Some((checksum, rest)) = rest.split_at_checked(HEADER_CHECKSUM_BYTES) else { return Ok(false) };
        if number(checksum) != u64::from(crc24(header)) {
            return Err(SegmentError::Header);
        }
        let header = number(header);
        let length = usize::try_from(header & 0x1_ffff).unwrap_or(0);
        let before =
            if self.is_compressed { usize::try_from(header >> 17 & 0x1_ffff).unwrap_or(0) } else { 0 };
        let Some((payload, rest)) = rest.split_at_checked(length) else { return Ok(false) };
        let Some(checksum) = rest.first_chunk() else { return Ok(false) };
        if u32::from_le_bytes(*checksum) != crc32(payload) {
            return Err(SegmentError::Payload);
        }
        if before == 0 {
            frames.extend_from_slice(payload);
        } else {
            let decompressed = lz4_flex::block::decompress(payload, before);
            let decompressed = decompressed.ok().filter(|bytes| bytes.len() == before);
            frames.extend_from_slice(&decompressed.ok_or(SegmentError::Compression)?);
        }
        input.advance(fields + HEADER_CHECKSUM_BYTES + length + CHECKSUM_BYTES);
        Ok(true)
    }

    /// Wraps whole frames in segments: each segment has as many frames as fit; a frame that is too long for a segment
    /// is divided.
    pub fn put(self, frames: &[u8], out: &mut BytesMut) {
        let mut rest = frames;
        while !rest.is_empty() {
            let (group, others) = rest.split_at(group_bytes(rest));
            debug_assert!(!group.is_empty(), "the segments of a reply would never end");
            let is_self_contained = group.len() <= PAYLOAD_BYTES_MAX;
            for payload in group.chunks(PAYLOAD_BYTES_MAX) {
                self.put_one(payload, is_self_contained, out);
            }
            rest = others;
        }
    }

    fn put_one(self, payload: &[u8], is_self_contained: bool, out: &mut BytesMut) {
        debug_assert!(payload.len() <= PAYLOAD_BYTES_MAX, "the length does not fit into 17 bits");
        let flag = u64::from(is_self_contained);
        let packed = self.is_compressed.then(|| lz4_flex::block::compress(payload));
        let packed = packed.filter(|packed| packed.len() < payload.len());
        let (header, body) = match &packed {
            Some(packed) => (packed.len() as u64 | (payload.len() as u64) << 17 | flag << 34, &packed[..]),
            None if self.is_compressed => (payload.len() as u64 | flag << 34, payload),
            None => (payload.len() as u64 | flag << 17, payload),
        };
        let fields = self.fields_bytes();
        let header = header.to_le_bytes();
        let (header, _) = header.split_at(fields);
        out.reserve(fields + HEADER_CHECKSUM_BYTES + body.len() + CHECKSUM_BYTES);
        out.put_slice(header);
        out.put_uint_le(u64::from(crc24(header)), HEADER_CHECKSUM_BYTES);
        out.put_slice(body);
        out.put_u32_le(crc32(body));
    }
}

/// Returns the bytes of the frames at the front that go into one segment: at least one frame.
fn group_bytes(frames: &[u8]) -> usize {
    let mut group = 0;
    while let Some(length) = frames.get(group..group + FRAME_HEADER_BYTES).and_then(<[u8]>::last_chunk) {
        let length = u32::from_be_bytes(*length) as usize;
        let end = (group + FRAME_HEADER_BYTES + length).min(frames.len());
        if group > 0 && end > PAYLOAD_BYTES_MAX {
            return group;
        }
        group = end;
    }
    if group == 0 { frames.len() } else { group }
}

fn crc24(bytes: &[u8]) -> u32 {
    bytes.iter().fold(CRC24_START, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte) << 16, |crc, _| {
            let shifted = crc << 1;
            if shifted & 0x0100_0000 == 0 { shifted } else { shifted ^ CRC24_POLYNOMIAL }
        })
    })
}

fn crc32(payload: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&CRC32_START);
    hasher.update(payload);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns a frame with a body of `length` bytes.
    fn frame(length: usize) -> Vec<u8> {
        let mut frame = vec![5, 0, 0, 1, 7];
        frame.extend_from_slice(&u32::try_from(length).unwrap().to_be_bytes());
        frame.extend((0..length).map(|at| ((at * at) >> 3) as u8));
        frame
    }

    fn sent(codec: SegmentCodec, frames: &[u8]) -> BytesMut {
        let mut out = BytesMut::new();
        codec.put(frames, &mut out);
        out
    }

    #[test]
    fn a_segment_has_the_documented_layout() {
        let out = sent(SegmentCodec { is_compressed: false }, &frame(3));
        assert_eq!(&out[..3], [12, 0, 2]);
        assert_eq!(&out[6..18], &frame(3));
        assert_eq!(out.len(), 22);
    }

    #[test]
    fn frames_are_divided_only_if_they_are_too_long() {
        let codec = SegmentCodec { is_compressed: false };
        let frames = [frame(100_000), frame(40_000), frame(300_000), frame(1)].concat();
        let mut out = sent(codec, &frames);
        let mut kinds = Vec::new();
        while !out.is_empty() {
            let is_self_contained = out[2] & 2 != 0;
            let mut payload = BytesMut::new();
            assert!(codec.take(&mut out, &mut payload).unwrap());
            kinds.push((payload.len(), is_self_contained));
        }
        let whole = PAYLOAD_BYTES_MAX;
        let expected = [
            (100_009, true),
            (40_009, true),
            (whole, false),
            (whole, false),
            (300_009 - 2 * whole, false),
            (10, true),
        ];
        assert_eq!(kinds, expected);
    }

    proptest! {
        #[test]
        fn frames_round_trip(
            is_compressed: bool,
            lengths in prop::collection::vec(0usize..200_000, 0..6),
            pieces in 1usize..5000,
        ) {
            let codec = SegmentCodec { is_compressed };
            let frames: Vec<u8> = lengths.iter().flat_map(|length| frame(*length)).collect();
            let sent = sent(codec, &frames);
            let (mut input, mut received) = (BytesMut::new(), BytesMut::new());
            for piece in sent.chunks(pieces.max(sent.len() / 50)) {
                input.extend_from_slice(piece);
                while codec.take(&mut input, &mut received).unwrap() {}
            }
            prop_assert!(input.is_empty());
            prop_assert_eq!(&received[..], &frames[..]);
        }

        #[test]
        fn damaged_segments_are_errors(is_compressed: bool, length in 0usize..200, at: prop::sample::Index, bit in 0u8..8) {
            let codec = SegmentCodec { is_compressed };
            let mut sent = sent(codec, &frame(length));
            let at = at.index(sent.len());
            sent[at] ^= 1 << bit;
            prop_assert!(codec.take(&mut sent, &mut BytesMut::new()).is_err());
        }
    }
}
