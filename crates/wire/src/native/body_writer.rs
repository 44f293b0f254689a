//! Writes the data types of the protocol in a body.

use std::net::IpAddr;

use bytes::{BufMut, BytesMut};

use super::version::ProtocolVersion;

/// Appends values to a body. Texts that are too long for their length field are cut.
pub struct BodyWriter<'a> {
    out: &'a mut BytesMut,
    /// The version of the frame, which decides how values are encoded.
    pub version: ProtocolVersion,
}

impl<'a> BodyWriter<'a> {
    /// Creates a writer that appends to `out`.
    pub fn new(out: &'a mut BytesMut, version: ProtocolVersion) -> BodyWriter<'a> {
        BodyWriter { out, version }
    }

    /// Reserves memory for `bytes` more bytes.
    pub fn reserve(&mut self, bytes: usize) {
        self.out.reserve(bytes);
    }

    /// Writes a `[byte]`.
    pub fn u8(&mut self, number: u8) {
        self.out.put_u8(number);
    }

    /// Writes a `[short]`: unsigned, big-endian, as all numbers of the protocol.
    pub fn u16(&mut self, number: u16) {
        self.out.put_u16(number);
    }

    /// Writes an `[int]`.
    pub fn i32(&mut self, number: i32) {
        self.out.put_i32(number);
    }

    /// Writes a length as i32.
    pub fn length(&mut self, length: usize) {
        debug_assert!(i32::try_from(length).is_ok(), "the server writes no value over 2 GiB");
        self.i32(i32::try_from(length).unwrap_or(i32::MAX));
    }

    /// Writes bytes without a length, such as a value that is already encoded.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.out.put_slice(bytes);
    }

    /// Writes a `[string]`: a `[short]` length and the text, cut before the character that does not fit.
    pub fn string(&mut self, text: &str) {
        let mut length = text.len().min(usize::from(u16::MAX));
        while !text.is_char_boundary(length) {
            length -= 1;
        }
        self.short_bytes(text.split_at(length).0.as_bytes());
    }

    /// Writes `[short bytes]`, such as the id of a prepared statement.
    pub fn short_bytes(&mut self, bytes: &[u8]) {
        let (bytes, _) = bytes.split_at(bytes.len().min(usize::from(u16::MAX)));
        self.u16(u16::try_from(bytes.len()).unwrap_or(u16::MAX));
        self.raw(bytes);
    }

    /// Writes `[bytes]`: an `[int]` length and the bytes. `None` is null: the length -1.
    pub fn bytes(&mut self, bytes: Option<&[u8]>) {
        match bytes {
            Some(bytes) => {
                self.length(bytes.len());
                self.raw(bytes);
            }
            None => self.i32(-1),
        }
    }

    /// Writes a `[string list]`: a `[short]` count and the strings. Strings after the 65,535th are left out.
    pub fn strings<'t>(&mut self, texts: impl ExactSizeIterator<Item = &'t str>) {
        self.u16(u16::try_from(texts.len()).unwrap_or(u16::MAX));
        texts.take(usize::from(u16::MAX)).for_each(|text| self.string(text));
    }

    /// Writes an `[inet]`: the length of the address in a byte, its 4 or 16 bytes, and the port as `[int]`.
    pub fn inet(&mut self, address: IpAddr, port: u16) {
        match address {
            IpAddr::V4(address) => {
                self.u8(4);
                self.raw(&address.octets());
            }
            IpAddr::V6(address) => {
                self.u8(16);
                self.raw(&address.octets());
            }
        }
        self.i32(i32::from(port));
    }
}
