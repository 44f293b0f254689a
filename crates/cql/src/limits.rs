//! The limits of this layer, each with its reason.

use base::util::limits::TABLE_COLUMNS_MAX;

/// Longest text of a prepared statement, in bytes: one statement must not displace all others.
pub const PREPARED_STATEMENT_BYTES_MAX: usize = 1024 * 1024;

/// Longest element of a collection that stores a cell for each element, in bytes: the length is a u16 in the cell's
/// name and in the older encoding of collections.
pub const CQL_ELEMENT_BYTES_MAX: usize = 65_535;

/// User types of a keyspace: each takes a few kilobytes at most, and ALTER TYPE reads all.
pub const USER_TYPES_MAX: usize = 10_000;

/// Class names of the types of all columns of a table, in bytes: they are in the metadata of `SELECT *`.
pub const TABLE_TYPES_TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Columns of a result: as many as a table may have, so that all columns can be selected by name. Each row has a value
/// for each of them, even if little is stored.
pub const SELECTED_COLUMNS_MAX: usize = TABLE_COLUMNS_MAX;

/// Conditions of a CQL statement: a condition on an element of a map searches the map.
pub const CONDITIONS_MAX: usize = 1_000;

/// Values of an IN relation in a CQL statement, and combinations of the values of several: each is a partition or a row
/// that the statement reads or writes. Old servers ran out of memory or time with some thousand.
pub const IN_COMBINATIONS_MAX: usize = 65_535;
