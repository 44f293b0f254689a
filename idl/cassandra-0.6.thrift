// The interface of Cassandra 0.6, as clients of that release use it. Since 0.5 it has logins,
// batches over many rows that may contain deletions, range scans by token, and `describe_*` calls. A write now waits
// for one replica by default. `get_key_range` is removed.
//
// A keyspace has column families, a column family has rows, and a row has columns, sorted by name. In a super
// column family rows have super columns, which contain the columns. Keyspaces and column families are defined in
// storage-conf.xml; no call creates them.
//
// Row keys are strings, names and values are bytes. Every write has a timestamp, and the write with the
// highest one wins. Any increasing integer can be used; microseconds since 1970 are usual.

namespace cpp org.apache.cassandra
namespace go cassandra
namespace java org.apache.cassandra.thrift
namespace js cassandra
namespace py cassandra
namespace rs cassandra

/** The result of `describe_version`, which is not the release: 2.1.0 up to 0.6.3, 2.2.0 from 0.6.4 on. */
const string VERSION = "2.2.0"

/** How many replicas must respond before a call returns. */
enum ConsistencyLevel {
  ZERO = 0,          // waits for no replica; writes only
  ONE = 1,
  QUORUM = 2,        // more than half of the replicas
  DCQUORUM = 3,      // more than half of those in this data center
  DCQUORUMSYNC = 4,  // more than half of those in each data center
  ALL = 5,           // for reads, only in later releases of 0.6
  ANY = 6,           // any node, even if it only stores a hint for a replica; writes only
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

/**
 * A range of rows: two keys, both included, or two tokens, the first excluded. Keys and tokens cannot be mixed.
 * Two tokens may wrap around the end of the ring.
 */
struct KeyRange {
  1: optional string start_key,
  2: optional string end_key,
  3: optional string start_token,
  4: optional string end_token,
  5: required i32 count = 100,
}

/** A row of a range scan. */
struct KeySlice {
  1: required string key,
  2: required list<ColumnOrSuperColumn> columns,
}

/**
 * A deletion in a row of a column family, of columns that are not newer than the timestamp: a super column, the
 * names in the predicate (in the row or in that super column), or without both the whole row. Slice ranges are
 * refused.
 */
struct Deletion {
  1: required i64 timestamp,
  2: optional binary super_column,
  3: optional SlicePredicate predicate,
}

/** One change of a batch: exactly one of the two is set. */
struct Mutation {
  1: optional ColumnOrSuperColumn column_or_supercolumn,
  2: optional Deletion deletion,
}

/** A range of the ring, from the start token (exclusive) to the end token (inclusive), and its replicas. */
struct TokenRange {
  1: required string start_token,
  2: required string end_token,
  3: required list<string> endpoints,
}

/** Credentials for the authenticator, by name: "username" and "password" for the built-in one. */
struct AuthenticationRequest {
  1: required map<string, string> credentials,
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

/** The credentials are wrong. */
exception AuthenticationException {
  1: required string why,
}

/** The credentials are valid, but do not allow this keyspace. */
exception AuthorizationException {
  1: required string why,
}

service Cassandra {
  /** Logs the user of this connection in, if the server requires logins. */
  void login(
    1: required string keyspace,
    2: required AuthenticationRequest auth_request,
  ) throws (
    1: AuthenticationException authnx,
    2: AuthorizationException authzx,
  ),

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

  /**
   * Deprecated: use `multiget_slice`. Returns `get` for many rows. Every key is in the result, keys without data
   * with no field set.
   */
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

  /** Deprecated: use `get_range_slices` with a range of keys. */
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

  /**
   * Returns columns of the rows in a range; an empty key is an open end. Rows are in the partitioner's order. A
   * row without a matching column is returned with an empty list.
   */
  list<KeySlice> get_range_slices(
    1: required string keyspace,
    2: required ColumnParent column_parent,
    3: required SlicePredicate predicate,
    4: required KeyRange range,
    5: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  // Writing.

  /** Writes one column. */
  void insert(
    1: required string keyspace,
    2: required string key,
    3: required ColumnPath column_path,
    4: required binary value,
    5: required i64 timestamp,
    6: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Deprecated: use `batch_mutate`. Writes columns of one row, grouped by column family. */
  void batch_insert(
    1: required string keyspace,
    2: required string key,
    3: required map<string, list<ColumnOrSuperColumn>> cfmap,
    4: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
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
    5: ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Applies mutations to many rows, by row key and column family. Each row is changed atomically, the batch is not. */
  void batch_mutate(
    1: required string keyspace,
    2: required map<string, map<string, list<Mutation>>> mutation_map,
    3: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  // Describing the server.

  /** Deprecated, like the next method: use `describe_*`. Accepts "version", "cluster name" and others. */
  string get_string_property(1: required string property),

  /** Returns the keyspaces for "keyspaces", and an empty list for anything else. */
  list<string> get_string_list_property(1: required string property),

  /** Returns the names of all keyspaces, including the server's own. */
  set<string> describe_keyspaces(),

  string describe_cluster_name(),

  /** Returns the version of the interface, see VERSION. */
  string describe_version(),

  /** Returns the ranges of the ring and their replicas, in no particular order. Throws from 0.6.3 on. */
  list<TokenRange> describe_ring(
    1: required string keyspace,
  ) throws (
    1: InvalidRequestException ire,
  ),

  /** Returns the full class name of the partitioner. New in 0.6.4. */
  string describe_partitioner(),

  /** Returns the type, comparators and description of each column family of a keyspace. */
  map<string, map<string, string>> describe_keyspace(
    1: required string keyspace,
  ) throws (
    1: NotFoundException nfe,
  ),

  /** Returns tokens that split a range into parts of about this many keys, including both ends of the range. */
  list<string> describe_splits(
    1: required string start_token,
    2: required string end_token,
    3: required i32 keys_per_split,
  ),
}
