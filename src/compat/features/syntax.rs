//! Syntax of CQL 3 that came after 1.2, with the release line that brought it.

use crate::compat::Line;

/// Something that a statement may have, as messages name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Syntax {
    pub name: &'static str,
    pub since: Line,
}

const fn syntax(name: &'static str, major: u16, minor: u16) -> Syntax {
    Syntax { name, since: Line(major, minor) }
}

pub const AS: Syntax = syntax("AS", 2, 0);
pub const DROP_COLUMN: Syntax = syntax("DROP of a column", 2, 0);
pub const EMPTY_IN: Syntax = syntax("an empty list", 2, 0);
pub const IF: Syntax = syntax("IF", 2, 0);
pub const IF_EXISTS: Syntax = syntax("IF EXISTS", 2, 0);
pub const IF_NOT_EXISTS: Syntax = syntax("IF NOT EXISTS", 2, 0);
pub const IN_MARKER: Syntax = syntax("a marker for a list", 2, 0);
pub const MARKER_ANYWHERE: Syntax = syntax("a marker here", 2, 0);
pub const MULTI_COLUMN_RELATION: Syntax = syntax("a condition of several columns", 2, 0);
pub const NAMED_MARKER: Syntax = syntax("a marker with a name", 2, 0);
pub const NOT_FINITE: Syntax = syntax("a number that is not finite", 2, 0);
pub const RELATION_IN_PARENTHESES: Syntax = syntax("a condition in parentheses", 2, 0);
pub const STATIC: Syntax = syntax("STATIC", 2, 0);
pub const CACHING_MAP: Syntax = syntax("caching by a map", 2, 1);
pub const CONDITION_OPERATORS: Syntax = syntax("IF with more than a column and a value", 2, 1);
pub const CONTAINS: Syntax = syntax("CONTAINS", 2, 1);
pub const FIELD: Syntax = syntax("a field of a column", 2, 1);
pub const FROZEN: Syntax = syntax("frozen", 2, 1);
pub const INDEX_OF_KEYS: Syntax = syntax("KEYS", 2, 1);
pub const INDEX_OF_WHOLE: Syntax = syntax("FULL", 2, 1);
pub const TRUNCATE_TABLE: Syntax = syntax("TRUNCATE TABLE", 2, 1);
pub const TUPLE: Syntax = syntax("a tuple", 2, 1);
pub const TUPLE_TYPE: Syntax = syntax("tuple", 2, 1);
pub const TYPE: Syntax = syntax("TYPE", 2, 1);
pub const USER_TYPE: Syntax = syntax("a user's type", 2, 1);
pub const USER_VALUE: Syntax = syntax("a value of a user's type", 2, 1);
pub const DOLLAR_TEXT: Syntax = syntax("$$text$$", 2, 2);
pub const COUNT_AMONG_OTHERS: Syntax = syntax("count(*) among others", 2, 2);
pub const ELEMENT_RELATION: Syntax = syntax("a condition of an element", 2, 2);
pub const INDEX_OF_VALUES: Syntax = syntax("VALUES", 2, 2);
pub const JSON: Syntax = syntax("JSON", 2, 2);
pub const KEYSPACE_FUNCTION: Syntax = syntax("a function of a keyspace", 2, 2);
pub const ROLES: Syntax = syntax("roles", 2, 2);
pub const CAST: Syntax = syntax("CAST", 3, 2);
pub const PER_PARTITION_LIMIT: Syntax = syntax("PER PARTITION LIMIT", 3, 6);
pub const COLUMN_LIST: Syntax = syntax("a list of columns", 3, 10);
pub const DURATION: Syntax = syntax("a duration", 3, 10);
pub const GROUP_BY: Syntax = syntax("GROUP BY", 3, 10);
pub const ADD_ASSIGN: Syntax = syntax("c += 1", 4, 0);
pub const DESCRIBE: Syntax = syntax("DESCRIBE", 4, 0);
