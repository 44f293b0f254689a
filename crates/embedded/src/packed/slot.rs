//! The slot of an entry: where its bytes are, and the beginning of its key.

/// Used as a value's length if the entry is a removal.
pub(super) const REMOVED: u32 = u32::MAX;
/// Used as the number of a large value if the value is stored after its key.
pub(super) const INLINE: u32 = u32::MAX;
/// Bytes of the key that a slot contains.
pub(super) const HEAD_BYTES: usize = size_of::<u128>();

/// Bytes of memory for an entry besides its key and value.
pub(super) const SLOT_BYTES: usize = size_of::<Slot>();

/// Where the key and the value of an entry are stored.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    /// The key's first bytes, so that keys can mostly be compared without reading `data`.
    pub head: u128,
    /// Offset of the key in `data`.
    pub at: u32,
    pub key_len: u32,
    pub value_len: u32,
    /// The number of its large value, or `INLINE`.
    pub large: u32,
}

/// Returns the first bytes of a key as a number. If the numbers of two keys differ, the keys have the same order.
pub(super) fn head_of(key: &[u8]) -> u128 {
    match key.first_chunk() {
        Some(head) => u128::from_be_bytes(*head),
        None => {
            let mut head = [0; HEAD_BYTES];
            head.split_at_mut(key.len()).0.copy_from_slice(key);
            u128::from_be_bytes(head)
        }
    }
}

pub(super) fn as_u32(number: usize) -> u32 {
    assert!(number < REMOVED as usize, "{number} bytes of a row do not fit into a slot");
    number as u32
}

pub(super) fn as_usize(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl Slot {
    pub(super) fn key_range(&self) -> std::ops::Range<usize> {
        as_usize(self.at)..as_usize(self.at) + as_usize(self.key_len)
    }

    /// Returns the bytes of the value in `data`, after the key.
    pub(super) fn inline_len(&self) -> usize {
        if self.value_len == REMOVED || self.large != INLINE { 0 } else { as_usize(self.value_len) }
    }

    /// Returns the bytes of key and value in `data`.
    pub(super) fn data_len(&self) -> usize {
        as_usize(self.key_len) + self.inline_len()
    }
}
