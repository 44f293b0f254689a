//! Parsed statements. No name has been looked up yet.

use std::ops::Range;

use super::{Alter, Conditions, CreateTable, Describe, Properties, Relation, TableName, Term, TypeName};
use crate::Place;
use base::compat::features::LaterFeature;

/// A statement, and its markers in the order of the text; named markers have a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    pub statement: Statement,
    pub markers: Vec<Option<String>>,
    /// The byte offsets, in order, of the names of tables and similar elements without a keyspace.
    pub unqualified: Vec<usize>,
    /// The ranges of function names without a keyspace.
    pub functions: Vec<Range<usize>>,
    /// For a statement about a materialized view: the syntax error of releases without views.
    pub before_views: Option<(String, Place)>,
    /// For a statement with a feature that came after 2.1: the syntax error of releases without it.
    pub before_feature: Option<(LaterFeature, String, Place)>,
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
    /// A statement about triggers, functions, aggregates or materialized views, which this server refuses. Contains the
    /// name of the feature.
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
    /// Columns, and whether each is descending.
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
    /// `count(*)` or `count(1)` next to other selectors.
    CountRows,
    /// `CAST(selector AS type)`.
    Cast {
        of: Box<Selector>,
        cql_type: String,
    },
    /// A function call. The name keeps its case, because it names the result column.
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

impl Statement {
    /// Frees the terms of a statement that has been planned. Its kind and its table stay.
    pub fn free_terms(&mut self) {
        match self {
            Statement::Select(select) => select.relations = Vec::new(),
            Statement::Modify(modify) => modify.change.free_terms(),
            Statement::Batch(batch) => {
                batch.statements.truncate(1);
                batch.statements.shrink_to_fit();
                batch.statements.iter_mut().for_each(|first| first.change.free_terms());
            }
            _ => {}
        }
    }
}

impl Change {
    fn free_terms(&mut self) {
        match self {
            Change::Insert { values, .. } => *values = Vec::new(),
            Change::InsertJson { json, .. } => *json = Term::Null,
            Change::Update { assignments, relations } => {
                (*assignments, *relations) = (Vec::new(), Vec::new());
            }
            Change::Delete { relations, .. } => *relations = Vec::new(),
        }
    }
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
    /// `INSERT ... JSON`, of 2.2. `keeps_omitted`: columns that are not in the JSON text keep their values (DEFAULT
    /// UNSET).
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
    /// `c.field = value`.
    SetField { field: String, value: Term },
    /// `c = c + term`.
    Add(Term),
    /// `c = c - term`.
    Subtract(Term),
    /// `c = term + c`.
    Prepend(Term),
}

/// `DELETE c`, or of a part `DELETE c[x]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deletion {
    pub column: String,
    pub part: Option<Part>,
}

/// A part of a column's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// `c[x]`: an element of a collection.
    Element(Term),
    /// `c.x`: a field of a user-defined type.
    Field(String),
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
    /// The pairs of the keys and values of a map.
    Entries,
    /// A frozen collection as one value.
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
    /// Statements about roles, of 2.2.
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

/// The options after WITH in a statement about a role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleOptions {
    pub password: Option<String>,
    pub login: Option<bool>,
    pub superuser: Option<bool>,
    /// Whether OPTIONS were given, which this server does not support.
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
