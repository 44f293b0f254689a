//! The statements that are sent: what differs between those of one table, and their text.

use std::fmt::Write;

use super::table::Table;

/// Which rows of a partition, by their names at one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowSelector {
    /// One name.
    One,
    /// Some names.
    Several,
    /// A run of names; open where a bound is `false`.
    Run { from: bool, to: bool },
}

/// One end of a stretch of the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RingEnd {
    Open,
    /// At a key's token, inclusive.
    Key,
    /// At a token: after it where the stretch begins, with it where it ends.
    Token,
}

/// A stretch of the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ring {
    pub from: RingEnd,
    pub to: RingEnd,
}

/// A statement of a table, without its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// Writes a column.
    Insert { expires: bool },
    /// Adds to a counter.
    Add,
    /// Deletes a row.
    DeleteRow,
    /// Deletes names of the first level, or with `inner` of the second.
    Delete { inner: bool, which: RowSelector },
    /// Reads columns of one row; with `inner` of one super column.
    Slice { inner: bool, which: RowSelector, is_reversed: bool },
    /// The row keys of a stretch.
    Keys(Ring),
    /// Whole rows of a stretch, or the first so many columns of each.
    Rows { ring: Ring, is_limited: bool },
    /// The keys of rows that have a value in a column.
    IndexedKeys(Ring),
    /// Writes a column if it holds a value. Without a new value it only looks.
    UpdateIf,
    /// Writes a column if there is none.
    InsertIfAbsent,
    /// Writes a column at the time of the condition that goes with it.
    InsertNow,
}

impl Shape {
    /// Whether doing it twice is as good as doing it once.
    pub fn is_idempotent(self, table: &Table) -> bool {
        match self {
            Shape::Add | Shape::UpdateIf | Shape::InsertIfAbsent | Shape::InsertNow => false,
            // Without timestamps of ours, a second deletion would delete what was written in between.
            Shape::DeleteRow | Shape::Delete { .. } => !table.is_counter,
            _ => true,
        }
    }

    /// The statement's text.
    pub fn text(self, table: &Table) -> String {
        let name = &table.quoted_name;
        let timestamp = if table.is_counter { "" } else { " USING TIMESTAMP ?" };
        let names = if table.inner.is_some() { "column1, column2" } else { "column1" };
        let marks = if table.inner.is_some() { "?, ?" } else { "?" };
        let one = if table.inner.is_some() {
            "key = ? AND column1 = ? AND column2 = ?"
        } else {
            "key = ? AND column1 = ?"
        };
        match self {
            Shape::Insert { expires } => {
                let ttl = if expires { " AND TTL ?" } else { "" };
                format!(
                    "INSERT INTO {name} (key, {names}, value) VALUES (?, {marks}, ?) USING TIMESTAMP ?{ttl}"
                )
            }
            Shape::Add => format!("UPDATE {name} SET value = value + ? WHERE {one}"),
            Shape::DeleteRow => format!("DELETE FROM {name}{timestamp} WHERE key = ?"),
            Shape::Delete { inner, which } => {
                // Without its row a counter would come back with its old total when it is added to.
                let is_counter =
                    table.is_counter && which == RowSelector::One && inner == table.inner.is_some();
                let what = if is_counter { "value " } else { "" };
                format!("DELETE {what}FROM {name}{timestamp} WHERE {}", place(table, inner, which))
            }
            Shape::Slice { inner, which, is_reversed } => {
                let order = order(table, is_reversed);
                format!("SELECT {} FROM {name} WHERE {}{order}", table.selected(), place(table, inner, which))
            }
            Shape::Keys(ring) => format!("SELECT DISTINCT key FROM {name}{}", stretch(ring, " WHERE ")),
            Shape::Rows { ring, is_limited } => {
                let limit = if is_limited { " PER PARTITION LIMIT ?" } else { "" };
                format!("SELECT key, {} FROM {name}{}{limit}", table.selected(), stretch(ring, " WHERE "))
            }
            Shape::IndexedKeys(ring) => {
                let stretch = stretch(ring, " AND ");
                format!("SELECT key FROM {name} WHERE value = ? AND column1 = ?{stretch} ALLOW FILTERING")
            }
            Shape::UpdateIf => format!("UPDATE {name} SET value = ? WHERE {one} IF value = ?"),
            Shape::InsertIfAbsent => {
                format!("INSERT INTO {name} (key, {names}, value) VALUES (?, {marks}, ?) IF NOT EXISTS")
            }
            Shape::InsertNow => format!("INSERT INTO {name} (key, {names}, value) VALUES (?, {marks}, ?)"),
        }
    }
}

/// The condition that picks names of a row. Bounds are those of the column's own order.
fn place(table: &Table, inner: bool, which: RowSelector) -> String {
    let (before, column) =
        if inner { ("key = ? AND column1 = ?", "column2") } else { ("key = ?", "column1") };
    let mut text = before.to_owned();
    let is_descending = match (&table.inner, inner) {
        (Some(form), true) => form.is_descending,
        _ => table.outer.is_descending,
    };
    let (after, until) = if is_descending { ("<=", ">=") } else { (">=", "<=") };
    // Writing to a String cannot fail.
    let _ = match which {
        RowSelector::One => write!(text, " AND {column} = ?"),
        RowSelector::Several => write!(text, " AND {column} IN ?"),
        RowSelector::Run { from, to } => {
            let from = if from { format!(" AND {column} {after} ?") } else { String::new() };
            let to = if to { format!(" AND {column} {until} ?") } else { String::new() };
            write!(text, "{from}{to}")
        }
    };
    text
}

/// The order of a reversed read: each column against its own.
fn order(table: &Table, is_reversed: bool) -> String {
    if !is_reversed {
        return String::new();
    }
    let turned = |is_descending: bool| if is_descending { "ASC" } else { "DESC" };
    let outer = turned(table.outer.is_descending);
    match &table.inner {
        Some(inner) => format!(" ORDER BY column1 {outer}, column2 {}", turned(inner.is_descending)),
        None => format!(" ORDER BY column1 {outer}"),
    }
}

fn stretch(ring: Ring, before: &str) -> String {
    let from = match ring.from {
        RingEnd::Open => None,
        RingEnd::Key => Some("token(key) >= token(?)"),
        RingEnd::Token => Some("token(key) > ?"),
    };
    let to = match ring.to {
        RingEnd::Open => None,
        RingEnd::Key => Some("token(key) <= token(?)"),
        RingEnd::Token => Some("token(key) <= ?"),
    };
    let ends: Vec<&str> = from.into_iter().chain(to).collect();
    if ends.is_empty() { String::new() } else { format!("{before}{}", ends.join(" AND ")) }
}
