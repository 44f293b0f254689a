// The interface of Cassandra 0.4, as clients of that line (0.4.0 to 0.4.2) speak it.
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

/** How many replicas must answer before a call returns. */
enum ConsistencyLevel {
  ZERO = 0,    // wait for nobody; writes only
  ONE = 1,
  QUORUM = 2,  // more than half of the replicas
  ALL = 3,     // 0.5 moves it to 5; writes only
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
  ),

  /** Columns of one row; an absent row is an empty one. Up to 0.4.1 it also threw 2: NotFoundException. */
  list<ColumnOrSuperColumn> get_slice(
    1: required string keyspace,
    2: required string key,
    3: required ColumnParent column_parent,
    4: required SlicePredicate predicate,
    5: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    3: UnavailableException ue,
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
