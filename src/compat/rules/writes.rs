//! Rules of writes over Thrift.

use super::rules;
use crate::compat::span::{Span, before, since};
use crate::util::Release::{V0_4, V0_5, V0_7, V0_8, V2_0, V2_1};

rules! {
    /// The rules of writes.
    pub struct WriteRules {
        /// Keys are bytes (0.7 and later); before, they are text, measured in Java's modified UTF-8.
        keys_are_bytes: bool = since(V0_7);
        /// A key is checked before its column family is looked up, and then again (to 0.7).
        key_is_checked_before_family: bool = before(V0_8);
        /// batch_insert trims the key (0.4, 0.5); no other call does.
        batch_insert_trims_key: bool = Span::between(V0_4, V0_5);
        /// A batch is checked with its counters, column family by column family (0.8 and later,
        /// `CassandraServer.createMutationList`); before, key and elements first, and a column family only where
        /// something is written.
        batch_is_checked_by_family: bool = since(V0_8);
        /// A batch checks its level (0.7 and later). Earlier releases resolve deletions under invalid names instead.
        batch_checks_level: bool = since(V0_7);
        /// A batch also writes rows without changes, and scans return them without columns (2.1).
        batch_leaves_empty_rows: bool = since(V2_1);
        /// A row of a counter column family makes a batch one of counters even if it is empty (2.1).
        batch_counts_empty_rows: bool = since(V2_1);
        /// A deletion in a batch is checked like one outside, with its column family (0.7 and later).
        batch_deletion_is_checked: bool = since(V0_7);
        /// A deletion may have a range of names (2.0 and later).
        deletes_slices: bool = since(V2_0);
        /// remove of a column of a Super column family has to name the super column (0.7 and later).
        removal_names_super: bool = since(V0_7);
        /// The second at which a column expires has 31 bits, and one that does not fit is refused (2.1, CASSANDRA-14092).
        expiry_has_31_bits: bool = since(V2_1);
        /// Writes count only the replicas that exist (0.5 to 0.7), so they succeed with too few nodes.
        writes_ignore_missing_replicas: bool = Span::between(V0_5, V0_7);
    }
}
