//! Parsed statements of CQL 2.

use crate::{StatementTarget, TableName};
use base::compat::features::ConsistencyLevel;

/// A name or a value, which is converted by its type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term2 {
    Text(String),
    Marker(usize),
}

impl Term2 {
    /// Whether it is the name of the row key.
    pub fn is_key(&self, alias: &str) -> bool {
        matches!(self, Term2::Text(text) if text.eq_ignore_ascii_case(alias))
    }
}

#[derive(Debug, Clone)]
pub enum Statement2 {
    Select(Select2),
    /// INSERT, UPDATE, DELETE or a batch of them.
    Change(Changes2),
    Use(String),
    Truncate(TableName),
    CreateKeyspace {
        name: String,
        properties: Vec<(String, String)>,
    },
    DropKeyspace(String),
    CreateTable(CreateTable2),
    AlterTable {
        table: TableName,
        alter: Alter2,
    },
    DropTable(TableName),
    CreateIndex {
        name: Option<String>,
        table: TableName,
        column: Term2,
    },
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

#[derive(Debug, Clone)]
pub struct Select2 {
    pub table: TableName,
    pub columns: Columns2,
    /// The maximum number of columns of each row: FIRST.
    pub first: Option<i32>,
    pub is_reversed: bool,
    pub consistency: ConsistencyLevel,
    pub relations: Vec<Relation2>,
    pub limit: i32,
}

/// The columns that SELECT reads of each row.
#[derive(Debug, Clone)]
pub enum Columns2 {
    All,
    /// `COUNT(*)`, or `COUNT(1)` with the term 1: a real server takes it for a column name, which must be valid.
    Count(Option<Term2>),
    Range(Term2, Term2),
    Names(Vec<Term2>),
}

/// The operators of relations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison2 {
    Eq,
    Lt,
    Lte,
    Gt,
    Gte,
}

#[derive(Debug, Clone)]
pub enum Relation2 {
    Compare { name: Term2, operator: Comparison2, value: Term2 },
    In { name: Term2, values: Vec<Term2> },
}

#[derive(Debug, Clone, Default)]
pub struct Using2 {
    pub consistency: Option<ConsistencyLevel>,
    pub timestamp: Option<i64>,
    pub ttl_s: Option<i32>,
}

#[derive(Debug, Clone)]
pub struct Changes2 {
    pub using: Using2,
    pub statements: Vec<Change2>,
    pub is_batch: bool,
}

#[derive(Debug, Clone)]
pub struct Change2 {
    pub table: TableName,
    pub using: Using2,
    /// The name of the row key in the statement.
    pub key_name: Option<Term2>,
    pub keys: Vec<Term2>,
    pub what: Command2,
}

#[derive(Debug, Clone)]
pub enum Command2 {
    Set(Vec<(Term2, NewValue2)>),
    /// If empty, the whole row is deleted.
    Delete(Vec<Term2>),
}

#[derive(Debug, Clone)]
pub enum NewValue2 {
    Value(Term2),
    /// The amount that is added to a counter.
    Delta(i64),
}

#[derive(Debug, Clone)]
pub struct CreateTable2 {
    pub table: TableName,
    /// Names, types, and whether each is the row key.
    pub columns: Vec<(Term2, String, bool)>,
    pub properties: Vec<(String, String)>,
}

#[derive(Debug, Clone)]
pub enum Alter2 {
    Type(Term2, String),
    Add(Term2, String),
    Drop(Term2),
    With(Vec<(String, String)>),
}
