//! The kinds of statements on a table, and their texts.

use std::fmt::Write;

use super::table::PreparedTable;

/// Selects rows of a partition by their names at one level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowSelector {
    /// One name.
    One,
    /// Some names.
    Several,
    /// A range of names. A bound that is `false` is open.
    Range { from: bool, to: bool },
}

/// One bound of a range of the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RingEnd {
    Open,
    /// At a key's token, inclusive.
    Key,
    /// At a token: exclusive as a start, inclusive as an end.
    Token,
}

/// A range of the ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ring {
    pub from: RingEnd,
    pub to: RingEnd,
}

/// A kind of statement on a table, without values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StatementShape {
    /// Writes a column.
    Insert { expires: bool },
    /// Adds to a counter.
    Add,
    /// Deletes a row.
    DeleteRow,
    /// Deletes names of the first level, or with `inner` of the second.
    Delete { inner: bool, which: RowSelector },
    /// Reads columns of one row, or with `inner` of one super column.
    Slice { inner: bool, which: RowSelector, is_reversed: bool },
    /// Reads the row keys of a range of the ring.
    Keys(Ring),
    /// Reads whole rows of a range of the ring.
    Rows(Ring),
    /// Reads the keys of rows that have a value in a column.
    IndexedKeys(Ring),
    /// Writes a column if it has a value. If the new value is unset, only the condition is checked.
    UpdateIf,
    /// Writes a column if it does not exist.
    InsertIfAbsent,
    /// Writes a column in a conditional batch, with the transaction's timestamp.
    InsertNow,
}

impl StatementShape {
    /// Returns whether running the statement twice has the same result as running it once.
    pub fn is_idempotent(self, table: &PreparedTable) -> bool {
        match self {
            StatementShape::Add
            | StatementShape::UpdateIf
            | StatementShape::InsertIfAbsent
            | StatementShape::InsertNow => false,
            // Statements on counters have no timestamp, so a second deletion would delete later writes too.
            StatementShape::DeleteRow | StatementShape::Delete { .. } => !table.is_counter,
            _ => true,
        }
    }

    /// Returns the statement's text.
    pub fn text(self, table: &PreparedTable) -> String {
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
            StatementShape::Insert { expires } => {
                let ttl = if expires { " AND TTL ?" } else { "" };
                format!(
                    "INSERT INTO {name} (key, {names}, value) VALUES (?, {marks}, ?) USING TIMESTAMP ?{ttl}"
                )
            }
            StatementShape::Add => format!("UPDATE {name} SET value = value + ? WHERE {one}"),
            StatementShape::DeleteRow => format!("DELETE FROM {name}{timestamp} WHERE key = ?"),
            StatementShape::Delete { inner, which } => {
                // If its row were deleted, a counter would continue from its old total at the next addition.
                let is_counter =
                    table.is_counter && which == RowSelector::One && inner == table.inner.is_some();
                let what = if is_counter { "value " } else { "" };
                format!("DELETE {what}FROM {name}{timestamp} WHERE {}", name_condition(table, inner, which))
            }
            StatementShape::Slice { inner, which, is_reversed } => {
                let order = order(table, is_reversed);
                format!(
                    "SELECT {} FROM {name} WHERE {}{order}",
                    table.selected(),
                    name_condition(table, inner, which)
                )
            }
            StatementShape::Keys(ring) => {
                format!("SELECT DISTINCT key FROM {name}{}", ring_condition(ring, " WHERE "))
            }
            StatementShape::Rows(ring) => {
                format!("SELECT key, {} FROM {name}{}", table.selected(), ring_condition(ring, " WHERE "))
            }
            StatementShape::IndexedKeys(ring) => {
                let range = ring_condition(ring, " AND ");
                format!("SELECT key FROM {name} WHERE value = ? AND column1 = ?{range} ALLOW FILTERING")
            }
            StatementShape::UpdateIf => format!("UPDATE {name} SET value = ? WHERE {one} IF value = ?"),
            StatementShape::InsertIfAbsent => {
                format!("INSERT INTO {name} (key, {names}, value) VALUES (?, {marks}, ?) IF NOT EXISTS")
            }
            StatementShape::InsertNow => {
                format!("INSERT INTO {name} (key, {names}, value) VALUES (?, {marks}, ?)")
            }
        }
    }
}

/// Returns the condition that selects names of a row. Bounds are in the order of the column.
fn name_condition(table: &PreparedTable, inner: bool, which: RowSelector) -> String {
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
        RowSelector::Range { from, to } => {
            let from = if from { format!(" AND {column} {after} ?") } else { String::new() };
            let to = if to { format!(" AND {column} {until} ?") } else { String::new() };
            write!(text, "{from}{to}")
        }
    };
    text
}

/// Returns the ORDER BY of a reversed read: each column in the reverse of its own order.
fn order(table: &PreparedTable, is_reversed: bool) -> String {
    if !is_reversed {
        return String::new();
    }
    let reversed = |is_descending: bool| if is_descending { "ASC" } else { "DESC" };
    let outer = reversed(table.outer.is_descending);
    match &table.inner {
        Some(inner) => format!(" ORDER BY column1 {outer}, column2 {}", reversed(inner.is_descending)),
        None => format!(" ORDER BY column1 {outer}"),
    }
}

fn ring_condition(ring: Ring, before: &str) -> String {
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
