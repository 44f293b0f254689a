//! Parsed statements. No name has been looked up yet.

use std::ops::Range;

use super::{Alter, Conditions, CreateTable, Describe, Properties, Relation, TableName, Term, TypeName};
use crate::Place;
use base::compat::features::LaterFeature;

/// A statement, and its markers in the order of the text; named markers have a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parsed {
    /// The statement, in which a marker is an index of `markers`.
    pub statement: Statement,
    /// The names of the markers: `None` for `?`.
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

/// A statement of CQL 3.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    /// `SELECT`.
    Select(Select),
    /// `INSERT`, `UPDATE` or `DELETE`.
    Modify(Modify),
    /// `BEGIN BATCH ... APPLY BATCH`.
    Batch(Batch),
    /// `USE keyspace`.
    Use(String),
    /// `TRUNCATE table`.
    Truncate(TableName),
    /// `CREATE KEYSPACE name WITH ...`.
    CreateKeyspace {
        /// The new keyspace.
        name: String,
        /// IF NOT EXISTS: an existing keyspace is not an error.
        if_not_exists: bool,
        /// The properties after WITH.
        properties: Properties,
    },
    /// `ALTER KEYSPACE name WITH ...`.
    AlterKeyspace {
        /// The keyspace to change.
        name: String,
        /// The properties after WITH.
        properties: Properties,
    },
    /// `DROP KEYSPACE name`.
    DropKeyspace {
        /// The keyspace to remove.
        name: String,
        /// IF EXISTS: a missing keyspace is not an error.
        if_exists: bool,
    },
    /// `CREATE TABLE`.
    CreateTable(CreateTable),
    /// `ALTER TABLE`.
    AlterTable {
        /// The table to change.
        table: TableName,
        /// The change.
        alter: Alter,
    },
    /// `DROP TABLE table`.
    DropTable {
        /// The table to remove.
        table: TableName,
        /// IF EXISTS: a missing table is not an error.
        if_exists: bool,
    },
    /// `CREATE INDEX` or `CREATE CUSTOM INDEX`.
    CreateIndex(CreateIndex),
    /// `DROP INDEX name`.
    DropIndex {
        /// The index, with its keyspace if the statement names it.
        name: TableName,
        /// IF EXISTS: a missing index is not an error.
        if_exists: bool,
    },
    /// `CREATE TYPE name (field type, ...)`.
    CreateType {
        /// The new type, with its keyspace if the statement names it.
        name: TableName,
        /// IF NOT EXISTS: an existing type is not an error.
        if_not_exists: bool,
        /// Names and types of the fields, in the order of the text.
        fields: Vec<(String, TypeName)>,
    },
    /// `ALTER TYPE`.
    AlterType {
        /// The type to change, with its keyspace if the statement names it.
        name: TableName,
        /// The change.
        alter: AlterType,
    },
    /// `DROP TYPE name`.
    DropType {
        /// The type to remove, with its keyspace if the statement names it.
        name: TableName,
        /// IF EXISTS: a missing type is not an error.
        if_exists: bool,
    },
    /// `DESCRIBE`, of 4.0.
    Describe(Describe),
    /// Users, roles and permissions.
    Access(AccessStatement),
    /// A statement about triggers, functions, aggregates or materialized views, which this server refuses. Contains the
    /// name of the feature.
    Refused(&'static str),
}

/// `SELECT a, b FROM t WHERE ... GROUP BY ... ORDER BY ... LIMIT ... ALLOW FILTERING`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Select {
    /// The table to read.
    pub table: TableName,
    /// `SELECT JSON`, of 2.2: each row is one text.
    pub is_json: bool,
    /// `SELECT DISTINCT`: each partition once, with its key and static columns.
    pub is_distinct: bool,
    /// The columns of the result.
    pub selection: Selection,
    /// The conditions of WHERE, which must all be met.
    pub relations: Vec<Relation>,
    /// The columns of GROUP BY, of 3.10.
    pub group_by: Vec<String>,
    /// Columns, and whether each is descending.
    pub order_by: Vec<(String, bool)>,
    /// PER PARTITION LIMIT, of 3.6: the maximum number of rows of each partition.
    pub per_partition_limit: Option<Term>,
    /// LIMIT: the maximum number of rows of the result.
    pub limit: Option<Term>,
    /// ALLOW FILTERING: the statement may read rows that are not in the result.
    pub allow_filtering: bool,
}

/// The columns of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selection {
    /// `*`.
    All,
    /// `count(*)` or `count(1)`.
    Count {
        /// The name after AS.
        alias: Option<String>,
    },
    /// A list of selectors. A lone `count(*)` is `Count` instead.
    Some(Vec<Selected>),
}

/// One column of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selected {
    /// The origin of the column's value.
    pub selector: Selector,
    /// The name after AS.
    pub alias: Option<String>,
}

/// The origin of a value in a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// The value of a column.
    Column(String),
    /// `writetime(c)`: the timestamp of a column, in microseconds.
    WriteTime(String),
    /// `ttl(c)`: the seconds until a column expires.
    Ttl(String),
    /// `count(*)` or `count(1)` next to other selectors.
    CountRows,
    /// `CAST(selector AS type)`.
    Cast {
        /// The converted value.
        of: Box<Selector>,
        /// The name of the type, in lower case unless it was in quotes.
        cql_type: String,
    },
    /// A function call. The name keeps its case, because it names the result column.
    Function {
        /// The keyspace of the function, if the statement names it.
        keyspace: Option<String>,
        /// The function's name.
        name: String,
        /// The arguments in the order of the text.
        arguments: Vec<Selector>,
    },
    /// `selector.field`: a field of a user-defined type.
    Field {
        /// The value with the field.
        of: Box<Selector>,
        /// The name of the field.
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
    /// The table to write.
    pub table: TableName,
    /// USING TIMESTAMP: of the written or deleted values, in microseconds.
    pub timestamp: Option<Box<Term>>,
    /// USING TTL: the seconds until the written values expire.
    pub ttl: Option<Box<Term>>,
    /// The condition under which the change is made.
    pub conditions: Conditions,
    /// The change.
    pub change: Change,
}

/// The change that a modification makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// `INSERT INTO t (a, b) VALUES (1, 2)`. The parser does not check that there are as many values as columns.
    Insert {
        /// The names of the columns, in the order of the text.
        columns: Vec<String>,
        /// The values, in the order of the text.
        values: Vec<Term>,
    },
    /// `INSERT ... JSON`, of 2.2. `keeps_omitted`: columns that are not in the JSON text keep their values (DEFAULT
    /// UNSET).
    InsertJson {
        /// A string or a marker with the JSON text of a row.
        json: Term,
        /// Whether the statement has DEFAULT UNSET.
        keeps_omitted: bool,
    },
    /// `UPDATE t SET a = 1 WHERE ...`.
    Update {
        /// The assignments of SET, in the order of the text.
        assignments: Vec<Assignment>,
        /// The conditions of WHERE, which select the rows.
        relations: Vec<Relation>,
    },
    /// `DELETE a, b[x] FROM t WHERE ...`.
    Delete {
        /// The deleted columns and parts. If empty, whole rows are deleted.
        deletions: Vec<Deletion>,
        /// The conditions of WHERE, which select the rows.
        relations: Vec<Relation>,
    },
}

/// An assignment of SET.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The column to change.
    pub column: String,
    /// The change of its value.
    pub operation: Operation,
}

/// The change that an assignment makes to the value of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// `c = 1`.
    Set(Term),
    /// `c[key] = value`.
    SetElement {
        /// The index of an element of a list, or a key of a map.
        key: Term,
        /// The new element.
        value: Term,
    },
    /// `c.field = value`.
    SetField {
        /// The name of the field.
        field: String,
        /// The new value of the field.
        value: Term,
    },
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
    /// The column to delete.
    pub column: String,
    /// The deleted part; `None` for the whole value.
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

/// The kind of a batch, with its number in the native protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::FromRepr)]
#[repr(u8)]
pub enum BatchKind {
    /// `BEGIN BATCH`: all changes are made in the end, or none.
    Logged,
    /// `BEGIN UNLOGGED BATCH`: after a failure, some of the changes may be made.
    Unlogged,
    /// `BEGIN COUNTER BATCH`: all changes are of counters.
    Counter,
}

impl BatchKind {
    /// Returns the write type in the words of the native protocol.
    pub fn write_type(self) -> &'static str {
        match self {
            BatchKind::Logged => "BATCH",
            BatchKind::Unlogged => "UNLOGGED_BATCH",
            BatchKind::Counter => "COUNTER",
        }
    }
}

/// `BEGIN BATCH USING ... APPLY BATCH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// The word before BATCH.
    pub kind: BatchKind,
    /// USING TIMESTAMP: of all changes, in microseconds.
    pub timestamp: Option<Box<Term>>,
    /// USING TTL. The grammar allows it, and the planner refuses it.
    pub ttl: Option<Box<Term>>,
    /// The statements in the order of the text.
    pub statements: Vec<Box<Modify>>,
}

/// The indexed values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexTarget {
    /// `c` or `values(c)`: the value, or the elements of a collection.
    Values,
    /// `keys(c)`: the keys of a map.
    Keys,
    /// The pairs of the keys and values of a map.
    Entries,
    /// A frozen collection as one value.
    Full,
}

/// `CREATE INDEX name ON table (column) ...`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateIndex {
    /// The name of the index; `None` lets the server choose it.
    pub name: Option<String>,
    /// IF NOT EXISTS: an existing index is not an error.
    pub if_not_exists: bool,
    /// The table of the column.
    pub table: TableName,
    /// The indexed column.
    pub column: String,
    /// The indexed part of the column.
    pub target: IndexTarget,
    /// CREATE CUSTOM INDEX: the class after USING implements the index.
    pub is_custom: bool,
    /// The class after USING.
    pub class: Option<String>,
    /// The properties after WITH.
    pub properties: Properties,
}

/// The change of an ALTER TYPE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AlterType {
    /// `ADD field type`.
    Add {
        /// The new field.
        field: String,
        /// Its type.
        cql_type: TypeName,
    },
    /// `ALTER field TYPE type`.
    Alter {
        /// The field to change.
        field: String,
        /// Its new type.
        cql_type: TypeName,
    },
    /// `RENAME a TO b AND c TO d`: pairs of the old and the new name.
    Rename(Vec<(String, String)>),
}

/// Users, roles and permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessStatement {
    /// `CREATE USER name WITH PASSWORD 'p' SUPERUSER`.
    CreateUser {
        /// The new user. Names of users and roles keep their case.
        name: String,
        /// IF NOT EXISTS: an existing user is not an error.
        if_not_exists: bool,
        /// The password, in clear text.
        password: Option<String>,
        /// SUPERUSER or NOSUPERUSER, which is the default.
        is_superuser: bool,
    },
    /// `ALTER USER name WITH PASSWORD 'p' NOSUPERUSER`.
    AlterUser {
        /// The user to change.
        name: String,
        /// The new password, in clear text.
        password: Option<String>,
        /// SUPERUSER or NOSUPERUSER; `None` keeps the status.
        is_superuser: Option<bool>,
    },
    /// `DROP USER name`.
    DropUser {
        /// The user to remove.
        name: String,
        /// IF EXISTS: a missing user is not an error.
        if_exists: bool,
    },
    /// `LIST USERS`.
    ListUsers,
    /// `GRANT permission ON resource TO name`.
    Grant {
        /// The permission in capitals, or `ALL`.
        permission: String,
        /// The resource of the permission.
        resource: Resource,
        /// The user or role that gets the permission.
        to: String,
    },
    /// `REVOKE permission ON resource FROM name`.
    Revoke {
        /// The permission in capitals, or `ALL`.
        permission: String,
        /// The resource of the permission.
        resource: Resource,
        /// The user or role that loses the permission.
        from: String,
    },
    /// `LIST permission ON resource OF name NORECURSIVE`.
    ListPermissions {
        /// The listed permission in capitals, or `ALL`.
        permission: String,
        /// Lists permissions on this resource; `None` on all resources.
        resource: Option<Resource>,
        /// Lists permissions of this user or role; `None` of all.
        of: Option<String>,
        /// Whether permissions on the resources that contain this one are included: without NORECURSIVE.
        is_recursive: bool,
    },
    /// `CREATE ROLE name WITH ...`. Statements about roles came with 2.2.
    CreateRole {
        /// The new role.
        name: String,
        /// IF NOT EXISTS: an existing role is not an error.
        if_not_exists: bool,
        /// The options after WITH.
        options: RoleOptions,
    },
    /// `ALTER ROLE name WITH ...`.
    AlterRole {
        /// The role to change.
        name: String,
        /// The options after WITH; all others stay.
        options: RoleOptions,
    },
    /// `DROP ROLE name`.
    DropRole {
        /// The role to remove.
        name: String,
        /// IF EXISTS: a missing role is not an error.
        if_exists: bool,
    },
    /// `LIST ROLES OF name NORECURSIVE`.
    ListRoles {
        /// Lists the roles of this role; `None` lists all.
        of: Option<String>,
        /// Whether the roles that these roles have are included: without NORECURSIVE.
        is_recursive: bool,
    },
    /// `GRANT role TO name`.
    GrantRole {
        /// The role to grant.
        role: String,
        /// The user or role that gets it.
        to: String,
    },
    /// `REVOKE role FROM name`.
    RevokeRole {
        /// The role to revoke.
        role: String,
        /// The user or role that loses it.
        from: String,
    },
}

/// The options after WITH in a statement about a role.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleOptions {
    /// PASSWORD, in clear text.
    pub password: Option<String>,
    /// LOGIN: whether clients can log in as the role.
    pub login: Option<bool>,
    /// SUPERUSER: whether the role has all permissions.
    pub superuser: Option<bool>,
    /// Whether OPTIONS were given, which this server does not support.
    pub has_custom: bool,
}

/// The resource of a permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resource {
    /// `ALL KEYSPACES`.
    AllKeyspaces,
    /// `KEYSPACE name`.
    Keyspace(String),
    /// `TABLE name`, or a name alone.
    Table(TableName),
    /// `ALL ROLES`.
    AllRoles,
    /// `ROLE name`.
    Role(String),
}
