//! Positions in the ring.

use bytes::Bytes;

use base::partitioner::PartitionerRef;

/// The token and the key of a row. Rows are in this order.
pub(crate) type RingPosition = (Vec<u8>, Bytes);

/// Returns the position of a row.
pub(crate) fn ring_position(partitioner: &PartitionerRef, key: Bytes) -> RingPosition {
    let mut token = Vec::new();
    partitioner.token(&key, &mut token);
    (token, key)
}
