//! Writes requests to the candidate, and cuts its replies off, on one connection.

use std::collections::{HashMap, VecDeque};

use bytes::{BufMut, Bytes, BytesMut};

use super::super::Protocol;
use super::super::call::NativeFrame;
use crate::ThriftMessage;
use crate::limits::RECORDED_MESSAGE_BYTES_MAX;
use crate::native_head::{NativeHead, UnknownVersion};
use wire::limits::NATIVE_FRAME_BYTES_MAX;
use wire::native::{ProtocolVersion, ResponseCode, SegmentCodec};
use wire::thrift::MessageKind;
use wire::thrift::frame::{MessageCutter, NextMessage};

/// The state of both directions.
#[derive(Debug)]
pub(crate) enum Wire {
    Thrift {
        is_framed: bool,
        cutter: Box<MessageCutter>,
        /// Calls without a reply, in the order in which they were sent: replies come in this order.
        waiting: VecDeque<u64>,
    },
    Native {
        /// Calls without a reply, by stream.
        waiting: HashMap<i16, u64>,
        /// Whether frames are in segments: in version 5, after the reply to STARTUP.
        has_segments: bool,
        /// Frames that came out of segments.
        frames: BytesMut,
    },
}

/// The segments of a connection without compression.
const SEGMENTS: SegmentCodec = SegmentCodec { is_compressed: false };

impl Wire {
    pub(crate) fn new(protocol: Protocol) -> Wire {
        match protocol {
            Protocol::Thrift { is_framed } => {
                let cutter =
                    Box::new(MessageCutter::new(Protocol::transport(is_framed), RECORDED_MESSAGE_BYTES_MAX));
                Wire::Thrift { is_framed, cutter, waiting: VecDeque::new() }
            }
            Protocol::Native => {
                Wire::Native { waiting: HashMap::new(), has_segments: false, frames: BytesMut::new() }
            }
        }
    }

    /// Appends a request to the output. It is a whole message as recordings have it.
    pub(crate) fn put(&mut self, call: u64, message: &Bytes, out: &mut BytesMut) {
        match self {
            Wire::Thrift { is_framed, waiting, .. } => {
                if *is_framed {
                    // Messages are shorter than the limit of recordings.
                    out.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
                }
                out.put_slice(message);
                let is_oneway =
                    ThriftMessage::read(message).is_ok_and(|message| message.kind == MessageKind::Oneway);
                if !is_oneway {
                    waiting.push_back(call);
                }
            }
            Wire::Native { waiting, has_segments, .. } => {
                if let Ok(frame) = NativeFrame::read(message) {
                    waiting.insert(frame.stream, call);
                }
                if *has_segments { SEGMENTS.put(message, out) } else { out.put_slice(message) }
            }
        }
    }

    /// Takes the next reply off the input: the call and the message. `None` until a reply is complete.
    ///
    /// # Errors
    ///
    /// If the bytes are not a reply. Nothing more can be read.
    pub(crate) fn take(&mut self, input: &mut BytesMut) -> Result<Option<(u64, Bytes)>, String> {
        match self {
            Wire::Thrift { cutter, waiting, .. } => {
                match cutter.next_message(input).map_err(|error| error.to_string())? {
                    NextMessage::Message(message) => match waiting.pop_front() {
                        Some(call) => Ok(Some((call, message))),
                        None => Err("a reply without a call".to_owned()),
                    },
                    NextMessage::Needed(_) => Ok(None),
                    NextMessage::TooLong { length, .. } => Err(format!("a reply of {length} bytes")),
                }
            }
            Wire::Native { waiting, has_segments, frames } => loop {
                if *has_segments {
                    while SEGMENTS.take(input, frames).map_err(|error| error.to_string())? {}
                }
                let Some(message) = next_frame(if *has_segments { &mut *frames } else { &mut *input })?
                else {
                    return Ok(None);
                };
                let frame = NativeFrame::read(&message).map_err(|error| error.to_string())?;
                let starts = [ResponseCode::Ready as u8, ResponseCode::Authenticate as u8];
                if frame.version == ProtocolVersion::V5 && starts.contains(&frame.opcode) {
                    *has_segments = true;
                }
                // Events answer no request.
                if let Some(call) = waiting.remove(&frame.stream) {
                    return Ok(Some((call, message)));
                }
            },
        }
    }
}

/// Takes the next native frame off the front.
fn next_frame(input: &mut BytesMut) -> Result<Option<Bytes>, String> {
    let head = NativeHead::read(input)
        .map_err(|UnknownVersion(number)| format!("a reply in version {number} of the native protocol"))?;
    let Some(head) = head else { return Ok(None) };
    if head.length > NATIVE_FRAME_BYTES_MAX {
        return Err(format!("a reply of {} bytes", head.length));
    }
    Ok((input.len() >= head.frame_bytes()).then(|| input.split_to(head.frame_bytes()).freeze()))
}
