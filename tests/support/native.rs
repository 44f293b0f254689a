//! A client of the native protocol that can send any frame, valid or not, in any version.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};

use super::client::PATIENCE;
use super::native_body::{Asked, Body, Metadata, Parts, PreparedAnswer, Rows};

pub mod opcode {
    pub const ERROR: u8 = 0x00;
    pub const STARTUP: u8 = 0x01;
    pub const READY: u8 = 0x02;
    pub const AUTHENTICATE: u8 = 0x03;
    pub const CREDENTIALS: u8 = 0x04;
    pub const OPTIONS: u8 = 0x05;
    pub const SUPPORTED: u8 = 0x06;
    pub const QUERY: u8 = 0x07;
    pub const RESULT: u8 = 0x08;
    pub const PREPARE: u8 = 0x09;
    pub const EXECUTE: u8 = 0x0a;
    pub const REGISTER: u8 = 0x0b;
    pub const EVENT: u8 = 0x0c;
    pub const BATCH: u8 = 0x0d;
    pub const AUTH_RESPONSE: u8 = 0x0f;
    pub const AUTH_SUCCESS: u8 = 0x10;
}

/// All supported versions of the protocol.
pub const VERSIONS: [u8; 5] = [1, 2, 3, 4, 5];

/// A frame from the server. Trace id and warnings, which precede the message in the body, are separated from it.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub version: u8,
    pub flags: u8,
    pub stream: i16,
    pub opcode: u8,
    pub trace: Option<Vec<u8>>,
    pub warnings: Vec<String>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn parts(&self) -> Parts<'_> {
        assert_eq!(self.opcode, opcode::RESULT, "{}", self.why());
        Parts(&self.body)
    }

    pub fn rows(&self) -> Rows {
        self.parts().rows()
    }

    /// Checks that the answer is a RESULT of kind Void.
    pub fn void(&self) {
        assert_eq!(self.parts().0, [0, 0, 0, 1]);
    }

    /// Returns the code and text of an ERROR, and the bytes after them.
    pub fn error(&self) -> (i32, String, Vec<u8>) {
        assert_eq!(self.opcode, opcode::ERROR, "no error: {self:?}");
        let mut parts = Parts(&self.body);
        (parts.i32(), parts.string(), parts.0.to_vec())
    }

    /// Returns the text of an ERROR. Checks that it has this code and no bytes after the text.
    pub fn refused(&self, code: i32) -> String {
        let (got, text, more) = self.error();
        assert_eq!((got, &more[..]), (code, &[][..]), "{text}");
        text
    }

    /// Describes the answer, for the message of a failed test.
    pub fn why(&self) -> String {
        match self.opcode {
            opcode::ERROR => format!("{:?}", self.error()),
            _ => format!("{self:?}"),
        }
    }
}

/// The compression of frames.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Packing {
    None,
    Lz4,
    Snappy,
}

impl Packing {
    pub fn name(self) -> &'static str {
        match self {
            Packing::None => "",
            Packing::Lz4 => "lz4",
            Packing::Snappy => "snappy",
        }
    }

    pub fn pack(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Packing::None => bytes.to_vec(),
            Packing::Lz4 => {
                let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
                [&length[..], &lz4_flex::block::compress(bytes)].concat()
            }
            Packing::Snappy => snap::raw::Encoder::new().compress_vec(bytes).unwrap(),
        }
    }

    fn unpack(self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Packing::None => panic!("the frame is compressed, but no compression was negotiated"),
            Packing::Lz4 => {
                let length = u32::from_be_bytes(bytes[..4].try_into().unwrap());
                lz4_flex::block::decompress(&bytes[4..], length as usize).unwrap()
            }
            Packing::Snappy => snap::raw::Decoder::new().decompress_vec(bytes).unwrap(),
        }
    }
}

/// A client on one connection.
pub struct NativeClient {
    pub stream: TcpStream,
    pub version: u8,
    pub packing: Packing,
    /// Whether frames are sent and received in segments (version 5, after STARTUP).
    pub has_segments: bool,
    received: Vec<u8>,
    frames: Vec<u8>,
}

impl NativeClient {
    pub fn connect(address: SocketAddr, version: u8) -> NativeClient {
        let stream = TcpStream::connect(address).expect("the server listens");
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        let (received, frames) = (Vec::new(), Vec::new());
        NativeClient { stream, version, packing: Packing::None, has_segments: false, received, frames }
    }

    /// Connects and sends STARTUP without compression.
    pub fn ready(address: SocketAddr, version: u8) -> NativeClient {
        NativeClient::packed(address, version, Packing::None)
    }

    /// Connects and sends STARTUP with this compression.
    pub fn packed(address: SocketAddr, version: u8, packing: Packing) -> NativeClient {
        let mut client = NativeClient::connect(address, version);
        let answer = client.start(packing);
        assert_eq!(answer.opcode, opcode::READY, "{}", answer.why());
        client
    }

    /// Sends STARTUP and returns the answer. Later frames use this compression and, in version 5, segments.
    pub fn start(&mut self, packing: Packing) -> Answer {
        let mut options = vec![("CQL_VERSION", "3.0.0")];
        if packing != Packing::None {
            options.push(("COMPRESSION", packing.name()));
        }
        self.send(0, opcode::STARTUP, &Body::new().string_map(&options).0);
        // The server may already compress READY.
        self.packing = packing;
        let answer = self.receive();
        self.has_segments = self.version >= 5 && answer.opcode != opcode::ERROR;
        answer
    }

    /// Encodes a frame.
    pub fn frame(version: u8, flags: u8, stream: i16, opcode: u8, body: &[u8]) -> Vec<u8> {
        let mut frame = vec![version, flags];
        match version {
            1 | 2 => frame.push(i8::try_from(stream).unwrap() as u8),
            _ => frame.extend_from_slice(&stream.to_be_bytes()),
        }
        frame.push(opcode);
        frame.extend_from_slice(&u32::try_from(body.len()).unwrap().to_be_bytes());
        frame.extend_from_slice(body);
        frame
    }

    pub fn send(&mut self, stream: i16, opcode: u8, body: &[u8]) {
        self.send_flagged(0, stream, opcode, body);
    }

    /// Sends a frame with these flags, compressed as the connection has negotiated.
    pub fn send_flagged(&mut self, flags: u8, stream: i16, opcode: u8, body: &[u8]) {
        let frame = match self.packing {
            Packing::None => NativeClient::frame(self.version, flags, stream, opcode, body),
            _ if self.version >= 5 => NativeClient::frame(self.version, flags, stream, opcode, body),
            packing => NativeClient::frame(self.version, flags | 1, stream, opcode, &packing.pack(body)),
        };
        self.send_frames(&frame);
    }

    /// Sends whole frames. In version 5 they go into one segment, or into several if they are too long for one.
    pub fn send_frames(&mut self, frames: &[u8]) {
        let bytes = match self.has_segments {
            true => frames
                .chunks(SEGMENT_MAX)
                .flat_map(|part| segment(self.is_lz4(), part, frames.len() <= SEGMENT_MAX))
                .collect(),
            false => frames.to_vec(),
        };
        self.stream.write_all(&bytes).unwrap();
    }

    fn is_lz4(&self) -> bool {
        self.packing == Packing::Lz4
    }

    /// Waits for the next frame.
    pub fn receive(&mut self) -> Answer {
        self.next().expect("an answer, not the end")
    }

    /// Waits for the next frame; `None` at the end of the connection.
    pub fn next(&mut self) -> Option<Answer> {
        loop {
            if let Some(answer) = self.cut() {
                return Some(answer);
            }
            let mut buffer = [0; 65536];
            let count = match self.stream.read(&mut buffer) {
                Ok(count) => count,
                Err(error) if error.kind() == ErrorKind::ConnectionReset => 0,
                Err(error) => panic!("{error}"),
            };
            if count == 0 {
                assert!(
                    self.received.is_empty() && self.frames.is_empty(),
                    "the connection ends within a frame"
                );
                return None;
            }
            self.received.extend_from_slice(&buffer[..count]);
        }
    }

    /// Checks that the server closes the connection without another frame.
    pub fn ended(mut self) {
        assert_eq!(self.next(), None);
    }

    /// Shuts down the sending side of the connection, and returns all frames that the server still sends.
    pub fn finish(mut self) -> Vec<Answer> {
        let _ = self.stream.shutdown(Shutdown::Write);
        std::iter::from_fn(|| self.next()).collect()
    }

    fn cut(&mut self) -> Option<Answer> {
        if self.has_segments {
            while let Some((payload, length)) = open_segment(self.is_lz4(), &self.received) {
                self.frames.extend_from_slice(&payload);
                self.received.drain(..length);
            }
        } else {
            self.frames.append(&mut self.received);
        }
        let frames = &self.frames;
        let version = frames.first()? & 0x7f;
        assert!(frames[0] & 0x80 != 0, "a request from the server: {frames:?}");
        let header = if version < 3 { 8 } else { 9 };
        let head = frames.get(..header)?;
        let length = u32::from_be_bytes(head[header - 4..].try_into().unwrap()) as usize;
        let body = frames.get(header..header + length)?.to_vec();
        let stream = match version {
            1 | 2 => i16::from(head[2] as i8),
            _ => i16::from_be_bytes([head[2], head[3]]),
        };
        let (flags, opcode) = (head[1], head[header - 5]);
        self.frames.drain(..header + length);
        let body = if flags & 1 != 0 && version < 5 { self.packing.unpack(&body) } else { body };
        let mut parts = Parts(&body);
        let trace = (flags & 2 != 0).then(|| parts.take(16).to_vec());
        let warnings = if flags & 8 != 0 { parts.strings() } else { Vec::new() };
        let body = parts.0.to_vec();
        Some(Answer { version, flags, stream, opcode, trace, warnings, body })
    }

    /// Sends a request and waits for its answer.
    pub fn call(&mut self, opcode: u8, body: Body) -> Answer {
        self.send(7, opcode, &body.0);
        let answer = self.receive();
        assert_eq!((answer.stream, answer.version), (7, self.version));
        answer
    }

    pub fn query(&mut self, text: &str) -> Answer {
        self.query_with(text, &Asked::values([]))
    }

    pub fn query_with(&mut self, text: &str, asked: &Asked) -> Answer {
        let body = self.query_body(text, asked);
        self.call(opcode::QUERY, body)
    }

    pub fn query_body(&self, text: &str, asked: &Asked) -> Body {
        match self.version {
            1 => Body::new().long_string(text).u16(asked.consistency),
            version => Body::new().long_string(text).parameters(version, asked),
        }
    }

    /// Runs a statement, checks that it succeeds, and ignores the result.
    pub fn run(&mut self, text: &str) {
        self.query(text).parts();
    }

    pub fn rows(&mut self, text: &str) -> Rows {
        self.query(text).rows()
    }

    pub fn prepare(&mut self, text: &str) -> PreparedAnswer {
        let body = Body::new().long_string(text);
        let body = if self.version >= 5 { body.i32(0) } else { body };
        self.call(opcode::PREPARE, body).parts().prepared(self.version)
    }

    pub fn execute(&mut self, prepared: &PreparedAnswer, asked: &Asked) -> Answer {
        let body = self.execute_body(prepared, asked);
        self.call(opcode::EXECUTE, body)
    }

    pub fn execute_body(&self, prepared: &PreparedAnswer, asked: &Asked) -> Body {
        let body = Body::new().short_bytes(&prepared.id);
        match self.version {
            1 => body.values(&asked.values).u16(asked.consistency),
            2..=4 => body.parameters(self.version, asked),
            _ => body.short_bytes(&prepared.result_id).parameters(self.version, asked),
        }
    }

    /// Executes a statement with the flag "skip metadata", and returns the metadata of the result.
    pub fn executed_metadata(&mut self, prepared: &PreparedAnswer) -> Metadata {
        let asked = Asked { skips_metadata: true, ..Asked::values([]) };
        self.execute(prepared, &asked).rows().metadata
    }

    pub fn register(&mut self, kinds: &[&str]) {
        let answer = self.call(opcode::REGISTER, Body::new().strings(kinds));
        assert_eq!(answer.opcode, opcode::READY, "{}", answer.why());
    }
}

/// Longest payload of a segment.
pub const SEGMENT_MAX: usize = 131_071;

fn crc24(bytes: &[u8]) -> u32 {
    let mut crc = 0x87_5060u32;
    for byte in bytes {
        crc ^= u32::from(*byte) << 16;
        for _ in 0..8 {
            crc <<= 1;
            if crc & 0x100_0000 != 0 {
                crc ^= 0x197_4f0b;
            }
        }
    }
    crc
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for byte in [0xfa, 0x2d, 0x55, 0xca].iter().chain(bytes) {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 0 { crc >> 1 } else { crc >> 1 ^ 0xedb8_8320 };
        }
    }
    !crc
}

/// Encodes a segment with this payload.
pub fn segment(is_lz4: bool, payload: &[u8], is_self_contained: bool) -> Vec<u8> {
    let flag = u64::from(is_self_contained);
    let (sent, header) = if is_lz4 {
        let packed = lz4_flex::block::compress(payload);
        if packed.len() < payload.len() {
            let header = packed.len() as u64 | (payload.len() as u64) << 17 | flag << 34;
            (packed, header)
        } else {
            (payload.to_vec(), payload.len() as u64 | flag << 34)
        }
    } else {
        (payload.to_vec(), payload.len() as u64 | flag << 17)
    };
    let header = &header.to_le_bytes()[..if is_lz4 { 5 } else { 3 }];
    [header, &crc24(header).to_le_bytes()[..3], &sent, &crc32(&sent).to_le_bytes()].concat()
}

/// Decodes the first segment; returns its payload and its length, or `None` if it is incomplete.
fn open_segment(is_lz4: bool, bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let fields = if is_lz4 { 5 } else { 3 };
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte));
    let head = bytes.get(..fields)?;
    assert_eq!(number(bytes.get(fields..fields + 3)?), u64::from(crc24(head)), "a header's checksum");
    let header = number(head);
    let length = (header & 0x1_ffff) as usize;
    let end = fields + 3 + length;
    let payload = bytes.get(fields + 3..end)?;
    assert_eq!(number(bytes.get(end..end + 4)?), u64::from(crc32(payload)), "a payload's checksum");
    let before = if is_lz4 { (header >> 17 & 0x1_ffff) as usize } else { 0 };
    let payload = match before {
        0 => payload.to_vec(),
        _ => lz4_flex::block::decompress(payload, before).unwrap(),
    };
    Some((payload, end + 4))
}
