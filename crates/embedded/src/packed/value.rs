//! A value of packed entries.

use bytes::Bytes;

/// A value, borrowed from packed entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PackedValue<'a> {
    Inline(&'a [u8]),
    Large(&'a Bytes),
}

impl<'a> PackedValue<'a> {
    pub(crate) fn as_slice(self) -> &'a [u8] {
        match self {
            PackedValue::Inline(value) => value,
            PackedValue::Large(value) => value,
        }
    }

    /// Returns an owned value. Short values are copied, large ones are shared.
    pub(crate) fn to_bytes(self) -> Bytes {
        match self {
            PackedValue::Inline(value) => Bytes::copy_from_slice(value),
            PackedValue::Large(value) => value.clone(),
        }
    }
}
