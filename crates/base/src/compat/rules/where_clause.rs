//! Rules of WHERE and ORDER BY.

use super::rules;
use crate::compat::Line;
use crate::compat::span::{Span, before, only, since};
use crate::util::Release::{V2_0, V2_1, V2_2, V3_0};

/// The releases with `StatementRestrictions`, which analyzes a WHERE clause in another order than `SelectStatement` before.
const SINCE_2_2: Span = since(V2_2);
const BEFORE_2_2: Span = before(V2_2);

rules! {
    /// Rules of WHERE and ORDER BY in a SELECT, and from 3.0 on in an UPDATE or DELETE. They depend on the line whose words a
    /// session has, which may be one without a release here, such as 3.9 or 4.0.
    #[derive(Copy)]
    pub struct WhereRules {
        /// A relation is analyzed with its value, and then merged with the restriction that its columns already have, which
        /// decides whether both fit (2.2 and later, `Relation.toRestriction`, `Restriction.mergeWith`). Before, the relation
        /// decides, for each of its columns, before its value is analyzed (`SelectStatement.RawStatement`).
        merges_restrictions: bool = SINCE_2_2;
        /// `!=` is refused before its columns are looked up (2.2 and later, `Relation.toRestriction`).
        refuses_unequal_first: bool = SINCE_2_2;
        /// The value of a compact table may not be restricted (to 2.1, `SelectStatement`).
        refuses_compact_values: bool = BEFORE_2_2;
        /// IN with several values outside of the primary key is refused before its column and values are checked (2.2 and
        /// later, `SingleColumnRelation.newINRestriction`).
        refuses_in_of_values_first: bool = SINCE_2_2;
        /// An inequality on a column of the partition key is refused before its value is analyzed (2.2 to 3.9,
        /// `SingleColumnRelation.toReceivers`); before, it is refused when all relations are known; later, rows may be filtered
        /// by it (CASSANDRA-11031).
        refuses_key_slices_first: bool = Span::lines(Line::of(V2_2), Line(3, 10));
        /// An IN with one value is an equality (1.2, `SelectStatement.RawStatement.prepare`).
        in_of_one_is_equality: bool = before(V2_0);
        /// An IN with one value outside of the primary key is an equality (to 2.1, `SelectStatement`).
        in_of_one_value_is_equality: bool = BEFORE_2_2;
        /// An IN with one value is an equality that an index can find (3.0 and later, `Relation.toRestriction`).
        in_of_one_uses_index: bool = since(V3_0);
        /// A relation on an alias of the selection has a message of its own (before 3.0, `Relation.toColumnDefinition`).
        knows_aliases: bool = before(V3_0);
        /// `token(a, b) > x` is analyzed as a relation on each of the columns (2.1, `SelectStatement.updateRestriction`).
        splits_token_relations: bool = only(V2_1);
        /// Inequalities of several columns must start at the same column (2.1; from 2.2 on, merging requires that). 2.0 reads
        /// the first of them as a slice and checks the others row by row.
        tuples_start_alike: bool = only(V2_1);
        /// The columns of the primary key are checked in their order (to 2.1, `processPartitionKeyRestrictions`,
        /// `processColumnRestrictions`); later, the restrictions are checked by their kinds (`StatementRestrictions`).
        checks_columns_in_order: bool = BEFORE_2_2;
        /// A statement that selects only the partition key counts as one that selects only static columns (to 2.1,
        /// `Selection.containsStaticColumns`).
        key_is_static: bool = BEFORE_2_2;
        /// Every condition that neither keys nor slices cover requires an index, and the execution checks whether one
        /// supports the operator (to 2.1, `SelectStatement.validateSecondaryIndexSelections`).
        conditions_need_index: bool = BEFORE_2_2;
        /// Indexes on columns of the primary key support no conditions that the key and the slices cover if the whole partition
        /// key is specified (2.1).
        covered_columns_use_no_index: bool = only(V2_1);
        /// DISTINCT is checked before ORDER BY, and allows only restrictions of whole partitions (2.2 and later,
        /// `SelectStatement.RawStatement.validateDistinctSelection`).
        checks_distinct_first: bool = SINCE_2_2;
        /// A SELECT with a LIMIT over partitions of a dense table must not have strict bounds (2.0 and 2.1,
        /// `SelectStatement`).
        refuses_strict_bounds: bool = Span::between(V2_0, V2_1);
        /// A slice of several columns whose directions differ is read as one slice for each column (2.2 and later,
        /// CASSANDRA-7281).
        splits_mixed_slices: bool = SINCE_2_2;
        /// IN on clustering columns and inequalities of several columns are not checked row by row (2.2 and later,
        /// `MultiColumnRestriction.addRowFilterTo`).
        limits_filters: bool = SINCE_2_2;
        /// The rows of an aggregate are read in pages (2.2 and later, `AggregationQueryPager`).
        pages_aggregates: bool = SINCE_2_2;
        /// LIMIT counts the rows of the result, of which count(*) has one (2.2 and later, `SelectStatement.updateLimitForQuery`).
        limits_results: bool = SINCE_2_2;
        /// Messages about null in the value of a clustering column depend on whether names of cells are read, or slices (2.1,
        /// `SelectStatement.getRequestedColumns`, `buildBound`).
        tells_names_from_slices: bool = only(V2_1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_hold_for_lines_after_2_1_too() {
        let [of_2_1, of_2_2, of_3_0, of_3_11] =
            [Line(2, 1), Line(2, 2), Line(3, 0), Line(3, 11)].map(WhereRules::of);
        assert!(of_2_1.checks_columns_in_order && !of_2_1.merges_restrictions);
        assert!(of_2_2.merges_restrictions && of_2_2.knows_aliases && of_2_2.refuses_key_slices_first);
        assert!(of_3_0.in_of_one_uses_index && !of_3_0.knows_aliases && of_3_0.refuses_key_slices_first);
        assert!(!of_3_11.refuses_key_slices_first && !of_3_11.splits_token_relations);
    }
}
