// The interface of Cassandra 0.3, the first release, as its clients speak it. Nothing in it survived into 0.4
// as it was.
//
// A table holds column families, a column family holds rows, and a row holds columns, sorted by name or by
// time. In a super column family each row holds super columns instead, and those hold the columns. Tables and
// column families are fixed in storage-conf.xml. What a call is about is one text, with colons between the
// names.
//
// Names are texts, values are bytes. Every write carries its own timestamp, and the highest one wins. Any
// whole number that only grows will do, such as the milliseconds of a clock.
//
// The Thrift compiler takes this file with -allow-neg-keys only, because of the last calls.

namespace cpp org.apache.cassandra
namespace go cassandra
namespace java org.apache.cassandra.service
namespace js cassandra
namespace py cassandra
namespace rs cassandra

/** The smallest unit of data. */
struct column_t {
  1: string columnName,
  2: binary value,
  3: i64 timestamp,
}

/** Columns of one row to write, grouped by column family. */
struct batch_mutation_t {
  1: string table,
  2: string key,
  3: map<string, list<column_t>> cfmap,
}

/** A named group of columns. It has no timestamp of its own. */
struct superColumn_t {
  1: string name,
  2: list<column_t> columns,
}

/** Super columns of one row to write, grouped by column family. */
struct batch_mutation_super_t {
  1: string table,
  2: string key,
  3: map<string, list<superColumn_t>> cfmap,
}

/** What a query came to: 0, or a code and a text for what is wrong with it. */
struct CqlResult_t {
  1: i32 errorCode,
  2: string errorTxt,
  3: list<map<string, string>> resultSet,
}

/** There is no such row, column or super column. */
exception NotFoundException {
}

/** The request makes no sense to a server with these tables. */
exception InvalidRequestException {
  1: string why,
}

/** Too few replicas are alive for a write that blocks. */
exception UnavailableException {
}

service Cassandra {
  // Reading.

  /** One column: "CF:C", or "CF:SC:C" within a super column. */
  column_t get_column(
    1: string tablename,
    2: string key,
    3: string columnPath,
  ) throws (
    1: InvalidRequestException ire,
    2: NotFoundException nfe,
  ),

  /**
   * Columns by their place: `count` of them from number `start` on, all by default. The parent is "CF", or
   * "CF:SC" for the columns of a super column.
   */
  list<column_t> get_slice(
    1: string tablename,
    2: string key,
    3: string columnParent,
    4: i32 start = -1,
    5: i32 count = -1,
  ) throws (
    1: InvalidRequestException ire,
    2: NotFoundException nfe,
  ),

  /** The named columns, as far as they are there. */
  list<column_t> get_slice_by_names(
    1: string tablename,
    2: string key,
    3: string columnParent,
    4: list<string> columnNames,
  ) throws (
    1: InvalidRequestException ire,
    2: NotFoundException nfe,
  ),

  /**
   * The columns with this timestamp or a later one, up to the first that is older: made for column families
   * that are sorted by time.
   */
  list<column_t> get_columns_since(
    1: string tablename,
    2: string key,
    3: string columnParent,
    4: i64 timeStamp,
  ) throws (
    1: InvalidRequestException ire,
    2: NotFoundException nfe,
  ),

  /** The number of columns of "CF" or "CF:SC". Deleted ones count. */
  i32 get_column_count(
    1: string tablename,
    2: string key,
    3: string columnParent,
  ) throws (
    1: InvalidRequestException ire,
  ),

  /** One super column: "CF:SC". */
  superColumn_t get_superColumn(
    1: string tablename,
    2: string key,
    3: string superColumnPath,
  ) throws (
    1: InvalidRequestException ire,
    2: NotFoundException nfe,
  ),

  /** Super columns by their place, with their columns. */
  list<superColumn_t> get_slice_super(
    1: string tablename,
    2: string key,
    3: string columnFamily,
    4: i32 start = -1,
    5: i32 count = -1,
  ) throws (
    1: InvalidRequestException ire,
  ),

  /** The named super columns. */
  list<superColumn_t> get_slice_super_by_names(
    1: string tablename,
    2: string key,
    3: string columnFamily,
    4: list<string> superColumnNames,
  ) throws (
    1: InvalidRequestException ire,
  ),

  /**
   * Keys with data in any column family, in order, both ends included. Needs a partitioner that keeps the
   * order of keys.
   */
  list<string> get_key_range(
    1: string tablename,
    2: string startWith = "",
    3: string stopAt = "",
    4: i32 maxResults = 1000,
  ) throws (
    1: InvalidRequestException ire,
  ),

  // Writing. With `block` a write waits for a quorum of the replicas, without it for nobody.

  /** Writes one column: "CF:C", or "CF:SC:C" within a super column. */
  void insert(
    1: string tablename,
    2: string key,
    3: string columnPath,
    4: binary cellData,
    5: i64 timestamp,
    6: bool block = false,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
  ),

  void batch_insert(
    1: batch_mutation_t batchMutation,
    2: bool block = false,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
  ),

  void batch_insert_superColumn(
    1: batch_mutation_super_t batchMutationSuper,
    2: bool block = false,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
  ),

  /**
   * Deletes a row ("CF"), a super column ("CF:SC") or a column ("CF:C", "CF:SC:C"), as far as it is not newer
   * than `timestamp`.
   */
  void remove(
    1: string tablename,
    2: string key,
    3: string columnPathOrParent,
    4: i64 timestamp,
    5: bool block = false,
  ) throws (
    1: InvalidRequestException ire,
    2: UnavailableException ue,
  ),

  // Asking about the server. These arguments had no ids in the line's own file, and were numbered from -1
  // downwards.

  /** "version", "cluster name" or "config file"; a question mark for anything else. */
  string getStringProperty(-1: string propertyName),

  /** "tables"; an empty list for anything else. */
  list<string> getStringListProperty(-1: string propertyName),

  /** What the configuration says about a table, as a text. */
  string describeTable(-1: string tableName),

  /** A language of its time, which has nothing to do with later ones of that name. */
  CqlResult_t executeQuery(-1: string query),
}
