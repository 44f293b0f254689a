//! Finds where the arguments of a call are in its message, before any is decoded.

use super::{Reader, TType, WireError};

/// More than any method's number of arguments, so that unknown ids fit too.
const ARGUMENTS_MAX: usize = 12;

/// The places of the arguments in a message, in the order sent.
#[derive(Debug, Clone, Default)]
pub struct Arguments {
    found: [Argument; ARGUMENTS_MAX],
    count: usize,
}

/// An argument of a message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Argument {
    /// The number of the field in the struct of arguments.
    pub id: i16,
    /// The type as sent.
    pub ttype: TType,
    /// Where its value starts, in bytes from the start of the message.
    pub position: usize,
}

impl Arguments {
    /// Reads over the argument struct, which must be next. Arguments past the twelfth belong to no method and are
    /// skipped.
    ///
    /// # Errors
    ///
    /// If the struct is invalid or incomplete.
    pub fn find(reader: &mut Reader<'_>) -> Result<Arguments, WireError> {
        let mut arguments = Arguments::default();
        arguments.find_in(reader).map(|()| arguments)
    }

    /// Does the same in place of the arguments of another message.
    pub(super) fn find_in(&mut self, reader: &mut Reader<'_>) -> Result<(), WireError> {
        self.count = 0;
        while let Some((ttype, id)) = reader.field_begin()? {
            if let Some(slot) = self.found.get_mut(self.count) {
                *slot = Argument { id, ttype, position: reader.position() };
                self.count += 1;
            }
            reader.skip(ttype)?;
        }
        Ok(())
    }

    /// Returns the arguments in the order sent.
    #[inline]
    pub fn as_slice(&self) -> &[Argument] {
        self.found.split_at(self.count).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_found_in_the_order_sent() {
        let fields = b"\x0b\0\x02\0\0\0\x01k\x08\0\x01\0\0\0\x07\x0b\0\x02\0\0\0\0\0rest";
        let mut reader = Reader::over(fields);
        let found = Arguments::find(&mut reader).unwrap();
        let argument = |id, ttype, position| Argument { id, ttype, position };
        let expected =
            [argument(2, TType::String, 3), argument(1, TType::I32, 11), argument(2, TType::String, 18)];
        assert_eq!(found.as_slice(), expected);
        assert_eq!(reader.remaining(), 4);
        assert_eq!(Reader::over(fields).at(expected[1].position).i32(), Ok(7));
    }

    #[test]
    fn arguments_past_the_twelfth_are_skipped() {
        let fields = [&b"\x03\0\x01\x05".repeat(13)[..], b"\0"].concat();
        let mut reader = Reader::over(&fields);
        assert_eq!(Arguments::find(&mut reader).unwrap().as_slice().len(), ARGUMENTS_MAX);
        assert_eq!(reader.remaining(), 0);
        assert!(Arguments::find(&mut Reader::over(&fields[..50])).is_err());
    }
}
