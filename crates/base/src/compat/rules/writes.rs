//! Rules of writes over Thrift.

use super::rules;
use crate::compat::span::{Span, before, since};
use crate::util::Release::{V0_4, V0_5, V0_7, V0_8, V2_0, V2_1, V2_2, V3_0, V3_11};

rules! {
    /// Rules of writes.
    pub struct WriteRules {
        /// Keys are bytes (0.7 and later); before, they are text, and their length is counted in Java's modified UTF-8.
        keys_are_bytes: bool = since(V0_7);
        /// A key is checked before its column family is looked up, and once more after that (to 0.7).
        key_is_checked_before_family: bool = before(V0_8);
        /// batch_insert removes blanks around the key (0.4, 0.5). No other call does.
        batch_insert_trims_key: bool = Span::between(V0_4, V0_5);
        /// A batch, including its counters, is checked column family by column family (0.8 and later,
        /// `CassandraServer.createMutationList`). Before, keys and mutations are checked first, and a column family
        /// only if something is written to it.
        batch_is_checked_by_family: bool = since(V0_8);
        /// A batch checks its consistency level (0.7 and later). Earlier releases instead apply deletions with invalid
        /// names.
        batch_checks_level: bool = since(V0_7);
        /// A batch also writes rows without mutations, and scans return them without columns (2.1).
        batch_leaves_empty_rows: bool = since(V2_1);
        /// A batch with a row of a counter column family is a counter batch even if the row has no mutations (2.1).
        batch_counts_empty_rows: bool = since(V2_1);
        /// A deletion in a batch is checked against its column family, as remove checks it (0.7 and later).
        batch_deletion_is_checked: bool = since(V0_7);
        /// A deletion may have a slice range (2.0 and later).
        deletes_slices: bool = since(V2_0);
        /// Such a deletion may be in a super column (2.0 to 2.2). Later the columns of a super column are a map, which has no
        /// ranges.
        deletes_slices_of_supers: bool = Span::between(V2_0, V2_2);
        /// A time to live of 0 is none, whatever the column family's default (3.11, CASSANDRA-11207).
        ttl_may_be_zero: bool = since(V3_11);
        /// The updates of cas keep their time to live (3.0 and later); before, they do not expire.
        conditional_updates_expire: bool = since(V3_0);
        /// remove of a column in a Super column family must specify the super column (0.7 and later).
        removal_names_super: bool = since(V0_7);
        /// A time to live whose second of expiry does not fit into 31 bits is refused (2.1, CASSANDRA-14092).
        expiry_has_31_bits: bool = since(V2_1);
        /// Counters of a column family with `replicate_on_write = false` are only written at ONE or LOCAL_ONE (0.8 to 2.0).
        counters_replicate_on_write: bool = Span::between(V0_8, V2_0);
        /// Writes require only as many replicas as there are nodes, so they succeed with too few nodes (0.5 to 0.7).
        writes_ignore_missing_replicas: bool = Span::between(V0_5, V0_7);
    }
}
