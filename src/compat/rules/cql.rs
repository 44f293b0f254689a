//! Rules of CQL 3 statements.

use super::rules;
use crate::compat::span::{Eras, Span, before, since};
use crate::util::Release::{V0_3, V2_0, V2_1};

/// A SELECT with a LIMIT over partitions of a dense table may not have strict bounds (2.0 and 2.1). This rule depends
/// on the reported line: servers that report 2.2 do not have it.
pub const STRICT_BOUNDS_ARE_REFUSED: Span = Span::between(V2_0, V2_1);

rules! {
    /// The rules of CQL 3 statements.
    pub struct CqlRules {
        /// Rows of a SELECT without LIMIT (`SelectStatement` before 2.0).
        default_limit: Option<usize> = Eras([(V0_3, Some(10_000)), (V2_0, None)]);
        /// DISTINCT is a keyword (2.0 and later); before, it is a column's name.
        has_distinct: bool = since(V2_0);
        /// SELECT refuses Super column families (to 1.2).
        select_refuses_super: bool = before(V2_0);
        /// An IN of one value is an equality everywhere (1.2); later, only on columns outside of the primary key.
        in_of_one_is_equality: bool = before(V2_0);
        /// The keys of IN are sorted, and each is read once (2.1); before, they are read as listed.
        in_keys_are_sorted: bool = since(V2_1);
        /// ORDER BY over several partitions needs its columns in the result (before 2.1, CASSANDRA-4911).
        order_needs_selected_columns: bool = before(V2_1);
        /// A condition on other columns needs an indexed column with an equality first of all (before 2.1).
        conditions_need_index_first: bool = before(V2_1);
        /// Timestamps have the class DateType, which sorts by unsigned numbers (to 1.2).
        timestamps_are_dates: bool = before(V2_0);
        /// A blob may be hex in quotes (to 1.2).
        blobs_in_quotes: bool = before(V2_0);
        /// Messages name operators by words, EQ for = (to 1.2).
        operators_are_words: bool = before(V2_0);
        /// A syntax error ends with the words around it (2.1).
        syntax_errors_show_words: bool = since(V2_1);
        /// The class of a single marker after IN is a frozen list (2.1).
        in_markers_are_frozen: bool = since(V2_1);
        /// A session that selected this release with --compat sees notes on its markers (2.1).
        markers_have_notes: bool = since(V2_1);
        /// Timestamps that the server makes have milliseconds only (before 2.1, CASSANDRA-6106).
        own_timestamps_are_millis: bool = before(V2_1);
        /// Counters use the server's time, whatever timestamp the statement has (before 2.1, CASSANDRA-6649); later,
        /// such a timestamp is refused.
        counters_ignore_timestamps: bool = before(V2_1);
        /// A batch may not have counters beside other writes, whatever its kind (before 2.1); later, that is checked by
        /// statements.
        batch_keeps_counters_apart: bool = before(V2_1);
        /// The smallest timestamp is refused (2.0 and later), because it denotes a missing timestamp.
        smallest_timestamp_is_refused: bool = since(V2_0);
        /// UPDATE writes the row's marker too (to 1.2).
        update_marks_rows: bool = before(V2_0);
        /// A DELETE of columns may name no row, and then deletes nothing (2.1).
        delete_may_lack_clustering: bool = since(V2_1);
        /// `m = m - {keys}` removes keys from a map (2.1, CASSANDRA-6599).
        maps_lose_keys: bool = since(V2_1);
        /// An element of an empty list is refused as one of null (2.1); before, as an index out of bounds.
        empty_lists_are_null: bool = since(V2_1);
        /// Collections may be indexed (2.1, CASSANDRA-4511).
        indexes_collections: bool = since(V2_1);
        /// Columns of the primary key may be indexed (2.0 and later, CASSANDRA-5125).
        indexes_primary_key: bool = since(V2_0);
        /// The partition key of a COMPACT STORAGE table may not be indexed (2.1).
        compact_keys_have_no_index: bool = since(V2_1);
        /// system.schema_columns lists columns of the key and an empty value (2.0 and later).
        lists_key_columns: bool = since(V2_0);
        /// LIST PERMISSIONS has a column with the role: 2.2 and later do, and no release here.
        permissions_name_roles: bool = Span::NEVER;
    }
}
