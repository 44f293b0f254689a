// The interface of Cassandra 0.3, the first release, as its clients use it. Every call changed in 0.4.
//
// A table has column families, a column family has rows, and a row has columns, sorted by name or by time. In a
// super column family rows have super columns, which contain the columns. Tables and column families are defined
// in storage-conf.xml. The path of a column or super column is one text, with colons between the names.
//
// Names are texts, values are bytes. Every write has a timestamp, and the write with the highest one
// wins. Any increasing integer can be used, such as the milliseconds of a clock.
//
// The Thrift compiler only accepts this file with -allow-neg-keys, because of the last calls.

namespace cpp org.apache.cassandra
namespace go cassandra
namespace java org.apache.cassandra.service
namespace js cassandra
namespace py cassandra
namespace rs cassandra

/** A column: the smallest unit of data. */
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

/** The result of a query: 0, or an error code and a text. */
struct CqlResult_t {
  1: i32 errorCode,
  2: string errorTxt,
  3: list<map<string, string>> resultSet,
}

/** The row, column or super column does not exist. */
exception NotFoundException {
}

/** The request is invalid for these tables. */
exception InvalidRequestException {
  1: string why,
}

/** Too few replicas are alive for a write with `block`. */
exception UnavailableException {
}

service Cassandra {
  // Reading.

  /** Returns one column: "CF:C", or "CF:SC:C" in a super column. */
  column_t get_column(
    1: string tablename,
    2: string key,
    3: string columnPath,
  ) throws (
    1: InvalidRequestException ire,
    2: NotFoundException nfe,
  ),

  /**
   * Returns columns by position: `count` columns from number `start` on, by default all. The parent is "CF", or
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

  /** Returns those of the named columns that exist. */
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
   * Returns the columns with this timestamp or a later one, up to the first older one. Meant for column families
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

  /** Returns the number of columns of "CF" or "CF:SC", including deleted ones. */
  i32 get_column_count(
    1: string tablename,
    2: string key,
    3: string columnParent,
  ) throws (
    1: InvalidRequestException ire,
  ),

  /** Returns one super column: "CF:SC". */
  superColumn_t get_superColumn(
    1: string tablename,
    2: string key,
    3: string superColumnPath,
  ) throws (
    1: InvalidRequestException ire,
    2: NotFoundException nfe,
  ),

  /** Returns super columns by their position, with their columns. */
  list<superColumn_t> get_slice_super(
    1: string tablename,
    2: string key,
    3: string columnFamily,
    4: i32 start = -1,
    5: i32 count = -1,
  ) throws (
    1: InvalidRequestException ire,
  ),

  /** Returns those of the named super columns that exist. */
  list<superColumn_t> get_slice_super_by_names(
    1: string tablename,
    2: string key,
    3: string columnFamily,
    4: list<string> superColumnNames,
  ) throws (
    1: InvalidRequestException ire,
  ),

  /**
   * Returns the keys with data in any column family, in order, both ends included. Needs an order-preserving
   * partitioner.
   */
  list<string> get_key_range(
    1: string tablename,
    2: string startWith = "",
    3: string stopAt = "",
    4: i32 maxResults = 1000,
  ) throws (
    1: InvalidRequestException ire,
  ),

  // Writing. With `block` a write waits for a quorum of the replicas, without it for none.

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
   * Deletes a row ("CF"), a super column ("CF:SC") or a column ("CF:C", "CF:SC:C"), except columns that are newer
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

  // Describing the server. These arguments had no ids in the original file, so Thrift numbered them from -1
  // downwards.

  /** Accepts "version", "cluster name" and "config file"; returns a question mark for others. */
  string getStringProperty(-1: string propertyName),

  /** Returns the tables for "tables", and an empty list for anything else. */
  list<string> getStringListProperty(-1: string propertyName),

  /** Returns a description of a table as text. */
  string describeTable(-1: string tableName),

  /** Executes a query in a language of 0.3, which is unrelated to later query languages. */
  CqlResult_t executeQuery(-1: string query),
}
