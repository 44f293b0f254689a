//! Statements, as they are written: nothing is looked up yet.

use std::ops::Range;

use super::{Alter, Conditions, CreateTable, Describe, Properties, Relation, Term, TypeName};

/// A table, and its keyspace where the statement names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableName {
    pub keyspace: Option<String>,
    pub name: String,
}

/// A statement, and its markers in the order of the text: named ones by their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    pub statement: Statement,
    pub markers: Vec<Option<String>>,
    /// Where in the text, in bytes and in its order, names of tables and their like stand that name no keyspace.
    pub unqualified: Vec<usize>,
    /// Where in the text names of functions stand that name no keyspace.
    pub functions: Vec<Range<usize>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    Select(Select),
    Modify(Modify),
    Batch(Batch),
    Use(String),
    Truncate(TableName),
    CreateKeyspace {
        name: String,
        if_not_exists: bool,
        properties: Properties,
    },
    AlterKeyspace {
        name: String,
        properties: Properties,
    },
    DropKeyspace {
        name: String,
        if_exists: bool,
    },
    CreateTable(CreateTable),
    AlterTable {
        table: TableName,
        alter: Alter,
    },
    DropTable {
        table: TableName,
        if_exists: bool,
    },
    CreateIndex(CreateIndex),
    DropIndex {
        name: TableName,
        if_exists: bool,
    },
    CreateType {
        name: TableName,
        if_not_exists: bool,
        fields: Vec<(String, TypeName)>,
    },
    AlterType {
        name: TableName,
        alter: AlterType,
    },
    DropType {
        name: TableName,
        if_exists: bool,
    },
    Describe(Describe),
    /// Users, roles and permissions.
    Access(AccessStatement),
    /// Triggers, functions and aggregates, which this server refuses: what was asked for, in words.
    Refused(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Select {
    pub table: TableName,
    pub is_json: bool,
    pub is_distinct: bool,
    pub selection: Selection,
    pub relations: Vec<Relation>,
    pub group_by: Vec<String>,
    /// Columns, and whether each goes backwards.
    pub order_by: Vec<(String, bool)>,
    pub per_partition_limit: Option<Term>,
    pub limit: Option<Term>,
    pub allow_filtering: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    All,
    /// `count(*)` or `count(1)`.
    Count {
        alias: Option<String>,
    },
    Some(Vec<Selected>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    pub selector: Selector,
    pub alias: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    Column(String),
    WriteTime(String),
    Ttl(String),
    /// `count(*)` or `count(1)` among others.
    CountRows,
    /// `CAST(selector AS type)`.
    Cast {
        of: Box<Selector>,
        cql_type: String,
    },
    /// The name as it was typed, which is the result's.
    Function {
        keyspace: Option<String>,
        name: String,
        arguments: Vec<Selector>,
    },
    Field {
        of: Box<Selector>,
        field: String,
    },
}

/// INSERT, UPDATE or DELETE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modify {
    pub table: TableName,
    pub timestamp: Option<Term>,
    pub ttl: Option<Term>,
    pub conditions: Conditions,
    pub change: Change,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    Insert {
        columns: Vec<String>,
        values: Vec<Term>,
    },
    /// `INSERT ... JSON`, of 2.2; whether columns that it does not name stay as they are (DEFAULT UNSET).
    InsertJson {
        json: Term,
        keeps_omitted: bool,
    },
    Update {
        assignments: Vec<Assignment>,
        relations: Vec<Relation>,
    },
    Delete {
        deletions: Vec<Deletion>,
        relations: Vec<Relation>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub column: String,
    pub operation: Operation,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// `c = 1`.
    Set(Term),
    /// `c[key] = value`.
    SetElement { key: Term, value: Term },
    /// `c = c + term`.
    Add(Term),
    /// `c = c - term`.
    Subtract(Term),
    /// `c = term + c`.
    Prepend(Term),
}

/// `DELETE c`, or with an element `DELETE c[x]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion {
    pub column: String,
    pub element: Option<Term>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchKind {
    Logged,
    Unlogged,
    Counter,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    pub kind: BatchKind,
    pub timestamp: Option<Term>,
    pub ttl: Option<Term>,
    pub statements: Vec<Modify>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexTarget {
    Values,
    Keys,
    /// A frozen collection as the one value that it is.
    Full,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateIndex {
    pub name: Option<String>,
    pub if_not_exists: bool,
    pub table: TableName,
    pub column: String,
    pub target: IndexTarget,
    pub is_custom: bool,
    pub class: Option<String>,
    pub properties: Properties,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlterType {
    Add { field: String, cql_type: TypeName },
    Alter { field: String, cql_type: TypeName },
    Rename(Vec<(String, String)>),
}

/// Users, roles and permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessStatement {
    CreateUser {
        name: String,
        if_not_exists: bool,
        password: Option<String>,
        is_superuser: bool,
    },
    AlterUser {
        name: String,
        password: Option<String>,
        is_superuser: Option<bool>,
    },
    DropUser {
        name: String,
        if_exists: bool,
    },
    ListUsers,
    Grant {
        permission: String,
        resource: Resource,
        to: String,
    },
    Revoke {
        permission: String,
        resource: Resource,
        from: String,
    },
    ListPermissions {
        permission: String,
        resource: Option<Resource>,
        of: Option<String>,
        is_recursive: bool,
    },
    /// The statements of roles, of 2.2.
    CreateRole {
        name: String,
        if_not_exists: bool,
        options: RoleOptions,
    },
    AlterRole {
        name: String,
        options: RoleOptions,
    },
    DropRole {
        name: String,
        if_exists: bool,
    },
    ListRoles {
        of: Option<String>,
        is_recursive: bool,
    },
    GrantRole {
        role: String,
        to: String,
    },
    RevokeRole {
        role: String,
        from: String,
    },
}

/// What stands after WITH in a statement about a role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleOptions {
    pub password: Option<String>,
    pub login: Option<bool>,
    pub superuser: Option<bool>,
    /// OPTIONS, which no role of this server has.
    pub has_custom: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    AllKeyspaces,
    Keyspace(String),
    Table(TableName),
    AllRoles,
    Role(String),
}
