// The interface of Cassandra 0.5, as clients of 0.5.0 and 0.5.1 use it. Since 0.4 it has
// an exception for timeouts, `get_range_slice`, and consistency levels for clusters in several
// data centers.
//
// A keyspace has column families, a column family has rows, and a row has columns, sorted by name. In a super
// column family rows have super columns, which contain the columns. Keyspaces and column families are defined in
// storage-conf.xml; no call creates them.
//
// Row keys are strings, names and values are bytes. Every write has a timestamp, and the write with the
// highest one wins. Any increasing integer can be used; microseconds since 1970 are usual.

namespace cpp org.apache.cassandra
namespace go cassandra
namespace java org.apache.cassandra.service
namespace js cassandra
namespace py cassandra
namespace rs cassandra

/** The result of `get_string_property("version")`. 0.5.0 returned 0.5.0. */
const string VERSION = "0.5.1"

/** How many replicas must respond before a call returns. */
enum ConsistencyLevel {
  ZERO = 0,          // waits for no replica; writes only
  ONE = 1,
  QUORUM = 2,        // more than half of the replicas
  DCQUORUM = 3,      // more than half of those in this data center; in 0.4 this number was ALL
  DCQUORUMSYNC = 4,  // more than half of those in each data center
  ALL = 5,           // writes only
}

/** A column: the smallest unit of data. */
struct Column {
  1: required binary name,
  2: required binary value,
  3: required i64 timestamp,
}

/** A named group of columns. It has no timestamp of its own. */
struct SuperColumn {
  1: required binary name,
  2: required list<Column> columns,
}

/** An element of a row. Exactly one field is set, except if `multiget` found nothing. */
struct ColumnOrSuperColumn {
  1: optional Column column,
  2: optional SuperColumn super_column,
}

/** The parent of columns: a row, or a super column in it. The ids start at 3. */
struct ColumnParent {
  3: required string column_family,
  4: optional binary super_column,
}

/** The path of a column, of a super column, or (for `remove`) of a row in a column family. */
struct ColumnPath {
  3: required string column_family,
  4: optional binary super_column,
  5: optional binary column,
}

/**
 * A range of column names in the order of the comparator, both ends included. An empty end is open. With
 * `reversed` columns are returned from the last to the first, and `start` is the greater of the two.
 */
struct SliceRange {
  1: required binary start,
  2: required binary finish,
  3: required bool reversed = false,
  4: required i32 count = 100,
}

/** The columns to return: by name, or a range. One of the two must be set. */
struct SlicePredicate {
  1: optional list<binary> column_names,
  2: optional SliceRange slice_range,
}

/** A row of `get_range_slice`. */
struct KeySlice {
  1: required string key,
  2: required list<ColumnOrSuperColumn> columns,
}

/** The column or the keyspace does not exist. */
exception NotFoundException {
}

/** The request is invalid for this schema. A retry cannot succeed. */
exception InvalidRequestException {
  1: required string why,
}

/** Too few replicas are alive for the consistency level. */
exception UnavailableException {
}

/** The replicas were alive but did not respond in time. A write may still have been applied. */
exception TimedOutException {
}

service Cassandra {
  // Reading.

  /** Returns one column or one super column. */
  ColumnOrSuperColumn get(
    1: required string keyspace,
    2: required string key,
    3: required ColumnPath column_path,
    4: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: NotFoundException nfe,
    3: UnavailableException ue,
    4: TimedOutException te,
  ),

  /** Returns columns of one row. A row that does not exist is returned as an empty list. */
  list<ColumnOrSuperColumn> get_slice(
    1: required string keyspace,
    2: required string key,
    3: required ColumnParent column_parent,
    4: required SlicePredicate predicate,
    5: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Returns `get` for many rows. Every key is in the result, keys without data with no field set. */
  map<string, ColumnOrSuperColumn> multiget(
    1: required string keyspace,
    2: required list<string> keys,
    3: required ColumnPath column_path,
    4: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Returns `get_slice` for many rows. Every key is in the result, keys without data with an empty list. */
  map<string, list<ColumnOrSuperColumn>> multiget_slice(
    1: required string keyspace,
    2: required list<string> keys,
    3: required ColumnParent column_parent,
    4: required SlicePredicate predicate,
    5: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Returns the number of columns in a row or super column, or of super columns in a row. */
  i32 get_count(
    1: required string keyspace,
    2: required string key,
    3: required ColumnParent column_parent,
    4: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Returns row keys in ascending order, both ends included. Needs an order-preserving partitioner. */
  list<string> get_key_range(
    1: required string keyspace,
    2: required string column_family,
    3: required string start = "",
    4: required string finish = "",
    5: required i32 count = 100,
    6: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /**
   * Returns columns of the rows between two keys, both included; an empty end is open. Rows are in the
   * partitioner's order. A row without a matching column is returned with an empty list.
   */
  list<KeySlice> get_range_slice(
    1: required string keyspace,
    2: required ColumnParent column_parent,
    3: required SlicePredicate predicate,
    4: required string start_key = "",
    5: required string finish_key = "",
    6: required i32 row_count = 100,
    7: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  // Writing. By default a write waits for no replica.

  /** Writes one column. */
  void insert(
    1: required string keyspace,
    2: required string key,
    3: required ColumnPath column_path,
    4: required binary value,
    5: required i64 timestamp,
    6: required ConsistencyLevel consistency_level = ConsistencyLevel.ZERO,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Writes columns of one row, grouped by column family. */
  void batch_insert(
    1: required string keyspace,
    2: required string key,
    3: required map<string, list<ColumnOrSuperColumn>> cfmap,
    4: required ConsistencyLevel consistency_level = ConsistencyLevel.ZERO,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Deletes the columns that the path names, unless they are newer than `timestamp`. */
  void remove(
    1: required string keyspace,
    2: required string key,
    3: required ColumnPath column_path,
    4: required i64 timestamp,
    5: ConsistencyLevel consistency_level = ConsistencyLevel.ZERO,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  // Describing the server.

  /** Accepts "version", "cluster name", "config file" and "token map"; returns a question mark for others. */
  string get_string_property(1: required string property),

  /** Returns the keyspaces for "keyspaces", and an empty list for anything else. */
  list<string> get_string_list_property(1: required string property),

  /** Returns the type, comparators and description of each column family of a keyspace. */
  map<string, map<string, string>> describe_keyspace(
    1: required string keyspace,
  ) throws (
    1: NotFoundException nfe,
  ),
}
