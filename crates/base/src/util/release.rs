//! The supported releases of Cassandra.

use std::fmt;
use std::str::FromStr;

/// A release line of Cassandra. Ordered by date.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Release {
    /// The first release of Apache: `get_column`, `get_slice_super`, names of columns as texts.
    V0_3,
    /// `get`, `multiget` and ColumnPath; names of columns as bytes, and consistency levels.
    V0_4,
    /// `get_range_slice`.
    V0_5,
    /// `login`, `batch_mutate` and `get_range_slices`.
    V0_6,
    /// `set_keyspace`, row keys as bytes, expiring columns, indexes, and schema changes by clients.
    V0_7,
    /// Counters (`add`), and CQL before its version 3 (`execute_cql_query`).
    V0_8,
    /// The methods of 0.8.
    V1_0,
    /// Prepared statements of CQL, `get_paged_slice`, and the beta of CQL 3.
    V1_1,
    /// CQL 3 with methods of its own, version 1 of the native protocol, `atomic_batch_mutate`.
    V1_2,
    /// `cas` and lightweight transactions, paging, version 2 of the native protocol.
    V2_0,
    /// User-defined types and tuples, `get_multi_slice`, version 3 of the native protocol.
    V2_1,
    /// JSON, functions and roles in CQL 3, version 4 of the native protocol.
    V2_2,
    /// The storage engine without cells, `system_schema`.
    V3_0,
    /// `GROUP BY` and filtering without an index; the last release with Thrift.
    V3_11,
}

impl Release {
    /// All release lines, the oldest first.
    pub const ALL: [Release; 14] = [
        Release::V0_3,
        Release::V0_4,
        Release::V0_5,
        Release::V0_6,
        Release::V0_7,
        Release::V0_8,
        Release::V1_0,
        Release::V1_1,
        Release::V1_2,
        Release::V2_0,
        Release::V2_1,
        Release::V2_2,
        Release::V3_0,
        Release::V3_11,
    ];

    /// The numbers, in the order of [`Release::ALL`].
    const NAMES: [&str; Release::ALL.len()] =
        ["0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "1.0", "1.1", "1.2", "2.0", "2.1", "2.2", "3.0", "3.11"];

    /// Returns the number of the release, such as `"0.6"`.
    pub fn name(self) -> &'static str {
        Release::NAMES[self as usize]
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Release {
    type Err = String;

    fn from_str(text: &str) -> Result<Release, String> {
        Release::ALL.into_iter().find(|release| release.name() == text).ok_or_else(|| {
            let known: Vec<&str> = Release::ALL.iter().map(|release| release.name()).collect();
            format!("unknown release {text:?}; known are {}", known.join(", "))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_releases_are_ordered() {
        for release in Release::ALL {
            assert_eq!(release.name().parse::<Release>().unwrap(), release);
        }
        assert!(Release::ALL.windows(2).all(|pair| pair[0] < pair[1]));
        assert!("0.60".parse::<Release>().unwrap_err().contains("0.3, 0.4, 0.5, 0.6"));
    }
}
