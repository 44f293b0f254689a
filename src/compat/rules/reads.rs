//! Rules of reads over Thrift: the checks, their order, and how columns are counted.

use super::rules;
use crate::compat::span::{Eras, Span, before, only, since};
use crate::util::Release::{V0_3, V0_4, V0_5, V0_6, V0_7, V1_0, V1_1, V1_2, V2_0, V2_1};

/// How get_count counts a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountBy {
    /// By one read of the slice, with all its checks.
    Slice,
    /// By pages of the slice, with all its checks: a count below a page's is applied to what the page has.
    Pages,
    /// By pages, checking only the column family: keys, levels and bounds may be anything.
    UncheckedPages,
}

rules! {
    /// The rules of reads.
    pub struct ReadRules {
        /// How get_count counts a range of columns; names are always counted by one read (`CassandraServer.get_count`
        /// of 1.0, `QueryPagers.countPaged` of 2.0).
        count_by: CountBy = Eras([(V0_3, CountBy::Slice), (V1_0, CountBy::Pages), (V2_0, CountBy::UncheckedPages)]);
        /// get_count and get_column_count count tombstones that are still kept (0.3, 0.4).
        count_includes_tombstones: bool = before(V0_5);
        /// get_count checks keyspace and super column as other reads do (not in 0.4).
        count_checks_parent: bool = Eras([(V0_3, true), (V0_4, false), (V0_5, true)]);
        /// get of a super column answers NotFound when it has ever been deleted, and an empty one when only its
        /// columns were (0.4).
        get_sees_super_tombstones: bool = only(V0_4);
        /// Predicates must have exactly one of names and range (0.5 and later); 0.4 prefers the names.
        predicate_is_checked: bool = since(V0_5);
        /// Reads at ALL are refused (0.4 to 0.6.2).
        refuses_reads_at_all: bool = before(V0_6);
        /// Reads at ANY are refused; before 0.6 there was no ANY.
        refuses_reads_at_any: bool = since(V0_6);
        /// Reads at EACH_QUORUM are refused (1.1 and later, `ThriftValidation`, then `ConsistencyLevel.validateForRead`).
        refuses_reads_at_each_quorum: bool = since(V1_1);
        /// LOCAL_QUORUM and EACH_QUORUM need a keyspace whose strategy knows data centres (to 1.1,
        /// `ThriftValidation.validateConsistencyLevel`).
        data_centre_levels_need_strategy: bool = before(V1_2);
        /// The level of a read of many rows is checked before their keys (1.1 and later, `CassandraServer`).
        level_is_checked_before_keys: bool = since(V1_1);
        /// Scans check their level (0.7 and later); 0.6 fails with an internal error at ZERO and accepts ANY.
        scan_checks_level: bool = since(V0_7);
        /// Reads of many rows need at least one key (0.4, 0.5).
        reads_need_a_key: bool = Span::between(V0_4, V0_5);
        /// get_key_range does not see super columns that were deleted and filled again (0.4).
        key_range_misses_refilled_supers: bool = only(V0_4);
        /// The count and the lengths of both bounds of a slice are checked before the bounds' names (1.2 and later).
        slice_lengths_are_checked_first: bool = since(V1_2);
        /// A range of rows may go from a key to a token (1.1 and later, `ThriftValidation.validateKeyRange`).
        key_range_may_end_with_token: bool = since(V1_1);
        /// A bound that is not checked is printed where columns are defined, and so has to be a name (2.1).
        unchecked_bounds_are_printed: bool = since(V2_1);
        /// get_paged_slice checks its start column as a bound that is not checked (2.1).
        page_start_is_read_as_name: bool = since(V2_1);
        /// get_paged_slice begins in the middle of its first row only if that is the row that the range names (2.0 and
        /// later); before, of whatever row comes first.
        page_start_is_of_named_row: bool = since(V2_0);
        /// A condition needs the name of a column of a Standard column family: 2.1 fails inside when it makes a cell's
        /// name of another.
        condition_needs_plain_name: bool = since(V2_1);
        /// Conditions without an index see all columns (2.0 and later); 1.1 and 1.2 see those that were asked for by
        /// name and no others.
        conditions_see_all_columns: bool = since(V2_0);
        /// A reversed slice of rows that meet conditions is reversed once more (2.1).
        conditions_turn_reversed_slices: bool = since(V2_1);
        /// Names of a table's columns are checked against the table (2.0 and later).
        names_are_checked_by_table: bool = since(V2_0);
        /// Invalid names are compared as 0.6 does: by the time of a TimeUUIDType first, and never as a long.
        compares_times_before_names: bool = since(V0_6);
        /// The token with which the ring of RandomPartitioner begins is -1 (0.7 and later), not 0.
        random_ring_begins_below_zero: bool = since(V0_7);
        /// get_string_property has a token map (0.4 and later).
        has_token_map_property: bool = since(V0_4);
    }
}
