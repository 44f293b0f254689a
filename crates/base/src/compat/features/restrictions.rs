//! The restrictions and definitions in statements that releases after 2.1 introduced. A session has a feature if its
//! reported version has it.

use crate::compat::Line;

/// A feature of WHERE clauses, of what they restrict, or of definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaterFeature {
    since: Line,
}

impl LaterFeature {
    const fn since(major: u16, minor: u16) -> LaterFeature {
        LaterFeature { since: Line(major, minor) }
    }

    /// Returns whether a line of releases has the feature.
    pub fn is_in(self, line: Line) -> bool {
        line >= self.since
    }
}

/// `IN` on any column of the primary key (CASSANDRA-6981).
pub const IN_ON_ANY_KEY_COLUMN: LaterFeature = LaterFeature::since(2, 2);
/// Indexes on the entries of maps (CASSANDRA-8473).
pub const INDEXES_ON_ENTRIES: LaterFeature = LaterFeature::since(2, 2);
/// UPDATE and DELETE of several rows: `IN` on clustering columns, and ranges in DELETE (CASSANDRA-6237).
pub const CHANGES_OF_SEVERAL_ROWS: LaterFeature = LaterFeature::since(3, 0);
/// Materialized views, which this server refuses with a message of its own.
pub const MATERIALIZED_VIEWS: LaterFeature = LaterFeature::since(3, 0);
/// `ALLOW FILTERING` by regular and static columns without an index (CASSANDRA-6377).
pub const FILTERING_BY_VALUES: LaterFeature = LaterFeature::since(3, 0);
/// Types of columns and of fields cannot be changed (CASSANDRA-12443, in 3.0.11 and 3.10).
pub const FIXED_TYPES: LaterFeature = LaterFeature::since(3, 0);
/// Indexes on static columns (CASSANDRA-8103).
pub const INDEXES_ON_STATIC_COLUMNS: LaterFeature = LaterFeature::since(3, 4);
/// `ALLOW FILTERING` by clustering columns without an index (CASSANDRA-11310).
pub const FILTERING_BY_CLUSTERING: LaterFeature = LaterFeature::since(3, 6);
/// User types that are not frozen: they have a cell for each field (CASSANDRA-7423).
pub const MULTI_CELL_USER_TYPES: LaterFeature = LaterFeature::since(3, 6);
/// `ALLOW FILTERING` by columns of the partition key (CASSANDRA-11031).
pub const FILTERING_BY_PARTITION_KEY: LaterFeature = LaterFeature::since(3, 10);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_is_in_its_line_and_in_later_ones() {
        assert!(!IN_ON_ANY_KEY_COLUMN.is_in(Line(2, 1)) && IN_ON_ANY_KEY_COLUMN.is_in(Line(2, 2)));
        assert!(
            !FILTERING_BY_PARTITION_KEY.is_in(Line(3, 9)) && FILTERING_BY_PARTITION_KEY.is_in(Line(4, 0))
        );
    }
}
