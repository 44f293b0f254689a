//! Reads the data types of the protocol from a body.

use std::collections::BTreeMap;

use bytes::{Buf, Bytes};
use bytestring::ByteString;

use super::body_error::BodyError;
use super::consistency::consistency_of;
use super::version::ProtocolVersion;
use base::compat::features::ConsistencyLevel;
use base::model::BoundValue;

/// Lengths with a special meaning.
const NULL: i32 = -1;
const UNSET: i32 = -2;

/// Reads values from the front of a body. Only texts are copied.
#[derive(Clone)]
pub struct BodyReader {
    rest: Bytes,
    /// The version of the frame, which decides how values are encoded.
    pub version: ProtocolVersion,
}

fn not_utf8() -> BodyError {
    BodyError::protocol("Cannot decode string as UTF8")
}

impl BodyReader {
    /// Creates a reader at the start of a decompressed body.
    pub fn new(body: Bytes, version: ProtocolVersion) -> BodyReader {
        BodyReader { rest: body, version }
    }

    /// Returns the number of unread bytes.
    pub fn bytes_left(&self) -> usize {
        self.rest.len()
    }

    fn take(&mut self, length: usize) -> Result<Bytes, BodyError> {
        if length > self.rest.len() {
            let (wanted, left) = (length, self.rest.len());
            return Err(BodyError::protocol(format!(
                "the body ends too early: {wanted} bytes are expected, {left} are left"
            )));
        }
        Ok(self.rest.split_to(length))
    }

    /// Reads a `[byte]`. All methods that read return [`BodyError::Protocol`] if the body ends too early.
    pub fn u8(&mut self) -> Result<u8, BodyError> {
        Ok(self.take(1)?.get_u8())
    }

    /// Reads a `[short]`: unsigned, big-endian, as all numbers of the protocol.
    pub fn u16(&mut self) -> Result<u16, BodyError> {
        Ok(self.take(2)?.get_u16())
    }

    /// Reads an `[int]`.
    pub fn i32(&mut self) -> Result<i32, BodyError> {
        Ok(self.take(4)?.get_i32())
    }

    /// Reads four bytes as an unsigned number: the flags of version 5.
    pub fn u32(&mut self) -> Result<u32, BodyError> {
        Ok(self.take(4)?.get_u32())
    }

    /// Reads a `[long]`.
    pub fn i64(&mut self) -> Result<i64, BodyError> {
        Ok(self.take(8)?.get_i64())
    }

    fn text(bytes: &Bytes) -> Result<String, BodyError> {
        let text = std::str::from_utf8(bytes);
        text.map(str::to_owned).map_err(|_| not_utf8())
    }

    /// Reads a `[string]`: a `[short]` length and UTF-8 text. Other text is an error.
    pub fn string(&mut self) -> Result<String, BodyError> {
        let bytes = self.short_bytes()?;
        BodyReader::text(&bytes)
    }

    /// Reads the text of a statement, without copying it. It keeps the whole body in memory.
    pub fn long_string(&mut self) -> Result<ByteString, BodyError> {
        let length = self.i32()?;
        self.take(BodyReader::length(length)?)?.try_into().map_err(|_| not_utf8())
    }

    fn length(length: i32) -> Result<usize, BodyError> {
        usize::try_from(length).map_err(|_| BodyError::protocol(format!("negative length {length}")))
    }

    /// Reads `[short bytes]`, such as the id of a prepared statement.
    pub fn short_bytes(&mut self) -> Result<Bytes, BodyError> {
        let length = usize::from(self.u16()?);
        self.take(length)
    }

    /// Reads bytes that may be null.
    pub fn bytes(&mut self) -> Result<Option<Bytes>, BodyError> {
        let length = self.i32()?;
        if length < 0 { Ok(None) } else { self.take(BodyReader::length(length)?).map(Some) }
    }

    /// Reads a bound value. From version 4 on it may be unset.
    pub fn value(&mut self) -> Result<BoundValue, BodyError> {
        match self.i32()? {
            UNSET if self.version >= ProtocolVersion::V4 => Ok(BoundValue::Unset),
            length if self.version >= ProtocolVersion::V4 && length < NULL => {
                Err(BodyError::protocol(format!("Invalid ByteBuf length {length}")))
            }
            length if length < 0 => Ok(BoundValue::Null),
            length => Ok(BoundValue::Value(self.take(BodyReader::length(length)?)?)),
        }
    }

    /// Reads a `[consistency]`. An unknown code is an error.
    pub fn consistency(&mut self) -> Result<ConsistencyLevel, BodyError> {
        let code = self.u16()?;
        consistency_of(code)
            .ok_or_else(|| BodyError::protocol(format!("Unknown code {code} for a consistency level")))
    }

    /// Reads a `[string list]`: a `[short]` count and the strings.
    pub fn strings(&mut self) -> Result<Vec<String>, BodyError> {
        let count = self.u16()?;
        (0..count).map(|_| self.string()).collect()
    }

    /// Reads a `[string map]`: a `[short]` count and pairs of strings. The last of several equal keys counts.
    pub fn string_map(&mut self) -> Result<BTreeMap<String, String>, BodyError> {
        let count = self.u16()?;
        (0..count).map(|_| Ok((self.string()?, self.string()?))).collect()
    }

    /// Skips the custom payload: a map of bytes for custom query handlers.
    pub fn skip_payload(&mut self) -> Result<(), BodyError> {
        for _ in 0..self.u16()? {
            self.string()?;
            self.bytes()?;
        }
        Ok(())
    }
}
