//! The limits of this layer, each with its reason.

/// Rows of a cluster that one request reads or writes concurrently.
pub const CLUSTER_ROWS_AT_ONCE: usize = 64;

/// Maximum number of splits of a cluster's ring for a batch job: each is an item of one reply. Splits of larger rings
/// have more rows than requested.
pub const CLUSTER_SPLITS_MAX: usize = 10_000;
