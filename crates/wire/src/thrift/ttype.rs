//! The type codes of TBinaryProtocol.

use super::WireError;

/// A type code, as written before fields and elements.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, strum::FromRepr)]
#[repr(u8)]
pub enum TType {
    /// Ends a struct. As an element type it means any unknown code of an empty container: some hand-written clients
    /// write 0 there, and old servers ignored it.
    #[default]
    Stop = 0,
    /// One byte: 0 is false.
    Bool = 2,
    /// A signed number of 8 bits.
    Byte = 3,
    /// A floating-point number of 64 bits, IEEE 754.
    Double = 4,
    /// A signed number of 16 bits.
    I16 = 6,
    /// A signed number of 32 bits. Enums have this type, too.
    I32 = 8,
    /// A signed number of 64 bits.
    I64 = 10,
    /// Text and binary alike.
    String = 11,
    /// Fields in any order, each with its type and id, then `Stop`. Exceptions are structs.
    Struct = 12,
    /// The key type, the value type, a count and the pairs.
    Map = 13,
    /// The element type, a count and the elements.
    Set = 14,
    /// The element type, a count and the elements.
    List = 15,
}

impl TType {
    /// Returns the type of a code, including `Stop`; `None` for unknown codes.
    pub(super) fn from_code(code: u8) -> Option<TType> {
        TType::from_repr(code)
    }

    /// Returns the code on the wire.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// Returns the length of all values of the type in bytes; `None` if lengths vary.
    pub(super) fn fixed_bytes(self) -> Option<usize> {
        match self {
            TType::Bool | TType::Byte => Some(1),
            TType::I16 => Some(2),
            TType::I32 => Some(4),
            TType::I64 | TType::Double => Some(8),
            TType::Stop | TType::String | TType::Struct | TType::Map | TType::Set | TType::List => None,
        }
    }

    /// Returns the length of the shortest value in bytes, to check an announced count of elements. Never 0, so that the
    /// bytes that follow limit each count.
    pub(super) fn bytes_min(self) -> usize {
        match self {
            TType::Stop | TType::Bool | TType::Byte | TType::Struct => 1,
            TType::I16 => 2,
            TType::I32 | TType::String => 4,
            TType::Set | TType::List => 5,
            TType::Map => 6,
            TType::I64 | TType::Double => 8,
        }
    }

    /// Returns the type of `count` elements whose code is at byte `at`. An empty container may have any code.
    pub(super) fn of_elements(code: u8, count: usize, at: usize) -> Result<TType, WireError> {
        match TType::from_code(code) {
            Some(TType::Stop) | None if count > 0 => Err(WireError::UnknownType { at, code }),
            Some(ttype) => Ok(ttype),
            None => Ok(TType::Stop),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_types_agree() {
        let known: Vec<u8> = (0..=255).filter(|code| TType::from_code(*code).is_some()).collect();
        assert_eq!(known, [0, 2, 3, 4, 6, 8, 10, 11, 12, 13, 14, 15]);
        for code in known {
            assert_eq!(TType::from_code(code).map(TType::code), Some(code));
        }
    }

    #[test]
    fn only_empty_containers_may_have_unknown_types() {
        assert_eq!(TType::of_elements(99, 0, 7), Ok(TType::Stop));
        assert_eq!(TType::of_elements(11, 0, 7), Ok(TType::String));
        assert_eq!(TType::of_elements(99, 1, 7), Err(WireError::UnknownType { at: 7, code: 99 }));
        assert_eq!(TType::of_elements(0, 1, 7), Err(WireError::UnknownType { at: 7, code: 0 }));
    }
}
