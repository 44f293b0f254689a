// The interface of Cassandra 0.5, as clients of that line (0.5.0 and 0.5.1) speak it. Since 0.4 it has
// an exception for timeouts, `get_range_slice`, and consistency levels for clusters in several
// data centers.
//
// A keyspace holds column families, a column family holds rows, and a row holds columns sorted by name. In a
// super column family each row holds super columns instead, and those hold the columns. Keyspaces and column
// families are fixed in storage-conf.xml: nothing here creates them.
//
// Row keys are strings, names and values are bytes. Every write carries its own timestamp, and the highest
// one wins. Any whole number that only grows will do; microseconds since 1970 are the custom.

namespace cpp org.apache.cassandra
namespace go cassandra
namespace java org.apache.cassandra.service
namespace js cassandra
namespace py cassandra
namespace rs cassandra

/** What `get_string_property("version")` answers. 0.5.0 says 0.5.0. */
const string VERSION = "0.5.1"

/** How many replicas must answer before a call returns. */
enum ConsistencyLevel {
  ZERO = 0,          // wait for nobody; writes only
  ONE = 1,
  QUORUM = 2,        // more than half of the replicas
  DCQUORUM = 3,      // more than half of those in this data center; to 0.4 this number was ALL
  DCQUORUMSYNC = 4,  // more than half of those in each data center
  ALL = 5,           // writes only
}

/** The smallest unit of data. */
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

/** One entry of a row: exactly one of the two is set, except where `multiget` found nothing. */
struct ColumnOrSuperColumn {
  1: optional Column column,
  2: optional SuperColumn super_column,
}

/** Whose columns are meant: those of a row, or those of one super column in it. Its ids start at 3. */
struct ColumnParent {
  3: required string column_family,
  4: optional binary super_column,
}

/** The way to one column, to one super column, or (for `remove`) to all of a row in a column family. */
struct ColumnPath {
  3: required string column_family,
  4: optional binary super_column,
  5: optional binary column,
}

/**
 * A stretch of names, both ends included, in the order of the column family's comparator. An empty end is
 * open. `reversed` walks from the last name to the first, so `start` is then the greater of the two.
 */
struct SliceRange {
  1: required binary start,
  2: required binary finish,
  3: required bool reversed = false,
  4: required i32 count = 100,
}

/** Which columns to return: the named ones or a range of them. One of the two must be set. */
struct SlicePredicate {
  1: optional list<binary> column_names,
  2: optional SliceRange slice_range,
}

/** One row of `get_range_slice`. */
struct KeySlice {
  1: required string key,
  2: required list<ColumnOrSuperColumn> columns,
}

/** There is no such column, or no such keyspace. */
exception NotFoundException {
}

/** The request cannot be carried out by any server with this schema; asking again will not help. */
exception InvalidRequestException {
  1: required string why,
}

/** Too few replicas are alive for the consistency level. */
exception UnavailableException {
}

/** The replicas were alive but did not answer in time. A write may still have happened. */
exception TimedOutException {
}

service Cassandra {
  // Reading.

  /** One column or one super column. */
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

  /** Columns of one row; an absent row is an empty one. */
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

  /** `get` for many rows. Every key is in the answer; one without data maps to an entry with nothing set. */
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

  /** `get_slice` for many rows. Every key is in the answer; one without data maps to an empty list. */
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

  /** The number of columns in a row or super column, or of super columns in a row. */
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

  /** Row keys in ascending order, both ends included. Needs a partitioner that keeps the order of keys. */
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
   * Columns of the rows between two keys, both ends included; an empty end is open. Rows come in the order of
   * the partitioner, and a row without a matching column comes with an empty list.
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

  // Writing. Unless told otherwise, a write waits for nobody.

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

  /** Deletes what the path names, as far as it is not newer than `timestamp`. */
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

  // Asking about the server.

  /** "version", "cluster name", "config file" or "token map"; a question mark for anything else. */
  string get_string_property(1: required string property),

  /** "keyspaces"; an empty list for anything else. */
  list<string> get_string_list_property(1: required string property),

  /** For each column family of the keyspace its type, comparators and description. */
  map<string, map<string, string>> describe_keyspace(
    1: required string keyspace,
  ) throws (
    1: NotFoundException nfe,
  ),
}
