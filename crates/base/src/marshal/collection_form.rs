//! The two forms of collections in messages.

/// The size of the lengths in a collection's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CollectionForm {
    /// 16 bits: Thrift, and native protocol versions 1 and 2.
    Short,
    /// 32 bits: native protocol version 3 and later, and all frozen collections.
    Long,
}
