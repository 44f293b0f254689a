//! The paging state: the position at which the next page of a SELECT begins.
//!
//! ```text
//!   state   version 2 | u32 length | row key | u64 rows left | u64 rows of the partition | 0: after the partition
//!           ...                                              | 1 | u32 length | super column | u32 length | name
//! ```

use bytes::{Buf, BufMut, Bytes, BytesMut};

use crate::{CqlError, Result};

const VERSION: u8 = 2;

/// The last cell that was read of a partition. `super_column` is empty in tables without super columns.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct CellPosition {
    pub super_column: Bytes,
    pub name: Bytes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PagingState {
    pub key: Bytes,
    /// `None`: the partition was read to its end.
    pub position: Option<CellPosition>,
    /// Rows that LIMIT still allows.
    pub rows_left: u64,
    /// Rows of this partition that were returned so far, for PER PARTITION LIMIT.
    pub of_partition: usize,
}

impl PagingState {
    pub(super) fn encode(&self) -> Bytes {
        let mut out = BytesMut::new();
        let bytes = |bytes: &[u8], out: &mut BytesMut| {
            out.put_u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
            out.put_slice(bytes);
        };
        out.put_u8(VERSION);
        bytes(&self.key, &mut out);
        out.put_u64(self.rows_left);
        out.put_u64(u64::try_from(self.of_partition).unwrap_or(u64::MAX));
        out.put_u8(u8::from(self.position.is_some()));
        if let Some(position) = &self.position {
            bytes(&position.super_column, &mut out);
            bytes(&position.name, &mut out);
        }
        let state = out.freeze();
        debug_assert!(PagingState::read(state.clone()).as_ref() == Some(self), "the next page is refused");
        state
    }

    /// Decodes a paging state from a client. Any bytes are possible.
    pub(super) fn decode(state: &Bytes) -> Result<PagingState> {
        PagingState::read(state.clone()).ok_or(CqlError::PagingState)
    }

    fn read(mut rest: Bytes) -> Option<PagingState> {
        let version = take(&mut rest, 1)?;
        let key = take_bytes(&mut rest)?;
        let rows_left = take(&mut rest, 8)?.get_u64();
        let of_partition = usize::try_from(take(&mut rest, 8)?.get_u64()).ok()?;
        let position = match take(&mut rest, 1)?[0] {
            0 => None,
            1 => Some(CellPosition { super_column: take_bytes(&mut rest)?, name: take_bytes(&mut rest)? }),
            _ => return None,
        };
        let is_whole = version[0] == VERSION && rest.is_empty() && !key.is_empty();
        let has_name = position.as_ref().is_none_or(|position| !position.name.is_empty());
        (is_whole && has_name).then_some(PagingState { key, position, rows_left, of_partition })
    }
}

fn take(rest: &mut Bytes, count: usize) -> Option<Bytes> {
    (rest.len() >= count).then(|| rest.split_to(count))
}

fn take_bytes(rest: &mut Bytes) -> Option<Bytes> {
    let length = take(rest, 4)?.get_u32();
    take(rest, usize::try_from(length).ok()?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn paging_states_round_trip(
            key in prop::collection::vec(any::<u8>(), 1..9),
            names in prop::option::of((prop::collection::vec(any::<u8>(), 0..5), prop::collection::vec(any::<u8>(), 1..5))),
            rows_left in any::<u64>(),
        ) {
            let position = names.map(|(super_column, name)| CellPosition { super_column: super_column.into(), name: name.into() });
            let state = PagingState { key: key.into(), position, rows_left, of_partition: 7 };
            prop_assert_eq!(PagingState::decode(&state.encode()).unwrap(), state.clone());
            let bytes = state.encode();
            prop_assert!(PagingState::decode(&bytes.slice(..bytes.len() - 1)).is_err());
        }

        #[test]
        fn decoded_paging_states_encode_to_the_same_bytes(bytes in prop::collection::vec(prop::sample::select(vec![0u8, 1, 2, 255]), 0..40)) {
            let bytes = Bytes::from(bytes);
            if let Ok(state) = PagingState::decode(&bytes) {
                prop_assert_eq!(state.encode(), bytes);
            }
        }
    }
}
