//! Reads values from a complete message.

use bytes::Bytes;

use super::skip::skip;
use super::{TType, WireError};
use crate::limits::NESTING_MAX;

/// Reads values one after the other and borrows them from the message. A clone is cheap and starts at the same
/// position, so callers can look ahead.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    rest: &'a [u8],
    /// Length of the whole message in bytes.
    length: usize,
    owner: Option<&'a Bytes>,
}

impl<'a> Reader<'a> {
    /// Creates a reader whose `bytes` are slices of the message, not copies.
    #[inline]
    pub fn new(message: &'a Bytes) -> Reader<'a> {
        Reader { rest: message, length: message.len(), owner: Some(message) }
    }

    /// Creates a reader over borrowed memory, whose `bytes` are copies.
    #[inline]
    pub fn over(message: &'a [u8]) -> Reader<'a> {
        Reader { rest: message, length: message.len(), owner: None }
    }

    /// Returns the position of the next value, in bytes from the start of the message.
    #[inline]
    pub fn position(&self) -> usize {
        self.length - self.rest.len()
    }

    /// Returns the number of unread bytes.
    #[inline]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Returns the reader at a later position, in bytes from the start of the message.
    #[must_use]
    #[inline]
    pub fn at(mut self, position: usize) -> Reader<'a> {
        self.rest = self.rest.get(position.saturating_sub(self.position())..).unwrap_or_default();
        self
    }

    /// Reads a bool. Any nonzero byte is true: some clients write 0xff.
    #[inline]
    pub fn bool(&mut self) -> Result<bool, WireError> {
        Ok(self.array::<1>()? != [0])
    }

    /// Reads a `byte`. All methods that read return [`WireError::Truncated`] if the message ends too early.
    #[inline]
    pub fn i8(&mut self) -> Result<i8, WireError> {
        self.array().map(i8::from_be_bytes)
    }

    /// Reads an `i16`: big-endian, as all numbers of the protocol.
    #[inline]
    pub fn i16(&mut self) -> Result<i16, WireError> {
        self.array().map(i16::from_be_bytes)
    }

    /// Reads an `i32`.
    #[inline]
    pub fn i32(&mut self) -> Result<i32, WireError> {
        self.array().map(i32::from_be_bytes)
    }

    /// Reads an `i64`.
    #[inline]
    pub fn i64(&mut self) -> Result<i64, WireError> {
        self.array().map(i64::from_be_bytes)
    }

    /// Reads a `double`.
    #[inline]
    pub fn f64(&mut self) -> Result<f64, WireError> {
        self.array().map(f64::from_be_bytes)
    }

    /// Reads a string or binary, borrowed from the message.
    #[inline]
    pub fn raw(&mut self) -> Result<&'a [u8], WireError> {
        let length = self.size()?;
        self.take(length)
    }

    /// Reads a string or binary that may outlive the reader. It keeps the whole message in memory.
    #[inline]
    pub fn bytes(&mut self) -> Result<Bytes, WireError> {
        let raw = self.raw()?;
        let end = self.position();
        Ok(match self.owner {
            Some(message) => message.slice(end - raw.len()..end),
            None => Bytes::copy_from_slice(raw),
        })
    }

    /// Reads the next field's type and id; `None` at the end of the struct.
    #[inline]
    pub fn field_begin(&mut self) -> Result<Option<(TType, i16)>, WireError> {
        match *self.rest {
            [0, ref rest @ ..] => {
                self.rest = rest;
                Ok(None)
            }
            [code, high, low, ref rest @ ..] => {
                let Some(ttype) = TType::from_code(code) else {
                    return Err(WireError::UnknownType { at: self.position(), code });
                };
                self.rest = rest;
                Ok(Some((ttype, i16::from_be_bytes([high, low]))))
            }
            _ => Err(self.truncated_field()),
        }
    }

    /// Returns the error for the last one or two bytes of the message, in which a field does not fit.
    #[cold]
    fn truncated_field(&self) -> WireError {
        match *self.rest {
            [code, ..] if TType::from_code(code).is_none() => {
                WireError::UnknownType { at: self.position(), code }
            }
            [_, ref rest @ ..] => WireError::Truncated { at: self.length, need: 2 - rest.len() },
            [] => self.truncated(1),
        }
    }

    /// Reads the element type and count of a list or set. The count is at most the number of elements for which the
    /// remaining bytes suffice.
    #[inline]
    pub fn list_begin(&mut self) -> Result<(TType, usize), WireError> {
        let at = self.position();
        let [code] = self.array()?;
        let count = self.size()?;
        let element = TType::of_elements(code, count, at)?;
        self.check_count(count, element.bytes_min())?;
        Ok((element, count))
    }

    /// Reads the key type, value type and count of a map. The count is at most the number of entries for which the
    /// remaining bytes suffice.
    #[inline]
    pub fn map_begin(&mut self) -> Result<(TType, TType, usize), WireError> {
        let at = self.position();
        let [key_code, value_code] = self.array()?;
        let count = self.size()?;
        let key = TType::of_elements(key_code, count, at)?;
        let value = TType::of_elements(value_code, count, at + 1)?;
        self.check_count(count, key.bytes_min() + value.bytes_min())?;
        Ok((key, value, count))
    }

    /// Skips one value of the type, with at most `NESTING_MAX` levels.
    #[inline]
    pub fn skip(&mut self, ttype: TType) -> Result<(), WireError> {
        match skip(self.rest, ttype.code(), NESTING_MAX) {
            Some(rest) => {
                self.rest = rest;
                Ok(())
            }
            None => self.skip_within(ttype, NESTING_MAX),
        }
    }

    /// Skips a value and returns the reason if it fails.
    #[cold]
    fn skip_within(&mut self, ttype: TType, levels: usize) -> Result<(), WireError> {
        match ttype.fixed_bytes() {
            Some(length) => self.take(length).map(drop),
            None if ttype == TType::String => self.raw().map(drop),
            None => self.skip_container(ttype, levels),
        }
    }

    fn skip_container(&mut self, ttype: TType, levels: usize) -> Result<(), WireError> {
        match ttype {
            TType::Struct => {
                let below = deeper(levels)?;
                while let Some((field, _)) = self.field_begin()? {
                    self.skip_within(field, below)?;
                }
                Ok(())
            }
            TType::Map => {
                let (key, value, count) = self.map_begin()?;
                let below = deeper(levels)?;
                for _ in 0..count {
                    self.skip_within(key, below)?;
                    self.skip_within(value, below)?;
                }
                Ok(())
            }
            TType::Set | TType::List => {
                let (element, count) = self.list_begin()?;
                let below = deeper(levels)?;
                if let Some(length) = element.fixed_bytes() {
                    return self.take(length * count).map(drop);
                }
                (0..count).try_for_each(|_| self.skip_within(element, below))
            }
            // Only `Stop` is left, which no field and no element of a nonempty list has.
            other => Err(WireError::UnknownType { at: self.position(), code: other.code() }),
        }
    }

    /// Reads a length or count.
    #[inline(always)]
    fn size(&mut self) -> Result<usize, WireError> {
        let at = self.position();
        let size = self.i32()?;
        usize::try_from(size).map_err(|_| WireError::NegativeSize { at, size })
    }

    fn check_count(&self, count: usize, each_min: usize) -> Result<(), WireError> {
        let remaining = self.remaining();
        if count > remaining / each_min {
            return Err(WireError::TooManyElements { at: self.position(), count, remaining });
        }
        Ok(())
    }

    #[inline(always)]
    fn take(&mut self, length: usize) -> Result<&'a [u8], WireError> {
        let Some((taken, rest)) = self.rest.split_at_checked(length) else {
            return Err(self.truncated(length));
        };
        self.rest = rest;
        Ok(taken)
    }

    #[inline(always)]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let Some((taken, rest)) = self.rest.split_first_chunk::<N>() else {
            return Err(self.truncated(N));
        };
        self.rest = rest;
        Ok(*taken)
    }

    #[cold]
    fn truncated(&self, length: usize) -> WireError {
        WireError::Truncated { at: self.length, need: length - self.rest.len() }
    }
}

fn deeper(levels: usize) -> Result<usize, WireError> {
    levels.checked_sub(1).ok_or(WireError::TooDeep { limit: NESTING_MAX })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn scalars_are_big_endian() {
        let mut reader = Reader::over(&[1, 0xff, 0xff, 0xfe, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 9]);
        assert_eq!(reader.bool(), Ok(true));
        assert_eq!(reader.i8(), Ok(-1));
        assert_eq!(reader.i16(), Ok(-2));
        assert_eq!(reader.i32(), Ok(256));
        assert_eq!(reader.i64(), Ok(9));
        assert_eq!(reader.remaining(), 0);
        assert_eq!(reader.i32(), Err(WireError::Truncated { at: 16, need: 4 }));
        assert_eq!(Reader::over(&1.5f64.to_be_bytes()).f64(), Ok(1.5));
    }

    #[test]
    fn any_nonzero_byte_is_true() {
        assert_eq!(Reader::over(&[0xff]).bool(), Ok(true));
        assert_eq!(Reader::over(&[0]).bool(), Ok(false));
    }

    #[test]
    fn bytes_are_a_slice_of_the_message() {
        let message = Bytes::from_static(b"\0\0\0\x03abc");
        let name = Reader::new(&message).bytes().unwrap();
        assert_eq!(name, "abc");
        assert_eq!(name.as_ptr(), message[4..].as_ptr());
        assert_eq!(Reader::over(&message).bytes().unwrap(), "abc");
    }

    #[test]
    fn hostile_sizes_are_errors() {
        assert_eq!(
            Reader::over(&[0xff, 0xff, 0xff, 0xff]).raw(),
            Err(WireError::NegativeSize { at: 0, size: -1 })
        );
        assert_eq!(
            Reader::over(&[0x7f, 0xff, 0xff, 0xff, 1]).raw(),
            Err(WireError::Truncated { at: 5, need: 0x7fff_fffe })
        );
        let list = [15, 0x7f, 0xff, 0xff, 0xff, 1, 2, 3];
        assert_eq!(
            Reader::over(&list).list_begin(),
            Err(WireError::TooManyElements { at: 5, count: 0x7fff_ffff, remaining: 3 })
        );
        let map = [11, 11, 0x7f, 0xff, 0xff, 0xff];
        assert_eq!(
            Reader::over(&map).map_begin(),
            Err(WireError::TooManyElements { at: 6, count: 0x7fff_ffff, remaining: 0 })
        );
    }

    #[test]
    fn nesting_above_the_limit_is_an_error() {
        let nested = |levels: usize| [[12, 0, 1].repeat(levels - 1), vec![0; levels]].concat();
        let fits = nested(NESTING_MAX);
        let mut reader = Reader::over(&fits);
        assert_eq!(reader.skip(TType::Struct), Ok(()));
        assert_eq!(reader.remaining(), 0);
        let deep = nested(NESTING_MAX + 1);
        assert_eq!(Reader::over(&deep).skip(TType::Struct), Err(WireError::TooDeep { limit: NESTING_MAX }));
        let endless = [15, 0, 0, 1, 0].repeat(100_000);
        assert_eq!(Reader::over(&endless).skip(TType::List), Err(WireError::TooDeep { limit: NESTING_MAX }));
    }

    #[test]
    fn unknown_types_are_errors() {
        assert_eq!(Reader::over(&[5, 0, 1]).field_begin(), Err(WireError::UnknownType { at: 0, code: 5 }));
        assert_eq!(Reader::over(&[]).skip(TType::Stop), Err(WireError::UnknownType { at: 0, code: 0 }));
    }

    /// Valid and invalid values of every type.
    fn values() -> impl Strategy<Value = (TType, Vec<u8>)> {
        let types = prop::sample::select(vec![
            TType::Stop,
            TType::Bool,
            TType::I16,
            TType::I32,
            TType::Double,
            TType::String,
            TType::Struct,
            TType::Map,
            TType::Set,
            TType::List,
        ]);
        // Few codes and small numbers, so that many values are valid.
        let byte = prop_oneof![
            8 => prop::sample::select(vec![0, 0, 0, 1, 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15]),
            1 => any::<u8>()
        ];
        (types, prop::collection::vec(byte, 0..60))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        /// Both implementations accept the same values and end at the same position.
        #[test]
        fn both_implementations_of_skip_agree((ttype, bytes) in values(), levels in 0..5_usize) {
            let mut reader = Reader::over(&bytes);
            let slowly = reader.skip_within(ttype, levels).map(|()| reader.rest.len());
            let quickly = skip(&bytes, ttype.code(), levels).map(<[u8]>::len);
            prop_assert_eq!(quickly, slowly.ok());
        }
    }
}
