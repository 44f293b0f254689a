// The interface of Cassandra 0.6, as clients of that line speak it. Since 0.5 it has logins, batches over
// many rows with deletions among them, range scans by token, and `describe_*` calls; a write now waits for
// one replica unless told otherwise. `get_key_range` is gone.
//
// A keyspace holds column families, a column family holds rows, and a row holds columns sorted by name. In a
// super column family each row holds super columns instead, and those hold the columns. Keyspaces and column
// families are fixed in storage-conf.xml: nothing here creates them.
//
// Row keys are strings, names and values are bytes. Every write carries its own timestamp, and the highest
// one wins. Any whole number that only grows will do; microseconds since 1970 are the custom.

namespace cpp org.apache.cassandra
namespace go cassandra
namespace java org.apache.cassandra.thrift
namespace js cassandra
namespace py cassandra
namespace rs cassandra

/** What `describe_version` answers, numbered apart from the releases: 2.1.0 up to 0.6.3, 2.2.0 from 0.6.4. */
const string VERSION = "2.2.0"

/** How many replicas must answer before a call returns. */
enum ConsistencyLevel {
  ZERO = 0,          // wait for nobody; writes only
  ONE = 1,
  QUORUM = 2,        // more than half of the replicas
  DCQUORUM = 3,      // more than half of those in this data center
  DCQUORUMSYNC = 4,  // more than half of those in each data center
  ALL = 5,           // for reads, only in the later releases of the line
  ANY = 6,           // any node at all, even if it only keeps the write for a replica; writes only
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

/**
 * A stretch of rows: two keys, both included, or two tokens, the first excluded. Keys and tokens do not mix.
 * Two tokens may wrap around the end of the ring.
 */
struct KeyRange {
  1: optional string start_key,
  2: optional string end_key,
  3: optional string start_token,
  4: optional string end_token,
  5: required i32 count = 100,
}

/** One row of a range scan. */
struct KeySlice {
  1: required string key,
  2: required list<ColumnOrSuperColumn> columns,
}

/**
 * What to delete in a row of a column family, as far as it is not newer than the timestamp: a super column,
 * the names in the predicate (of the row, or of that super column), or with neither of them all. Slice ranges
 * are refused.
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

/** A part of the ring, without its start token and with its end token, and the nodes that keep it. */
struct TokenRange {
  1: required string start_token,
  2: required string end_token,
  3: required list<string> endpoints,
}

/** What the authenticator asks for, by name: "username" and "password" for the one that is built in. */
struct AuthenticationRequest {
  1: required map<string, string> credentials,
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

/** The credentials are wrong. */
exception AuthenticationException {
  1: required string why,
}

/** The credentials are right, but not enough for this keyspace. */
exception AuthorizationException {
  1: required string why,
}

service Cassandra {
  /** Says who is calling, once per connection, where the server is set up to ask. */
  void login(
    1: required string keyspace,
    2: required AuthenticationRequest auth_request,
  ) throws (
    1: AuthenticationException authnx,
    2: AuthorizationException authzx,
  ),

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

  /**
   * Out of favour: use `multiget_slice`. `get` for many rows: every key is in the answer, and one without
   * data maps to an entry with nothing set.
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

  /** Out of favour: use `get_range_slices`, which this is with a range of keys. */
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
   * Columns of the rows in a range; an empty key is an open end. Rows come in the order of the partitioner,
   * and a row without a matching column comes with an empty list.
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

  /** Out of favour: use `batch_mutate`. Writes columns of one row, grouped by column family. */
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

  /** Deletes what the path names, as far as it is not newer than `timestamp`. */
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

  /** Changes of many rows: row key, then column family, then the mutations. Not atomic from row to row. */
  void batch_mutate(
    1: required string keyspace,
    2: required map<string, map<string, list<Mutation>>> mutation_map,
    3: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  // Asking about the server.

  /** Out of favour, like the next one: use `describe_*`. Knows "version", "cluster name" and others. */
  string get_string_property(1: required string property),

  /** "keyspaces"; an empty list for anything else. */
  list<string> get_string_list_property(1: required string property),

  /** The names of all keyspaces, the server's own included. */
  set<string> describe_keyspaces(),

  string describe_cluster_name(),

  /** The VERSION above. */
  string describe_version(),

  /** Who keeps what: the ranges of the ring, in no particular order. Throws from 0.6.3 on. */
  list<TokenRange> describe_ring(
    1: required string keyspace,
  ) throws (
    1: InvalidRequestException ire,
  ),

  /** The full class name of the partitioner. New in 0.6.4. */
  string describe_partitioner(),

  /** For each column family of the keyspace its type, comparators and description. */
  map<string, map<string, string>> describe_keyspace(
    1: required string keyspace,
  ) throws (
    1: NotFoundException nfe,
  ),

  /** Tokens that cut a range into pieces of roughly so many keys; its ends are the first and the last. */
  list<string> describe_splits(
    1: required string start_token,
    2: required string end_token,
    3: required i32 keys_per_split,
  ),
}
