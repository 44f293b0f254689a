//! Partitioners: they define the token of each row key, and so the order of range scans.

mod byte_ordered;
mod collating_order_preserving;
mod collation;
mod hex_text;
mod murmur3;
mod on_cluster;
mod order_preserving;
mod partitioner_trait;
mod random;

pub use byte_ordered::ByteOrderedPartitioner;
pub use collating_order_preserving::CollatingOrderPreservingPartitioner;
pub use murmur3::Murmur3Partitioner;
pub use on_cluster::{PartitionerChoice, check_partitioner};
pub use order_preserving::OrderPreservingPartitioner;
pub use partitioner_trait::{Partitioner, PartitionerRef, TokenError, TokenForm};
pub use random::RandomPartitioner;

use std::sync::Arc;

/// The package of class names without a dot.
pub const PACKAGE: &str = "org.apache.cassandra.dht.";

/// Creates a partitioner.
type Make = fn() -> PartitionerRef;

/// All partitioners by their short Java class names.
pub const PARTITIONERS: &[(&str, Make)] = &[
    ("ByteOrderedPartitioner", || Arc::new(ByteOrderedPartitioner)),
    ("CollatingOrderPreservingPartitioner", || Arc::new(CollatingOrderPreservingPartitioner)),
    ("Murmur3Partitioner", || Arc::new(Murmur3Partitioner)),
    ("OrderPreservingPartitioner", || Arc::new(OrderPreservingPartitioner)),
    ("RandomPartitioner", || Arc::new(RandomPartitioner)),
];

/// Returns the partitioner of a class name, short or full. `None` if there is none.
pub fn resolve(class_name: &str) -> Option<PartitionerRef> {
    let short = class_name.strip_prefix(PACKAGE).unwrap_or(class_name);
    PARTITIONERS.iter().find(|(name, _)| *name == short).map(|(_, make)| make())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_full_names_are_resolved() {
        for (short, _) in PARTITIONERS {
            let full = format!("{PACKAGE}{short}");
            assert_eq!(resolve(short).unwrap().class_name(), full);
            assert_eq!(resolve(&full).unwrap().class_name(), full);
        }
        for unknown in ["", PACKAGE, "Partitioner", "com.example.RandomPartitioner", "randompartitioner"] {
            assert!(resolve(unknown).is_none(), "{unknown}");
        }
    }
}
