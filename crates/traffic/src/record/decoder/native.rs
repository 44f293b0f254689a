//! The two sides of a connection of the native protocol.

use std::collections::HashMap;

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::connection::{Outputs, Unreadable};
use super::replies;
use super::secrets::{CallSecrets, hide_in_native};
use crate::limits::RECORDED_MESSAGE_BYTES_MAX;
use crate::native_head::{FROM_SERVER, NativeHead};
use crate::native_message::NativeMessage;
use crate::{EventKind, LossReason, Side};
use wire::limits::NATIVE_FRAME_BYTES_MAX;
use wire::native::{BodyReader, Compression, RequestCode, ResponseCode, SegmentCodec, flag};

/// Both sides, and the calls without a reply.
#[derive(Debug, Default)]
pub(super) struct NativeStreams {
    client: NativeHalf,
    server: NativeHalf,
    compression: Option<Compression>,
    /// Version 5: STARTUP was sent, and after its answer frames are in segments.
    segments_follow: bool,
    segments: Option<SegmentCodec>,
    open: HashMap<i16, NativeOpenCall>,
}

#[derive(Debug)]
struct NativeOpenCall {
    /// Why the request was not recorded: then the reply is not, either.
    call: Result<u64, LossReason>,
    secrets: CallSecrets,
}

/// The bytes of one side.
#[derive(Debug, Default)]
struct NativeHalf {
    /// Bytes as they passed; with segments, the bytes of a segment that is not complete.
    input: BytesMut,
    /// With segments, the frames that were in them.
    frames: BytesMut,
    /// Bytes of a long frame that are skipped.
    to_skip: usize,
    /// Whether the start of the next frame or segment is unknown.
    is_lost: bool,
}

impl NativeHalf {
    fn lose(&mut self) {
        *self = NativeHalf { is_lost: true, ..NativeHalf::default() };
    }

    fn partial_bytes(&self) -> usize {
        self.input.len() + self.frames.len()
    }
}

/// Reads the head of a side's frame. `Ok(None)` if it is incomplete.
pub(in crate::record) fn read_head(bytes: &[u8], from: Side) -> Result<Option<NativeHead>, Unreadable> {
    let unreadable = Unreadable(LossReason::Unreadable);
    if bytes.first().is_some_and(|first| (first & FROM_SERVER != 0) != (from == Side::Server)) {
        return Err(unreadable);
    }
    match NativeHead::read(bytes) {
        Ok(Some(head)) if head.length > NATIVE_FRAME_BYTES_MAX => Err(Unreadable(LossReason::TooLong)),
        read => read.map_err(|_| unreadable),
    }
}

/// Returns the frame with its body decompressed; `None` if that fails.
pub(in crate::record) fn decompressed(
    head: &NativeHead,
    frame: Bytes,
    compression: Option<Compression>,
) -> Option<Bytes> {
    let header = head.version.header_bytes();
    if head.flags & flag::COMPRESSED == 0 {
        return Some(frame);
    }
    let body = compression?.decompress(&frame.slice(header..), RECORDED_MESSAGE_BYTES_MAX).ok()?;
    let mut message = BytesMut::with_capacity(header + body.len());
    message.extend_from_slice(frame.get(..header - 4)?);
    if let Some(flags) = message.get_mut(1) {
        *flags &= !flag::COMPRESSED;
    }
    message.put_u32(u32::try_from(body.len()).ok()?);
    message.extend_from_slice(&body);
    Some(message.freeze())
}

/// Returns the compression that STARTUP selects.
pub(in crate::record) fn compression_of(head: &NativeHead, startup: &Bytes) -> Option<Compression> {
    let mut body = BodyReader::new(startup.slice(head.version.header_bytes()..), head.version);
    let options = body.string_map().unwrap_or_default();
    let (_, name) = options.iter().find(|(name, _)| name.eq_ignore_ascii_case("COMPRESSION"))?;
    Compression::named(&name.to_ascii_lowercase())
}

impl NativeStreams {
    pub(super) fn partial_bytes(&self) -> usize {
        self.client.partial_bytes() + self.server.partial_bytes()
    }

    fn half(&mut self, side: Side) -> &mut NativeHalf {
        if side == Side::Client { &mut self.client } else { &mut self.server }
    }

    /// Returns whether a frame of the server may begin next.
    pub(super) fn is_between_replies(&self) -> bool {
        let NativeHalf { to_skip, is_lost, .. } = self.server;
        !is_lost && to_skip == 0 && self.server.partial_bytes() == 0
    }

    pub(super) fn gap(&mut self, from: Side) {
        self.half(from).lose();
        // A lost request may use the stream of a known one, and a lost reply may belong to a known request.
        self.open.clear();
    }

    pub(super) fn take(
        &mut self,
        from: Side,
        bytes: &[u8],
        outputs: &mut Outputs<'_>,
    ) -> Result<(), Unreadable> {
        if self.half(from).is_lost && !self.is_start(from, bytes) {
            outputs.losses.add(LossReason::Behind, 0, bytes.len() as u64);
            return Ok(());
        }
        let half = self.half(from);
        half.is_lost = false;
        half.input.extend_from_slice(bytes);
        loop {
            let codec = self.segments;
            let half = self.half(from);
            if let Some(codec) = codec {
                let NativeHalf { input, frames, .. } = half;
                while codec.take(input, frames).map_err(|_| Unreadable(LossReason::Unreadable))? {}
            }
            let source = if codec.is_some() { &mut half.frames } else { &mut half.input };
            let skipped = half.to_skip.min(source.len());
            source.advance(skipped);
            half.to_skip -= skipped;
            let Some(head) = read_head(source, from)? else { return Ok(()) };
            if head.length > RECORDED_MESSAGE_BYTES_MAX {
                half.to_skip = head.frame_bytes();
                outputs.losses.add(LossReason::TooLong, 1, head.length as u64);
                self.lose_frame(from, head.stream, LossReason::TooLong);
                continue;
            }
            if source.len() < head.frame_bytes() {
                return Ok(());
            }
            let frame = source.split_to(head.frame_bytes()).freeze();
            self.frame(from, &head, frame, outputs);
        }
    }

    /// Returns whether bytes begin with a frame, or with a segment that begins with one.
    fn is_start(&self, from: Side, bytes: &[u8]) -> bool {
        let is_frame = |bytes: &[u8]| match (read_head(bytes, from), from) {
            (Ok(Some(head)), Side::Client) => RequestCode::of_number(head.opcode).is_some(),
            (Ok(Some(head)), Side::Server) => head.opcode <= ResponseCode::AuthSuccess as u8,
            (Ok(None) | Err(_), _) => false,
        };
        match self.segments {
            None => is_frame(bytes),
            Some(codec) => {
                let (mut input, mut frames) = (BytesMut::from(bytes), BytesMut::new());
                matches!(codec.take(&mut input, &mut frames), Ok(true)) && is_frame(&frames)
            }
        }
    }

    /// Notes a frame that is not recorded.
    fn lose_frame(&mut self, from: Side, stream: i16, why: LossReason) {
        match from {
            Side::Client => {
                self.open.insert(stream, NativeOpenCall { call: Err(why), secrets: CallSecrets::default() });
            }
            Side::Server => drop(self.open.remove(&stream)),
        }
    }

    fn frame(&mut self, from: Side, head: &NativeHead, frame: Bytes, outputs: &mut Outputs<'_>) {
        let length = frame.len() as u64;
        match decompressed(head, frame, self.compression) {
            Some(message) => match from {
                Side::Client => self.request(head, message, outputs),
                Side::Server => self.reply(head, message, outputs),
            },
            None => {
                outputs.losses.add(LossReason::Unreadable, 1, length);
                self.lose_frame(from, head.stream, LossReason::Unreadable);
            }
        }
    }

    fn request(&mut self, head: &NativeHead, message: Bytes, outputs: &mut Outputs<'_>) {
        if RequestCode::of_number(head.opcode) == Some(RequestCode::Startup) {
            self.compression = compression_of(head, &message);
            self.segments_follow = head.version.has_segments();
        }
        let hidden = hide_in_native(&message, &outputs.shared.prepared);
        let (call, secrets) = outputs.request(message, hidden);
        self.open.insert(head.stream, NativeOpenCall { call, secrets });
    }

    fn reply(&mut self, head: &NativeHead, message: Bytes, outputs: &mut Outputs<'_>) {
        let Outputs { shared, losses, found } = outputs;
        let has_started =
            head.opcode == ResponseCode::Ready as u8 || head.opcode == ResponseCode::Authenticate as u8;
        if has_started && self.segments_follow && self.segments.is_none() {
            self.segments = Some(SegmentCodec { is_compressed: self.compression.is_some() });
        }
        if head.stream < 0 {
            found.kinds.push(EventKind::Pushed { message });
            return;
        }
        match self.open.remove(&head.stream) {
            Some(NativeOpenCall { call: Ok(call), secrets }) => {
                if let Some(id) = NativeMessage::read(&message).and_then(|message| message.prepared_id()) {
                    shared.prepared.add(id, secrets.kind);
                }
                found.reply(call, replies::hide_in_native(message, &secrets, head.version.header_bytes()));
            }
            Some(NativeOpenCall { call: Err(why), .. }) => losses.add(why, 1, message.len() as u64),
            None => losses.add(LossReason::Behind, 1, message.len() as u64),
        }
    }
}
