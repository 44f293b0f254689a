//! Partitioners: where a row key stands in the ring, which is the order of range scans.

mod byte_ordered;
mod hex_text;
mod murmur3;
mod order_preserving;
mod partitioner_trait;
mod random;

pub use byte_ordered::ByteOrderedPartitioner;
pub use murmur3::Murmur3Partitioner;
pub use order_preserving::OrderPreservingPartitioner;
pub use partitioner_trait::{Partitioner, PartitionerRef, TokenError, TokenForm};
pub use random::RandomPartitioner;

use std::sync::Arc;

/// The package that a class name without a dot is looked up in.
pub const PACKAGE: &str = "org.apache.cassandra.dht.";

/// Makes one partitioner.
type Make = fn() -> PartitionerRef;

/// Every partitioner, by its short Java class name.
pub const PARTITIONERS: &[(&str, Make)] = &[
    ("ByteOrderedPartitioner", || Arc::new(ByteOrderedPartitioner)),
    ("Murmur3Partitioner", || Arc::new(Murmur3Partitioner)),
    ("OrderPreservingPartitioner", || Arc::new(OrderPreservingPartitioner)),
    ("RandomPartitioner", || Arc::new(RandomPartitioner)),
];

/// The partitioner of a class name, short or full; `None` when there is none.
pub fn resolve(class_name: &str) -> Option<PartitionerRef> {
    let short = class_name.strip_prefix(PACKAGE).unwrap_or(class_name);
    PARTITIONERS.iter().find(|(name, _)| *name == short).map(|(_, make)| make())
}
