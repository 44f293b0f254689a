// The interface of Cassandra 1.1, as clients of that release use it. Since 1.0 it has `get_paged_slice`,
// filters in range scans, prepared CQL, and a choice of the CQL version. The caching of a column family is
// one setting.
//
// A keyspace has column families, a column family has rows, and a row has columns, sorted by name. In a super
// column family rows have super columns, which contain the columns.
//
// Row keys, names and values are bytes. Every write has a timestamp, and the write with the highest one
// wins. Any increasing integer can be used; microseconds since 1970 are usual.

namespace cpp org.apache.cassandra
namespace go cassandra
namespace java org.apache.cassandra.thrift
namespace js cassandra
namespace py cassandra
namespace rs cassandra

/** The result of `describe_version`: 19.32.0 up to 1.1.6, 19.33.0 from 1.1.7 on. */
const string VERSION = "19.33.0"

/** How many replicas must respond before a call returns. */
enum ConsistencyLevel {
  ONE = 1,
  QUORUM = 2,        // more than half of the replicas
  LOCAL_QUORUM = 3,  // more than half of those in this data center
  EACH_QUORUM = 4,   // more than half of those in each data center; writes only
  ALL = 5,
  ANY = 6,           // any node, even if it only stores a hint for a replica; writes only
  TWO = 7,
  THREE = 8,
}

/** The operator of an index expression. */
enum IndexOperator {
  EQ = 0,
  GTE = 1,
  GT = 2,
  LTE = 3,
  LT = 4,
}

/** The kind of an index. */
enum IndexType {
  KEYS = 0,    // a hidden column family, by value
  CUSTOM = 1,  // a class on the server
}

/** The compression of the text of a CQL statement. GZIP is a zlib stream, despite its name. */
enum Compression {
  GZIP = 1,
  NONE = 2,
}

/** The kind of a CQL result. */
enum CqlResultType {
  ROWS = 1,
  VOID = 2,  // no result
  INT = 3,   // a count; no longer used
}

/**
 * A column: the smallest unit of data. With a `ttl` it expires that many seconds after it was written; results
 * have the ttl that was written, not the remaining time. Value and timestamp are only optional in CQL
 * results; a write needs both.
 */
struct Column {
  1: required binary name,
  2: optional binary value,
  3: optional i64 timestamp,
  4: optional i32 ttl,  // seconds
}

/** A named group of columns. It has no timestamp of its own. */
struct SuperColumn {
  1: required binary name,
  2: required list<Column> columns,
}

/** A counter. In `add` and in batches the value is the increment, in results the total. */
struct CounterColumn {
  1: required binary name,
  2: required i64 value,
}

/** A named group of counters. */
struct CounterSuperColumn {
  1: required binary name,
  2: required list<CounterColumn> columns,
}

/** An element of a row. Exactly one field is set. Counters are in separate column families. */
struct ColumnOrSuperColumn {
  1: optional Column column,
  2: optional SuperColumn super_column,
  3: optional CounterColumn counter_column,
  4: optional CounterSuperColumn counter_super_column,
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

/** A condition on a row: a comparison of a column's value with this value. */
struct IndexExpression {
  1: required binary column_name,
  2: required IndexOperator op,
  3: required binary value,
}

/**
 * Conditions that a row must meet, at least one of them an EQ on an indexed column, and the first key.
 */
struct IndexClause {
  1: required list<IndexExpression> expressions,
  2: required binary start_key,
  3: required i32 count = 100,
}

/**
 * A range of rows: two keys, both included, or two tokens, the first excluded, or a key and an end token. Two
 * tokens may wrap around the end of the ring. With a filter, only rows that match it are returned; like an
 * IndexClause it needs an index.
 */
struct KeyRange {
  1: optional binary start_key,
  2: optional binary end_key,
  3: optional string start_token,
  4: optional string end_token,
  6: optional list<IndexExpression> row_filter,
  5: required i32 count = 100,
}

/** A row of a range scan. */
struct KeySlice {
  1: required binary key,
  2: required list<ColumnOrSuperColumn> columns,
}

/** Declared, but not used by any method. */
struct KeyCount {
  1: required binary key,
  2: required i32 count,
}

/**
 * A deletion in a row of a column family, of columns that are not newer than the timestamp: a super column, the
 * names in the predicate (in the row or in that super column), or without both the whole row. Slice ranges are
 * refused. Only deletions of counters need no timestamp.
 */
struct Deletion {
  1: optional i64 timestamp,
  2: optional binary super_column,
  3: optional SlicePredicate predicate,
}

/** One change of a batch: exactly one of the two is set. */
struct Mutation {
  1: optional ColumnOrSuperColumn column_or_supercolumn,
  2: optional Deletion deletion,
}

/** A node of the ring, with its data center and rack. */
struct EndpointDetails {
  1: string host,
  2: string datacenter,
  3: optional string rack,
}

/** A range of the ring, from the start token (exclusive) to the end token (inclusive), and its replicas. */
struct TokenRange {
  1: required string start_token,
  2: required string end_token,
  3: required list<string> endpoints,      // addresses for other nodes
  4: optional list<string> rpc_endpoints,  // addresses for clients
  5: optional list<EndpointDetails> endpoint_details,
}

/** Credentials for the authenticator, by name: "username" and "password" for the built-in one. */
struct AuthenticationRequest {
  1: required map<string, string> credentials,
}

/** The definition of a column: the type of its values, and its index. */
struct ColumnDef {
  1: required binary name,
  2: required string validation_class,  // the type of values
  3: optional IndexType index_type,
  4: optional string index_name,
  5: optional map<string, string> index_options,
}

/**
 * A column family. Fields that are not set get the server's defaults, also in an update, which replaces the
 * whole definition.
 */
struct CfDef {
  1: required string keyspace,
  2: required string name,
  3: optional string column_type = "Standard",           // or "Super"
  5: optional string comparator_type = "BytesType",      // the order of names (of super columns, if there are any)
  6: optional string subcomparator_type,                 // the order of names within a super column
  8: optional string comment,
  12: optional double read_repair_chance,                // how often a read compares all replicas
  13: optional list<ColumnDef> column_metadata,
  14: optional i32 gc_grace_seconds,                     // how long tombstones are kept
  15: optional string default_validation_class,          // the type of values without a ColumnDef
  16: optional i32 id,                                   // the server's id of it
  17: optional i32 min_compaction_threshold,
  18: optional i32 max_compaction_threshold,
  24: optional bool replicate_on_write,                  // for counters
  26: optional string key_validation_class,              // the type of row keys
  28: optional binary key_alias,                         // the name of the row key in CQL
  29: optional string compaction_strategy,               // a class on the server
  30: optional map<string, string> compaction_strategy_options,
  32: optional map<string, string> compression_options,  // empty: no compression
  33: optional double bloom_filter_fp_chance,
  34: optional string caching = "keys_only",             // "all", "keys_only", "rows_only" or "none"
  37: optional double dclocal_read_repair_chance = 0.0,  // the same within one data center

  // All fields from here on are accepted and ignored.
  9: optional double row_cache_size,
  11: optional double key_cache_size,
  19: optional i32 row_cache_save_period_in_seconds,
  20: optional i32 key_cache_save_period_in_seconds,
  21: optional i32 memtable_flush_after_mins,
  22: optional i32 memtable_throughput_in_mb,
  23: optional double memtable_operations_in_millions,
  25: optional double merge_shards_chance,
  27: optional string row_cache_provider,
  31: optional i32 row_cache_keys_to_save,
}

/** A keyspace. In an update `cf_defs` must be empty. */
struct KsDef {
  1: required string name,
  2: required string strategy_class,                 // the placement of replicas
  3: optional map<string, string> strategy_options,  // "replication_factor", or a number for each data center
  4: optional i32 replication_factor,                // ignored: use the options
  5: required list<CfDef> cf_defs,
  6: optional bool durable_writes = true,            // false: writes are not logged
}

/** A row of a CQL result. */
struct CqlRow {
  1: required binary key,
  2: required list<Column> columns,
}

/** The types of names and values in a CQL result: defaults, and those of columns that differ. */
struct CqlMetadata {
  1: required map<binary, string> name_types,
  2: required map<binary, string> value_types,
  3: required string default_name_type,
  4: required string default_value_type,
}

/** The result of a CQL statement: rows, or nothing. */
struct CqlResult {
  1: required CqlResultType type,
  2: optional list<CqlRow> rows,
  3: optional i32 num,  // the count; no longer used
  4: optional CqlMetadata schema,
}

/**
 * The id of a prepared statement and the number of its values. CQL 3 also returns the names and types of the
 * values.
 */
struct CqlPreparedResult {
  1: required i32 itemId,
  2: required i32 count,
  3: optional list<string> variable_types,
  4: optional list<string> variable_names,
}

/** A part of a token range, with its estimated number of rows. */
struct CfSplit {
  1: required string start_token,
  2: required string end_token,
  3: required i64 row_count,
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

/** The credentials are valid, but do not allow this. */
exception AuthorizationException {
  1: required string why,
}

/** The nodes have different schemas, so the schema cannot be changed. */
exception SchemaDisagreementException {
}

service Cassandra {
  /** Logs the user of this connection in, if the server requires logins. */
  void login(
    1: required AuthenticationRequest auth_request,
  ) throws (
    1: AuthenticationException authnx,
    2: AuthorizationException authzx,
  ),

  /** Sets the keyspace of this connection for all later calls. */
  void set_keyspace(
    1: required string keyspace,
  ) throws (
    1: InvalidRequestException ire,
  ),

  // Reading.

  /** Returns one column or one super column. */
  ColumnOrSuperColumn get(
    1: required binary key,
    2: required ColumnPath column_path,
    3: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: NotFoundException nfe,
    3: UnavailableException ue,
    4: TimedOutException te,
  ),

  /** Returns columns of one row. A row that does not exist is returned as an empty list. */
  list<ColumnOrSuperColumn> get_slice(
    1: required binary key,
    2: required ColumnParent column_parent,
    3: required SlicePredicate predicate,
    4: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Returns the number of columns or super columns in a slice. The server reads long rows in pages. */
  i32 get_count(
    1: required binary key,
    2: required ColumnParent column_parent,
    3: required SlicePredicate predicate,
    4: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Returns `get_slice` for many rows. Every key is in the result, keys without data with an empty list. */
  map<binary, list<ColumnOrSuperColumn>> multiget_slice(
    1: required list<binary> keys,
    2: required ColumnParent column_parent,
    3: required SlicePredicate predicate,
    4: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Returns `get_count` for many rows. Every key is in the result. */
  map<binary, i32> multiget_count(
    1: required list<binary> keys,
    2: required ColumnParent column_parent,
    3: required SlicePredicate predicate,
    4: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
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
    1: required ColumnParent column_parent,
    2: required SlicePredicate predicate,
    3: required KeyRange range,
    4: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /**
   * Returns all columns of the rows in a range, of the first row from `start_column` on. The range's count limits
   * columns, over all rows.
   */
  list<KeySlice> get_paged_slice(
    1: required string column_family,
    2: required KeyRange range,
    3: required binary start_column,
    4: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /**
   * Deprecated: use `get_range_slices` with a filter. Returns columns of the rows that match the clause, in the
   * partitioner's order.
   */
  list<KeySlice> get_indexed_slices(
    1: required ColumnParent column_parent,
    2: required IndexClause index_clause,
    3: required SlicePredicate column_predicate,
    4: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  // Writing.

  /** Writes one column. */
  void insert(
    1: required binary key,
    2: required ColumnParent column_parent,
    3: required Column column,
    4: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Adds to a counter. A counter that does not exist starts at zero. */
  void add(
    1: required binary key,
    2: required ColumnParent column_parent,
    3: required CounterColumn column,
    4: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Deletes the columns that the path names, unless they are newer than `timestamp`. */
  void remove(
    1: required binary key,
    2: required ColumnPath column_path,
    3: required i64 timestamp,
    4: ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Deletes counters permanently: later increments of a deleted counter may be lost. */
  void remove_counter(
    1: required binary key,
    2: required ColumnPath path,
    3: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Applies mutations to many rows, by row key and column family. Each row is changed atomically, the batch is not. */
  void batch_mutate(
    1: required map<binary, map<string, list<Mutation>>> mutation_map,
    2: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Deletes all rows of a column family. All nodes must be up. */
  void truncate(
    1: required string cfname,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  // Describing the server.

  /**
   * Returns the nodes of each version of the schema; nodes that did not respond are under "UNREACHABLE".
   */
  map<string, list<string>> describe_schema_versions() throws (
    1: InvalidRequestException ire,
  ),

  /** Returns all keyspaces, including the server's own. */
  list<KsDef> describe_keyspaces() throws (
    1: InvalidRequestException ire,
  ),

  string describe_cluster_name(),

  /** Returns the version of the interface, see VERSION. */
  string describe_version(),

  /** Returns the ranges of the ring and their replicas, in no particular order. */
  list<TokenRange> describe_ring(
    1: required string keyspace,
  ) throws (
    1: InvalidRequestException ire,
  ),

  /** Returns the node of each token. */
  map<string, string> describe_token_map() throws (
    1: InvalidRequestException ire,
  ),

  /** Returns the full class name of the partitioner. */
  string describe_partitioner(),

  /** Returns the full class name of the snitch, which knows data centers and racks. */
  string describe_snitch(),

  KsDef describe_keyspace(
    1: required string keyspace,
  ) throws (
    1: NotFoundException nfe,
    2: InvalidRequestException ire,
  ),

  /** Returns tokens that split a range into parts of about this many keys, including both ends of the range. */
  list<string> describe_splits(
    1: required string cfName,
    2: required string start_token,
    3: required string end_token,
    4: required i32 keys_per_split,
  ) throws (
    1: InvalidRequestException ire,
  ),

  /** Returns the same as `describe_splits`, as ranges with estimated numbers of rows. New in 1.1.7. */
  list<CfSplit> describe_splits_ex(
    1: required string cfName,
    2: required string start_token,
    3: required string end_token,
    4: required i32 keys_per_split,
  ) throws (
    1: InvalidRequestException ire,
  ),

  // The schema. Each call returns the id of the new version.

  string system_add_column_family(
    1: required CfDef cf_def,
  ) throws (
    1: InvalidRequestException ire,
    2: SchemaDisagreementException sde,
  ),

  /** Drops a column family of the connection's keyspace. */
  string system_drop_column_family(
    1: required string column_family,
  ) throws (
    1: InvalidRequestException ire,
    2: SchemaDisagreementException sde,
  ),

  /** Replaces the definition of a column family. Comparators and the column type cannot change. */
  string system_update_column_family(
    1: required CfDef cf_def,
  ) throws (
    1: InvalidRequestException ire,
    2: SchemaDisagreementException sde,
  ),

  /** Drops a keyspace with its column families. */
  string system_add_keyspace(
    1: required KsDef ks_def,
  ) throws (
    1: InvalidRequestException ire,
    2: SchemaDisagreementException sde,
  ),

  string system_drop_keyspace(
    1: required string keyspace,
  ) throws (
    1: InvalidRequestException ire,
    2: SchemaDisagreementException sde,
  ),

  /** Replaces the definition of a keyspace. Its column families are not changed. */
  string system_update_keyspace(
    1: required KsDef ks_def,
  ) throws (
    1: InvalidRequestException ire,
    2: SchemaDisagreementException sde,
  ),

  // CQL.

  /** Sets the CQL version of this connection, such as "3.0.0". */
  void set_cql_version(
    1: required string version,
  ) throws (
    1: InvalidRequestException ire,
  ),

  /** Executes a CQL 2 statement, or CQL 3 if `set_cql_version` selected it. */
  CqlResult execute_cql_query(
    1: required binary query,
    2: required Compression compression,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
    4: SchemaDisagreementException sde,
  ),

  /** Prepares a statement. A question mark in it is a placeholder for a value. */
  CqlPreparedResult prepare_cql_query(
    1: required binary query,
    2: required Compression compression,
  ) throws (
    1: InvalidRequestException ire,
  ),

  /** Executes a prepared CQL 2 statement of this connection. */
  CqlResult execute_prepared_cql_query(
    1: required i32 itemId,
    2: required list<binary> values,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
    4: SchemaDisagreementException sde,
  ),
}
