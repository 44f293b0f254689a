//! Rules of reads over Thrift: the checks, their order, and how columns are counted.

use super::rules;
use crate::compat::span::{Eras, Span, before, only, since};
use crate::util::Release::{V0_3, V0_4, V0_5, V0_6, V0_7, V0_8, V1_0, V1_1, V1_2, V2_0, V2_1, V2_2, V3_0};

/// The ways in which get_count counts a slice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountBy {
    /// It reads the slice at once, with all checks of a read.
    Slice,
    /// It reads the slice in pages, with all checks of a read. A missing range is the whole row.
    ExactPages,
    /// It reads the slice in pages of at least two columns, with all checks of a read. A limit below the page size
    /// applies to the columns of a page.
    Pages,
    /// It reads the slice in pages and checks only the column family, but no key, consistency level or bound.
    UncheckedPages,
}

rules! {
    /// Rules of reads.
    pub struct ReadRules {
        /// The way in which get_count counts a slice range. Columns given by name are always counted with one read
        /// (`CassandraServer.get_count` of 1.0, `QueryPagers.countPaged` of 2.0).
        count_by: CountBy = Eras([
            (V0_3, CountBy::Slice),
            (V1_0, CountBy::ExactPages),
            (V1_1, CountBy::Pages),
            (V2_0, CountBy::UncheckedPages),
        ]);
        /// get_count and get_column_count also count tombstones that gc_grace still keeps (0.3, 0.4).
        count_includes_tombstones: bool = before(V0_5);
        /// get_count checks the keyspace and the super column as other reads do (all but 0.4).
        count_checks_parent: bool = Eras([(V0_3, true), (V0_4, false), (V0_5, true)]);
        /// get of a super column throws NotFoundException if the super column has ever been deleted itself, and returns
        /// an empty super column if only its columns have been deleted (0.4).
        get_sees_super_tombstones: bool = only(V0_4);
        /// A predicate must have either names or a range (0.5 and later); with both, 0.4 uses the names.
        predicate_is_checked: bool = since(V0_5);
        /// Reads at ALL are refused (0.4 to 0.6.2).
        refuses_reads_at_all: bool = before(V0_6);
        /// Reads at ANY, which 0.6 introduced, are refused (0.6 and later).
        refuses_reads_at_any: bool = since(V0_6);
        /// Reads at EACH_QUORUM are refused (1.1 to 2.2, `ThriftValidation`, then `ConsistencyLevel.validateForRead`).
        refuses_reads_at_each_quorum: bool = Span::between(V1_1, V2_2);
        /// LOCAL_QUORUM and EACH_QUORUM require a keyspace whose strategy has data centres (to 1.1,
        /// `ThriftValidation.validateConsistencyLevel`).
        data_centre_levels_need_strategy: bool = before(V1_2);
        /// The consistency level of a read of many rows is checked before their keys (1.1 and later,
        /// `CassandraServer`).
        level_is_checked_before_keys: bool = since(V1_1);
        /// Range scans check their consistency level (0.7 and later); 0.6 fails with an internal error at ZERO and
        /// accepts ANY.
        scan_checks_level: bool = since(V0_7);
        /// Reads of many rows require at least one key (0.4, 0.5).
        reads_need_a_key: bool = Span::between(V0_4, V0_5);
        /// get_key_range ignores super columns that were deleted and then written again (0.4).
        key_range_misses_refilled_supers: bool = only(V0_4);
        /// The count of a slice and the lengths of both bounds are checked before the bounds are validated as names
        /// (1.2 and later).
        slice_lengths_are_checked_first: bool = since(V1_2);
        /// A KeyRange may have a start key and an end token (1.1 and later, `ThriftValidation.validateKeyRange`).
        key_range_may_end_with_token: bool = since(V1_1);
        /// If the column family has column definitions, a bound of a slice that is not validated must still be a valid
        /// name, because the old server formats it (2.1).
        unchecked_bounds_are_printed: bool = since(V2_1);
        /// get_paged_slice parses its start column like a bound that is not validated (2.1).
        page_start_is_read_as_name: bool = since(V2_1);
        /// get_paged_slice applies its start column only to the row of its start key (2.0 and later); before, to the
        /// first row that it reads, whatever its key.
        page_start_is_of_named_row: bool = since(V2_0);
        /// The count of get_paged_slice is of rows, each with all of its columns (3.0 and later); before, it is of columns.
        page_count_is_of_rows: bool = since(V3_0);
        /// An index expression requires a non-empty name of a column of a Standard column family. Otherwise 2.1 and 2.2 fail
        /// with an internal error, because they cannot build a cell name.
        condition_needs_plain_name: bool = Span::between(V2_1, V2_2);
        /// A deleted column compares with a condition as an empty value (3.0 and later). Before, as the four bytes of its
        /// deletion time.
        deleted_columns_are_empty: bool = since(V3_0);
        /// Rows without columns in the slice are left out of the result of index expressions (3.0 and later).
        conditions_skip_empty_rows: bool = since(V3_0);
        /// An index clause with a negative count returns no rows (3.0 and later). Before, it is an internal error.
        index_count_may_be_negative: bool = since(V3_0);
        /// A reversed slice of get_multi_slice must have two different bounds: an open one counts as the other end (3.0 and
        /// later, `LegacyLayout.decodeSliceBound`).
        reversed_slices_need_bounds: bool = since(V3_0);
        /// Index expressions on columns without an index are applied to all columns of a row (2.0 and later); 1.1 and
        /// 1.2 apply them only to the columns that the predicate names.
        conditions_see_all_columns: bool = since(V2_0);
        /// The columns of a reversed slice are returned in ascending order in the result of index expressions (2.1, 2.2).
        conditions_turn_reversed_slices: bool = Span::between(V2_1, V2_2);
        /// In a reversed slice of a Standard column family with column definitions, the defined columns come in ascending
        /// order (3.0 and later, `ThriftResultsMerger`).
        defined_columns_ascend: bool = since(V3_0);
        /// In a reversed slice of super columns, the columns in each are in descending order, except in the last super column
        /// of counters (3.0 and later, `CassandraServer.thriftifySuperColumns`).
        super_cells_descend: bool = since(V3_0);
        /// Column names of a CQL table are checked against its definition (2.0 and later).
        names_are_checked_by_table: bool = since(V2_0);
        /// Deletions with invalid names are compared with stored names as in 0.6: TimeUUIDs by their times first, and a
        /// LongType accepts any length.
        compares_times_before_names: bool = since(V0_6);
        /// COUNT of CQL 2 counts the columns of one row (0.8); later it counts rows.
        count_of_cql2_is_of_columns: bool = only(V0_8);
        /// The column families of `system` cannot be read (to 0.6).
        system_is_closed: bool = before(V0_7);
        /// RandomPartitioner's smallest token is -1 (0.7 and later); before, it is 0.
        random_ring_begins_below_zero: bool = since(V0_7);
        /// get_string_property has the property "token map" (0.4 and later).
        has_token_map_property: bool = since(V0_4);
    }
}
