//! Class names that many types share.

/// The package that is assumed for class names without a dot.
pub const PACKAGE: &str = "org.apache.cassandra.db.marshal.";

/// The validator of counter column families.
pub const COUNTER_COLUMN_TYPE: &str = "org.apache.cassandra.db.marshal.CounterColumnType";
