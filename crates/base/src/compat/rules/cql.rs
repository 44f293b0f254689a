//! Rules of CQL 3 statements.

use super::rules;
use crate::compat::span::{Eras, before, since};
use crate::util::Release::{V0_3, V2_0, V2_1, V2_2, V3_0};

rules! {
    /// Rules of CQL 3 statements.
    pub struct CqlRules {
        /// Conditions are checked in the order of a Java map, and the first one that does not hold ends the check (2.1,
        /// `CQL3CasConditions`); before, in the order of the statement.
        conditions_are_in_a_map: bool = since(V2_1);
        /// A condition on a column does not hold for a row that does not exist, not even `IF v = null` (before 2.1).
        conditions_need_row: bool = before(V2_1);
        /// A refused conditional statement that writes static columns is answered with their values, and if it writes no
        /// others with the clustering values of the first row (3.0 and later, `CQL3CasRequest.columnsToRead`).
        refusals_show_partition: bool = since(V3_0);
        /// A partition with static columns only is a row of a result only if a static column is selected (before 2.1).
        bare_statics_need_selection: bool = before(V2_1);
        /// The limit of a SELECT without LIMIT (`SelectStatement` before 2.0).
        default_limit: Option<usize> = Eras([(V0_3, Some(10_000)), (V2_0, None)]);
        /// DISTINCT is a keyword (2.0 and later); before, it is the name of a column.
        has_distinct: bool = since(V2_0);
        /// SELECT refuses Super column families (to 1.2).
        select_refuses_super: bool = before(V2_0);
        /// The partition keys of an IN are sorted and read once each (2.1); before, they are read as listed.
        in_keys_are_sorted: bool = since(V2_1);
        /// ORDER BY over several partitions requires its columns in the selection (before 2.1, CASSANDRA-4911).
        order_needs_selected_columns: bool = before(V2_1);
        /// A SELECT whose conditions need an index is refused, before further checks, unless one of them is an equality
        /// on an indexed column (before 2.1).
        conditions_need_index_first: bool = before(V2_1);
        /// CQL's `timestamp` is the class DateType, which compares unsigned numbers (to 1.2).
        timestamps_are_dates: bool = before(V2_0);
        /// A blob may be written as hex digits in quotes (to 1.2).
        blobs_in_quotes: bool = before(V2_0);
        /// Messages name operators by words, such as EQ for = (to 1.2).
        operators_are_words: bool = before(V2_0);
        /// The message of a syntax error ends with the words around the error (2.1).
        syntax_errors_show_words: bool = since(V2_1);
        /// The class of a single marker after IN is a frozen list (2.1).
        in_markers_are_frozen: bool = since(V2_1);
        /// If --compat selects the release, the metadata of bind markers over Thrift has the description of the column
        /// that 2.1 sends; otherwise only its name (2.1).
        markers_have_notes: bool = since(V2_1);
        /// Timestamps that the server generates have a resolution of milliseconds (before 2.1, CASSANDRA-6106).
        own_timestamps_are_millis: bool = before(V2_1);
        /// A counter update uses the server's time and ignores the statement's timestamp (before 2.1, CASSANDRA-6649).
        /// Later, such a timestamp is refused.
        counters_ignore_timestamps: bool = before(V2_1);
        /// A batch of any kind must not mix counter updates with other writes (before 2.1). In 2.1 this depends on the
        /// kind of the batch.
        batch_keeps_counters_apart: bool = before(V2_1);
        /// A DELETE of counters counts as a counter update in a batch (2.0 and later); before, as another write.
        batch_counts_deletions: bool = since(V2_0);
        /// ALTER TYPE accepts a type that has all values of the old one, such as varint for int (2.0 and later); before,
        /// only blob and a type of the same order.
        types_take_values: bool = since(V2_0);
        /// ALTER TYPE refuses the clustering columns of a COMPACT STORAGE table (2.1).
        compact_clustering_keeps_type: bool = since(V2_1);
        /// ALTER TYPE of a collection accepts a collection of wider elements (2.1).
        collections_take_elements: bool = since(V2_1);
        /// The smallest timestamp is refused, because internally it means a missing timestamp (2.0 and later).
        smallest_timestamp_is_refused: bool = since(V2_0);
        /// `l = [1, 2] + l` puts 2 before 1 (to 1.2).
        prepended_lists_are_reversed: bool = before(V2_0);
        /// UPDATE also writes the row marker (to 1.2).
        update_marks_rows: bool = before(V2_0);
        /// A DELETE of columns may omit the clustering columns, and then deletes nothing (2.1).
        delete_may_lack_clustering: bool = since(V2_1);
        /// `m = m - {keys}` removes keys from a map (2.1, CASSANDRA-6599).
        maps_lose_keys: bool = since(V2_1);
        /// An element of an empty list fails with the error of a null list (2.1); before, of an index out of bounds.
        empty_lists_are_null: bool = since(V2_1);
        /// Collections may be indexed (2.1, CASSANDRA-4511).
        indexes_collections: bool = since(V2_1);
        /// Columns of the primary key may be indexed (2.0 and later, CASSANDRA-5125).
        indexes_primary_key: bool = since(V2_0);
        /// Columns of the primary key of a COMPACT STORAGE table must not be indexed (2.0 and later).
        compact_keys_have_no_index: bool = since(V2_0);
        /// Dates are printed with hours and minutes (2.0 and later, `TimestampSerializer`); before, with seconds.
        dates_are_shown_to_the_minute: bool = since(V2_0);
        /// LIST PERMISSIONS has a column with the role (2.2 and later).
        permissions_name_roles: bool = since(V2_2);
        /// A result column of a function has its keyspace and lower case, such as `system.dateof(a)` (2.2 and later). Before,
        /// it has the words of the statement.
        functions_have_full_names: bool = since(V2_2);
        /// Over Thrift, the lengths in a collection have 16 bits (to 2.2). Later they have 32, as in version 3 of the native
        /// protocol (`QueryOptions.fromThrift`).
        thrift_collections_are_short: bool = before(V3_0);
    }
}
