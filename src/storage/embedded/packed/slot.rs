//! Where an entry lies, and the beginning of its key.

/// In the place of a value's length: the entry is a removal.
pub const REMOVED: u32 = u32::MAX;
/// In the place of the number of a large value: the value lies behind its key.
pub const INLINE: u32 = u32::MAX;
/// Bytes of a key that a slot has.
pub const HEAD_BYTES: usize = size_of::<u128>();

/// What an entry takes beside its bytes and its tag.
pub const SLOT_BYTES: usize = size_of::<Slot>();

/// An entry, without its bytes.
#[derive(Debug, Clone)]
pub struct Slot {
    /// The key's first bytes, so that to compare two keys is seldom to look them up.
    pub head: u128,
    /// Where in the data the key begins.
    pub at: u32,
    pub key_len: u32,
    pub value_len: u32,
    /// The number of its large value, or `INLINE`.
    pub large: u32,
}

/// The first bytes of a key as a number. Of two keys with different numbers, the smaller has the smaller one.
pub fn head_of(key: &[u8]) -> u128 {
    match key.first_chunk() {
        Some(head) => u128::from_be_bytes(*head),
        None => {
            let mut head = [0; HEAD_BYTES];
            head[..key.len()].copy_from_slice(key);
            u128::from_be_bytes(head)
        }
    }
}

pub fn as_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX - 1)
}

pub fn as_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Slot {
    pub fn key_range(&self) -> std::ops::Range<usize> {
        as_usize(self.at)..as_usize(self.at) + as_usize(self.key_len)
    }

    /// Bytes that its value takes behind its key.
    pub fn inline_len(&self) -> usize {
        if self.value_len == REMOVED || self.large != INLINE { 0 } else { as_usize(self.value_len) }
    }

    /// Bytes of key and value in `data`.
    pub fn data_len(&self) -> usize {
        as_usize(self.key_len) + self.inline_len()
    }
}
