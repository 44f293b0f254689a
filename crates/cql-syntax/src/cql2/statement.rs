//! Parsed statements of CQL 2.

use crate::{StatementTarget, TableName};
use base::compat::features::ConsistencyLevel;

/// A name or a value, which is converted by its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term2 {
    /// A word, number or string, without quotes. Words keep their case.
    Text(String),
    /// The index of a `?` among the markers of the statement, from 0.
    Marker(usize),
}

impl Term2 {
    /// Whether it is the name of the row key.
    pub fn is_key(&self, alias: &str) -> bool {
        matches!(self, Term2::Text(text) if text.eq_ignore_ascii_case(alias))
    }
}

/// A parsed statement. Words that CQL 3 calls TABLE are COLUMNFAMILY here, which is the same keyword.
#[derive(Debug, Clone)]
pub enum Statement2 {
    /// `SELECT`.
    Select(Select2),
    /// INSERT, UPDATE, DELETE or a batch of them.
    Change(Changes2),
    /// `USE keyspace`.
    Use(String),
    /// `TRUNCATE table`.
    Truncate(TableName),
    /// `CREATE KEYSPACE name WITH ...`.
    CreateKeyspace {
        /// The new keyspace.
        name: String,
        /// Names such as `strategy_options:DC1`, and values, in the order of the text.
        properties: Vec<(String, String)>,
    },
    /// `DROP KEYSPACE name`.
    DropKeyspace(String),
    /// `CREATE COLUMNFAMILY`.
    CreateTable(CreateTable2),
    /// `ALTER COLUMNFAMILY`.
    AlterTable {
        /// The column family to change.
        table: TableName,
        /// The change.
        alter: Alter2,
    },
    /// `DROP COLUMNFAMILY table`.
    DropTable(TableName),
    /// `CREATE INDEX name ON table (column)`.
    CreateIndex {
        /// The name of the index, if the statement has one.
        name: Option<String>,
        /// The column family of the column.
        table: TableName,
        /// The indexed column.
        column: Term2,
    },
    /// `DROP INDEX name`.
    DropIndex(String),
}

impl Statement2 {
    /// Returns the kind of the statement and the element that it works on.
    pub fn target(&self) -> StatementTarget {
        let (kind, keyspace, table) = match self {
            Statement2::Select(select) => ("SELECT", None, Some(&select.table)),
            Statement2::Change(changes) => {
                let first = changes.statements.first();
                let kind = match first.map(|change| &change.what) {
                    _ if changes.is_batch => "BATCH",
                    Some(Command2::Delete(_)) => "DELETE",
                    _ => "UPDATE",
                };
                (kind, None, first.map(|change| &change.table))
            }
            Statement2::Use(name) => ("USE", Some(name), None),
            Statement2::Truncate(table) => ("TRUNCATE", None, Some(table)),
            Statement2::CreateKeyspace { name, .. } => ("CREATE KEYSPACE", Some(name), None),
            Statement2::DropKeyspace(name) => ("DROP KEYSPACE", Some(name), None),
            Statement2::CreateTable(create) => ("CREATE COLUMNFAMILY", None, Some(&create.table)),
            Statement2::AlterTable { table, .. } => ("ALTER COLUMNFAMILY", None, Some(table)),
            Statement2::DropTable(table) => ("DROP COLUMNFAMILY", None, Some(table)),
            Statement2::CreateIndex { table, .. } => ("CREATE INDEX", None, Some(table)),
            Statement2::DropIndex(_) => ("DROP INDEX", None, None),
        };
        let of_table = table.and_then(|table| table.keyspace.clone());
        StatementTarget {
            kind,
            keyspace: keyspace.cloned().or(of_table),
            table: table.map(|table| table.name.clone()),
        }
    }
}

/// `SELECT FIRST 10 REVERSED a..b FROM t USING CONSISTENCY ONE WHERE KEY = k LIMIT 5`.
#[derive(Debug, Clone)]
pub struct Select2 {
    /// The column family to read.
    pub table: TableName,
    /// The columns to read of each row.
    pub columns: Columns2,
    /// The maximum number of columns of each row: FIRST.
    pub first: Option<i32>,
    /// REVERSED: the columns of each row are read in descending order.
    pub is_reversed: bool,
    /// `USING CONSISTENCY`; ONE if the statement has none.
    pub consistency: ConsistencyLevel,
    /// The conditions of WHERE, on the row key and on indexed columns.
    pub relations: Vec<Relation2>,
    /// The maximum number of rows; 10,000 if the statement has none.
    pub limit: i32,
}

/// The columns that SELECT reads of each row.
#[derive(Debug, Clone)]
pub enum Columns2 {
    /// `*`.
    All,
    /// `COUNT(*)`: these columns are counted.
    Count(Box<Columns2>),
    /// `a..b`: all columns from the first to the second name. An empty name means no bound.
    Range(Term2, Term2),
    /// `a, b`: the columns with these names.
    Names(Vec<Term2>),
}

/// The operators of relations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison2 {
    /// `=`.
    Eq,
    /// `<`.
    Lt,
    /// `<=`.
    Lte,
    /// `>`.
    Gt,
    /// `>=`.
    Gte,
}

/// A condition of WHERE.
#[derive(Debug, Clone)]
pub enum Relation2 {
    /// `name > value`.
    Compare {
        /// The row key or a column.
        name: Term2,
        /// The comparison.
        operator: Comparison2,
        /// The compared value.
        value: Term2,
    },
    /// `name IN (a, b)`.
    In {
        /// The name before IN.
        name: Term2,
        /// The values in the order of the text.
        values: Vec<Term2>,
    },
}

/// The attributes of a USING clause.
#[derive(Debug, Clone, Default)]
pub struct Using2 {
    /// `CONSISTENCY`: the consistency level.
    pub consistency: Option<ConsistencyLevel>,
    /// `TIMESTAMP`: of the written or deleted columns, usually in microseconds.
    pub timestamp: Option<i64>,
    /// `TTL`, in seconds.
    pub ttl_s: Option<i32>,
}

/// One INSERT, UPDATE or DELETE, or a batch of them.
#[derive(Debug, Clone)]
pub struct Changes2 {
    /// The USING clause of the batch. Empty outside of a batch.
    pub using: Using2,
    /// The statements in the order of the text.
    pub statements: Vec<Change2>,
    /// Whether the statements are in `BEGIN BATCH ... APPLY BATCH`.
    pub is_batch: bool,
}

/// An INSERT, UPDATE or DELETE.
#[derive(Debug, Clone)]
pub struct Change2 {
    /// The column family to write.
    pub table: TableName,
    /// The USING clause of the statement.
    pub using: Using2,
    /// The name of the row key in the statement.
    pub key_name: Option<Term2>,
    /// The row keys: one after `=`, several after IN, none in a DELETE without WHERE.
    pub keys: Vec<Term2>,
    /// The change of each row.
    pub what: Command2,
}

/// The change that a statement makes to a row.
#[derive(Debug, Clone)]
pub enum Command2 {
    /// INSERT and UPDATE: names of columns, and their new values.
    Set(Vec<(Term2, NewValue2)>),
    /// If empty, the whole row is deleted.
    Delete(Vec<Term2>),
}

/// The new value of a column.
#[derive(Debug, Clone)]
pub enum NewValue2 {
    /// `a = value`, or a value of INSERT.
    Value(Term2),
    /// The amount that is added to a counter.
    Delta(i64),
}

/// `CREATE COLUMNFAMILY table (key type PRIMARY KEY, ...) WITH ...`.
#[derive(Debug, Clone)]
pub struct CreateTable2 {
    /// The new column family.
    pub table: TableName,
    /// Names, types, and whether each is the row key.
    pub columns: Vec<(Term2, String, bool)>,
    /// Names and values, in the order of the text.
    pub properties: Vec<(String, String)>,
}

/// The change of an ALTER COLUMNFAMILY. Types are names such as `text`, or class names.
#[derive(Debug, Clone)]
pub enum Alter2 {
    /// `ALTER column TYPE type`.
    Type(Term2, String),
    /// `ADD column type`.
    Add(Term2, String),
    /// `DROP column`.
    Drop(Term2),
    /// `WITH name = value AND ...`.
    With(Vec<(String, String)>),
}
