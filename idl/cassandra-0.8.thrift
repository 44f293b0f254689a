// The interface of Cassandra 0.8, as clients of that line speak it. Since 0.7 it has counters, the first CQL,
// and an exception for nodes that disagree about the schema.
//
// A keyspace holds column families, a column family holds rows, and a row holds columns sorted by name. In a
// super column family each row holds super columns instead, and those hold the columns.
//
// Row keys, names and values are bytes. Every write carries its own timestamp, and the highest one wins. Any
// whole number that only grows will do; microseconds since 1970 are the custom.

namespace cpp org.apache.cassandra
namespace go cassandra
namespace java org.apache.cassandra.thrift
namespace js cassandra
namespace py cassandra
namespace rs cassandra

/** What `describe_version` answers: 19.10.0 up to 0.8.5, 19.16.0 from 0.8.6. */
const string VERSION = "19.16.0"

/** How many replicas must answer before a call returns. */
enum ConsistencyLevel {
  ONE = 1,
  QUORUM = 2,        // more than half of the replicas
  LOCAL_QUORUM = 3,  // more than half of those in this data center
  EACH_QUORUM = 4,   // more than half of those in each data center
  ALL = 5,
  ANY = 6,           // any node at all, even if it only keeps the write for a replica; writes only
  TWO = 7,
  THREE = 8,
}

/** How a column's value compares with that of an expression. */
enum IndexOperator {
  EQ = 0,
  GTE = 1,
  GT = 2,
  LTE = 3,
  LT = 4,
}

/** How an index is kept. */
enum IndexType {
  KEYS = 0,  // a hidden column family, by value
}

/** How the text of a CQL statement is packed. GZIP is a zlib stream in spite of its name. */
enum Compression {
  GZIP = 1,
  NONE = 2,
}

/** What a CQL statement came to. */
enum CqlResultType {
  ROWS = 1,
  VOID = 2,  // nothing to tell
  INT = 3,   // a count
}

/**
 * The smallest unit of data. With a `ttl` it is gone that many seconds after it was written; an answer has
 * the ttl that was written, not what is left of it. Value and timestamp are optional only for CQL's answers:
 * a write needs both.
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

/** A counter: in `add` and in batches what to add, in an answer the sum. */
struct CounterColumn {
  1: required binary name,
  2: required i64 value,
}

/** A named group of counters. */
struct CounterSuperColumn {
  1: required binary name,
  2: required list<CounterColumn> columns,
}

/** One entry of a row: exactly one is set. Counters are in column families of their own. */
struct ColumnOrSuperColumn {
  1: optional Column column,
  2: optional SuperColumn super_column,
  3: optional CounterColumn counter_column,
  4: optional CounterSuperColumn counter_super_column,
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

/** A condition on a row: how the value of one of its columns compares with this one. */
struct IndexExpression {
  1: required binary column_name,
  2: required IndexOperator op,
  3: required binary value,
}

/**
 * Conditions that a row must all meet, at least one of them an EQ on an indexed column, and where to begin.
 */
struct IndexClause {
  1: required list<IndexExpression> expressions,
  2: required binary start_key,
  3: required i32 count = 100,
}

/**
 * A stretch of rows: two keys, both included, or two tokens, the first excluded. Keys and tokens do not mix.
 * Two tokens may wrap around the end of the ring.
 */
struct KeyRange {
  1: optional binary start_key,
  2: optional binary end_key,
  3: optional string start_token,
  4: optional string end_token,
  5: required i32 count = 100,
}

/** One row of a range scan. */
struct KeySlice {
  1: required binary key,
  2: required list<ColumnOrSuperColumn> columns,
}

/** Declared, and used by no method. */
struct KeyCount {
  1: required binary key,
  2: required i32 count,
}

/**
 * What to delete in a row of a column family, as far as it is not newer than the timestamp: a super column,
 * the names in the predicate (of the row, or of that super column), or with neither of them all. Slice ranges
 * are refused. Only counters may do without a timestamp.
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

/** A part of the ring, without its start token and with its end token, and the nodes that keep it. */
struct TokenRange {
  1: required string start_token,
  2: required string end_token,
  3: required list<string> endpoints,      // where nodes reach each other
  4: optional list<string> rpc_endpoints,  // where clients reach them; new in 0.8.6
}

/** What the authenticator asks for, by name: "username" and "password" for the one that is built in. */
struct AuthenticationRequest {
  1: required map<string, string> credentials,
}

/** What is known of the columns of one name: the type of their values, and whether they are indexed. */
struct ColumnDef {
  1: required binary name,
  2: required string validation_class,  // the type of values
  3: optional IndexType index_type,
  4: optional string index_name,
}

/**
 * A column family. What is not given takes the server's default, in an update as well: an update replaces the
 * whole definition.
 */
struct CfDef {
  1: required string keyspace,
  2: required string name,
  3: optional string column_type = "Standard",       // or "Super"
  5: optional string comparator_type = "BytesType",  // the order of names (of super columns, if it has any)
  6: optional string subcomparator_type,             // the order of names within a super column
  8: optional string comment,
  9: optional double row_cache_size = 0.0,           // rows, or a share of all rows below 1
  11: optional double key_cache_size = 200000.0,     // likewise
  12: optional double read_repair_chance = 1.0,      // how often a read compares all replicas
  13: optional list<ColumnDef> column_metadata,
  14: optional i32 gc_grace_seconds,                 // how long deletions are remembered
  15: optional string default_validation_class,      // the type of values without a ColumnDef
  16: optional i32 id,                               // the server's number for it
  17: optional i32 min_compaction_threshold,
  18: optional i32 max_compaction_threshold,
  19: optional i32 row_cache_save_period_in_seconds,
  20: optional i32 key_cache_save_period_in_seconds,
  21: optional i32 memtable_flush_after_mins,
  22: optional i32 memtable_throughput_in_mb,
  23: optional double memtable_operations_in_millions,
  24: optional bool replicate_on_write,              // for counters
  25: optional double merge_shards_chance,
  26: optional string key_validation_class,          // the type of row keys
  27: optional string row_cache_provider = "org.apache.cassandra.cache.ConcurrentLinkedHashCacheProvider",
  28: optional binary key_alias,                     // what CQL calls the row key
}

/** A keyspace. For an update, `cf_defs` has to be empty. */
struct KsDef {
  1: required string name,
  2: required string strategy_class,                 // how copies are placed
  3: optional map<string, string> strategy_options,  // "replication_factor", or a number for each data center
  4: optional i32 replication_factor,                // better given among the options
  5: required list<CfDef> cf_defs,
  6: optional bool durable_writes = true,            // false: writes skip the commit log
}

/** A row of a CQL answer. */
struct CqlRow {
  1: required binary key,
  2: required list<Column> columns,
}

/** What a CQL statement answers: rows, a count, or nothing. */
struct CqlResult {
  1: required CqlResultType type,
  2: optional list<CqlRow> rows,
  3: optional i32 num,  // the count
}

/** There is no such column, or no such keyspace. */
exception NotFoundException {
}

/** The request cannot be carried out with this schema; asking again will not help. */
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

/** The credentials are right, but not enough. */
exception AuthorizationException {
  1: required string why,
}

/** The nodes have different schemas, so none may be changed. */
exception SchemaDisagreementException {
}

service Cassandra {
  /** Says who is calling, once per connection, where the server is set up to ask. */
  void login(
    1: required AuthenticationRequest auth_request,
  ) throws (
    1: AuthenticationException authnx,
    2: AuthorizationException authzx,
  ),

  /** Chooses the keyspace of this connection, for all calls that follow. */
  void set_keyspace(
    1: required string keyspace,
  ) throws (
    1: InvalidRequestException ire,
  ),

  // Reading.

  /** One column or one super column. */
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

  /** Columns of one row; an absent row is an empty one. */
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

  /** The number of columns, or of super columns, in a slice: never more than its count, 100 by default. */
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

  /** `get_slice` for many rows. Every key is in the answer; one without data maps to an empty list. */
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

  /** `get_count` for many rows. Every key is in the answer. */
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
   * Columns of the rows in a range; an empty key is an open end. Rows come in the order of the partitioner,
   * and a row without a matching column comes with an empty list.
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

  /** Columns of the rows that meet the clause, in the order of the partitioner. */
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

  /** Adds to a counter. What does not exist counts from zero. */
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

  /** Deletes what the path names, as far as it is not newer than `timestamp`. */
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

  /** Deletes counters, for good: what is added to one afterwards may be lost. */
  void remove_counter(
    1: required binary key,
    2: required ColumnPath path,
    3: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Changes of many rows: row key, then column family, then the mutations. Not atomic from row to row. */
  void batch_mutate(
    1: required map<binary, map<string, list<Mutation>>> mutation_map,
    2: required ConsistencyLevel consistency_level = ConsistencyLevel.ONE,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
  ),

  /** Deletes all rows of a column family. Every node has to be up. */
  void truncate(
    1: required string cfname,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
  ),

  // Asking about the server.

  /**
   * For each version of the schema the nodes that have it; those that did not answer are under "UNREACHABLE".
   */
  map<string, list<string>> describe_schema_versions() throws (
    1: InvalidRequestException ire,
  ),

  /** All keyspaces, the server's own included. */
  list<KsDef> describe_keyspaces() throws (
    1: InvalidRequestException ire,
  ),

  string describe_cluster_name(),

  /** The VERSION above. */
  string describe_version(),

  /** Who keeps what: the ranges of the ring, in no particular order. */
  list<TokenRange> describe_ring(
    1: required string keyspace,
  ) throws (
    1: InvalidRequestException ire,
  ),

  /** The full class name of the partitioner. */
  string describe_partitioner(),

  /** The full class name of what knows data centers and racks. */
  string describe_snitch(),

  KsDef describe_keyspace(
    1: required string keyspace,
  ) throws (
    1: NotFoundException nfe,
    2: InvalidRequestException ire,
  ),

  /** Tokens that cut a range into pieces of roughly so many keys; its ends are the first and the last. */
  list<string> describe_splits(
    1: required string cfName,
    2: required string start_token,
    3: required string end_token,
    4: required i32 keys_per_split,
  ) throws (
    1: InvalidRequestException ire,
  ),

  // The schema. Each call answers the id of the new version.

  string system_add_column_family(
    1: required CfDef cf_def,
  ) throws (
    1: InvalidRequestException ire,
    2: SchemaDisagreementException sde,
  ),

  /** In the keyspace of this connection. */
  string system_drop_column_family(
    1: required string column_family,
  ) throws (
    1: InvalidRequestException ire,
    2: SchemaDisagreementException sde,
  ),

  /** Replaces the definition. Comparators and the column type stay as they are. */
  string system_update_column_family(
    1: required CfDef cf_def,
  ) throws (
    1: InvalidRequestException ire,
    2: SchemaDisagreementException sde,
  ),

  /** With its column families. */
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

  /** Replaces the definition, without touching the column families. */
  string system_update_keyspace(
    1: required KsDef ks_def,
  ) throws (
    1: InvalidRequestException ire,
    2: SchemaDisagreementException sde,
  ),

  // CQL.

  /** CQL 1. */
  CqlResult execute_cql_query(
    1: required binary query,
    2: required Compression compression,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
    3: TimedOutException te,
    4: SchemaDisagreementException sde,
  ),
}
