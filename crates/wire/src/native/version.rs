//! The versions of the protocol.

use std::fmt;

use strum::{FromRepr, VariantArray};

use base::marshal::CollectionForm;

/// A version of the protocol. The comments name the first release that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, VariantArray, FromRepr)]
#[repr(u8)]
pub enum ProtocolVersion {
    /// 1.2.
    V1 = 1,
    /// 2.0.
    V2 = 2,
    /// 2.1.
    V3 = 3,
    /// 2.2.
    V4 = 4,
    /// 4.0.
    V5 = 5,
}

impl ProtocolVersion {
    /// All supported versions, in ascending order.
    pub const ALL: &[ProtocolVersion] = ProtocolVersion::VARIANTS;

    /// The highest supported version.
    pub const HIGHEST: ProtocolVersion = ProtocolVersion::V5;

    /// Returns the version with a number; `None` if it is not supported.
    pub fn of_number(number: u8) -> Option<ProtocolVersion> {
        ProtocolVersion::from_repr(number)
    }

    /// Returns the number of the version in frames.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// Returns the length of a frame's header. From version 3 on the stream number has two bytes.
    pub fn header_bytes(self) -> usize {
        if self < ProtocolVersion::V3 { 8 } else { 9 }
    }

    /// Returns whether frames are wrapped in segments once the connection has started.
    pub fn has_segments(self) -> bool {
        self >= ProtocolVersion::V5
    }

    /// Returns the encoding of collections: with lengths of 16 bits before version 3, of 32 bits from it on.
    pub fn collection_form(self) -> CollectionForm {
        if self < ProtocolVersion::V3 { CollectionForm::Short } else { CollectionForm::Long }
    }
}

impl fmt::Display for ProtocolVersion {
    /// Formats the version as SUPPORTED lists it: `4/v4`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{0}/v{0}", self.number())
    }
}
