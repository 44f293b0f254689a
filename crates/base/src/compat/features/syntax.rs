//! Syntax of CQL 3 that came after 1.2, with the release line that introduced it.

use crate::compat::Line;

/// A feature of the syntax of statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax {
    /// The name in messages.
    pub name: &'static str,
    /// The line that introduced it.
    pub since: Line,
}

const fn syntax(name: &'static str, major: u16, minor: u16) -> Syntax {
    Syntax { name, since: Line(major, minor) }
}

/// `SELECT column AS alias`.
pub const AS: Syntax = syntax("AS", 2, 0);
/// `ALTER TABLE t DROP column`.
pub const DROP_COLUMN: Syntax = syntax("DROP of a column", 2, 0);
/// `WHERE k IN ()`.
pub const EMPTY_IN: Syntax = syntax("IN with an empty list", 2, 0);
/// `INSERT ... IF NOT EXISTS`, `UPDATE ... IF v = 1`: conditional updates.
pub const IF: Syntax = syntax("IF", 2, 0);
/// `DROP TABLE IF EXISTS t`.
pub const IF_EXISTS: Syntax = syntax("IF EXISTS", 2, 0);
/// `CREATE TABLE IF NOT EXISTS t`.
pub const IF_NOT_EXISTS: Syntax = syntax("IF NOT EXISTS", 2, 0);
/// `WHERE k IN ?`.
pub const IN_MARKER: Syntax = syntax("a bind marker for a list", 2, 0);
/// `LIMIT ?`, `USING TTL ?`.
pub const MARKER_ANYWHERE: Syntax = syntax("a bind marker here", 2, 0);
/// `WHERE (a, b) > (1, 2)`.
pub const MULTI_COLUMN_RELATION: Syntax = syntax("a condition on several columns", 2, 0);
/// `WHERE k = :name`.
pub const NAMED_MARKER: Syntax = syntax("a named bind marker", 2, 0);
/// The constants `NaN` and `Infinity`.
pub const NOT_FINITE: Syntax = syntax("NaN or Infinity", 2, 0);
/// `WHERE (k = 1)`.
pub const RELATION_IN_PARENTHESES: Syntax = syntax("a condition in parentheses", 2, 0);
/// `CREATE TABLE t (..., s int STATIC)`.
pub const STATIC: Syntax = syntax("STATIC", 2, 0);
/// `WITH caching = {'keys': 'ALL'}`.
pub const CACHING_MAP: Syntax = syntax("a map for caching", 2, 1);
/// `IF v > 1`, `IF v IN (1, 2)`, `IF m['k'] = 1`.
pub const CONDITION_OPERATORS: Syntax = syntax("an IF condition other than column = value", 2, 1);
/// `WHERE c CONTAINS 1`, `WHERE m CONTAINS KEY 1`.
pub const CONTAINS: Syntax = syntax("CONTAINS", 2, 1);
/// `SELECT column.field`.
pub const FIELD: Syntax = syntax("a field of a column", 2, 1);
/// The type `frozen<list<int>>`.
pub const FROZEN: Syntax = syntax("frozen", 2, 1);
/// `CREATE INDEX ON t (keys(m))`.
pub const INDEX_OF_KEYS: Syntax = syntax("KEYS", 2, 1);
/// `CREATE INDEX ON t (full(c))`.
pub const INDEX_OF_WHOLE: Syntax = syntax("FULL", 2, 1);
/// `TRUNCATE TABLE t`.
pub const TRUNCATE_TABLE: Syntax = syntax("TRUNCATE TABLE", 2, 1);
/// The value `(1, 2)`.
pub const TUPLE: Syntax = syntax("a tuple", 2, 1);
/// The type `tuple<int, text>`.
pub const TUPLE_TYPE: Syntax = syntax("tuple", 2, 1);
/// `CREATE TYPE`, `ALTER TYPE` and `DROP TYPE`.
pub const TYPE: Syntax = syntax("TYPE", 2, 1);
/// A user-defined type as the type of a column.
pub const USER_TYPE: Syntax = syntax("a user-defined type", 2, 1);
/// The value `{field: 1}`.
pub const USER_VALUE: Syntax = syntax("a value of a user-defined type", 2, 1);
/// `$$text$$`, a text that may contain quotes.
pub const DOLLAR_TEXT: Syntax = syntax("$$text$$", 2, 2);
/// `SELECT k, count(*)`.
pub const COUNT_AMONG_OTHERS: Syntax = syntax("count(*) with other columns", 2, 2);
/// `WHERE m['k'] = 1`.
pub const ELEMENT_RELATION: Syntax = syntax("a condition on an element", 2, 2);
/// `CREATE INDEX ON t (entries(m))`.
pub const INDEX_OF_ENTRIES: Syntax = syntax("ENTRIES", 2, 2);
/// `CREATE INDEX ON t (values(m))`.
pub const INDEX_OF_VALUES: Syntax = syntax("VALUES", 2, 2);
/// `SELECT JSON` and `INSERT INTO t JSON`.
pub const JSON: Syntax = syntax("JSON", 2, 2);
/// `keyspace.function(...)`.
pub const KEYSPACE_FUNCTION: Syntax = syntax("a function with a keyspace", 2, 2);
/// `CREATE ROLE` and the other statements about roles.
pub const ROLES: Syntax = syntax("roles", 2, 2);
/// `CAST(v AS text)`.
pub const CAST: Syntax = syntax("CAST", 3, 2);
/// `UPDATE t SET a.field = 1`, `DELETE a.field`, `IF a.field = 1`.
pub const FIELD_CHANGE: Syntax = syntax("a change of a field", 3, 6);
/// `SELECT ... PER PARTITION LIMIT 1`.
pub const PER_PARTITION_LIMIT: Syntax = syntax("PER PARTITION LIMIT", 3, 6);
/// `ALTER TABLE t ADD (a int, b int)`.
pub const COLUMN_LIST: Syntax = syntax("a list of columns", 3, 10);
/// A constant such as `1h30m`.
pub const DURATION: Syntax = syntax("a duration", 3, 10);
/// `SELECT ... GROUP BY k`.
pub const GROUP_BY: Syntax = syntax("GROUP BY", 3, 10);
/// `UPDATE t SET c += 1`.
pub const ADD_ASSIGN: Syntax = syntax("c += 1", 4, 0);
/// `DESCRIBE TABLES` and similar statements.
pub const DESCRIBE: Syntax = syntax("DESCRIBE", 4, 0);
