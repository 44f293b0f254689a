//! Reads the data types of the protocol from a body.

use std::collections::BTreeMap;

use bytes::{Buf, Bytes};

use super::consistency::consistency_of;
use super::error::NativeError;
use super::version::ProtocolVersion;
use crate::compat::features::ConsistencyLevel;
use crate::cql::BoundValue;

/// Lengths with a special meaning.
const NULL: i32 = -1;
const UNSET: i32 = -2;

/// Reads values from the front of a body. Only texts are copied.
#[derive(Clone)]
pub struct BodyReader {
    rest: Bytes,
    pub version: ProtocolVersion,
}

impl BodyReader {
    pub fn new(body: Bytes, version: ProtocolVersion) -> BodyReader {
        BodyReader { rest: body, version }
    }

    /// Returns the number of unread bytes.
    pub fn bytes_left(&self) -> usize {
        self.rest.len()
    }

    fn take(&mut self, length: usize) -> Result<Bytes, NativeError> {
        if length > self.rest.len() {
            let (wanted, left) = (length, self.rest.len());
            return Err(NativeError::protocol(format!(
                "the body ends too early: {wanted} bytes are expected, {left} are left"
            )));
        }
        Ok(self.rest.split_to(length))
    }

    pub fn u8(&mut self) -> Result<u8, NativeError> {
        Ok(self.take(1)?.get_u8())
    }

    pub fn u16(&mut self) -> Result<u16, NativeError> {
        Ok(self.take(2)?.get_u16())
    }

    pub fn i32(&mut self) -> Result<i32, NativeError> {
        Ok(self.take(4)?.get_i32())
    }

    pub fn u32(&mut self) -> Result<u32, NativeError> {
        Ok(self.take(4)?.get_u32())
    }

    pub fn i64(&mut self) -> Result<i64, NativeError> {
        Ok(self.take(8)?.get_i64())
    }

    fn text(bytes: &Bytes) -> Result<String, NativeError> {
        let text = std::str::from_utf8(bytes);
        text.map(str::to_owned).map_err(|_| NativeError::protocol("Cannot decode string as UTF8"))
    }

    pub fn string(&mut self) -> Result<String, NativeError> {
        let bytes = self.short_bytes()?;
        BodyReader::text(&bytes)
    }

    pub fn long_string(&mut self) -> Result<String, NativeError> {
        let length = self.i32()?;
        let bytes = self.take(BodyReader::length(length)?)?;
        BodyReader::text(&bytes)
    }

    fn length(length: i32) -> Result<usize, NativeError> {
        usize::try_from(length).map_err(|_| NativeError::protocol(format!("negative length {length}")))
    }

    pub fn short_bytes(&mut self) -> Result<Bytes, NativeError> {
        let length = usize::from(self.u16()?);
        self.take(length)
    }

    /// Reads bytes that may be null.
    pub fn bytes(&mut self) -> Result<Option<Bytes>, NativeError> {
        let length = self.i32()?;
        if length < 0 { Ok(None) } else { self.take(BodyReader::length(length)?).map(Some) }
    }

    /// Reads a bound value. From version 4 on it may be unset.
    pub fn value(&mut self) -> Result<BoundValue, NativeError> {
        match self.i32()? {
            UNSET if self.version >= ProtocolVersion::V4 => Ok(BoundValue::Unset),
            length if self.version >= ProtocolVersion::V4 && length < NULL => {
                Err(NativeError::protocol(format!("Invalid ByteBuf length {length}")))
            }
            length if length < 0 => Ok(BoundValue::Null),
            length => Ok(BoundValue::Value(self.take(BodyReader::length(length)?)?)),
        }
    }

    pub fn consistency(&mut self) -> Result<ConsistencyLevel, NativeError> {
        let code = self.u16()?;
        consistency_of(code)
            .ok_or_else(|| NativeError::protocol(format!("Unknown code {code} for a consistency level")))
    }

    pub fn strings(&mut self) -> Result<Vec<String>, NativeError> {
        let count = self.u16()?;
        (0..count).map(|_| self.string()).collect()
    }

    pub fn string_map(&mut self) -> Result<BTreeMap<String, String>, NativeError> {
        let count = self.u16()?;
        (0..count).map(|_| Ok((self.string()?, self.string()?))).collect()
    }

    /// Skips the custom payload: a map of bytes for custom query handlers.
    pub fn skip_payload(&mut self) -> Result<(), NativeError> {
        for _ in 0..self.u16()? {
            self.string()?;
            self.bytes()?;
        }
        Ok(())
    }
}
