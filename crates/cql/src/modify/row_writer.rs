//! Turns operations into changes of the cells of one row.
//!
//! The layout of the table decides the name of a cell. For the row `k, c = 2` and the column `v`:
//!
//! ```text
//!   Sparse           (2, "v")              a composite; a set, map or list has its element as a third part
//!                    (2, "")               the row marker
//!   StaticCompact    "v"                   no clustering column: the column itself
//!   Dense            2                     the clustering value itself; v is the value of the cell
//!   CompositeDense   (2)                   a composite of the clustering values
//!   Super            2 / "v"               a cell in a super column
//! ```
//!
//! Overwriting a collection deletes its old elements with a range tombstone one microsecond before the new ones, so that
//! it does not delete those too.

use std::collections::{BTreeMap, HashSet};

use bytes::Bytes;

use super::operation::{Action, ColumnOperation};
use crate::error::invalid;
use crate::select::RowSet;
use crate::values::{TypedTerm, Value, append_uuid, prepend_uuids};
use crate::{CqlError, QueryOptions, Result, Table};
use base::compat::features::restrictions::CHANGES_OF_SEVERAL_ROWS;
use base::compat::{Behaviour, Line, texts};
use base::model::{Cell, Change, Changes, DeletionTime, RangeTombstone};
use base::schema::{ColumnKind, Layout, TableColumn};
use base::util::Release;
use db::limits::NAME_BYTES_MAX;
use db::{Database, INDEX_ENTRIES, entry_value};

/// The cells of list columns that were read before the write, by column name.
pub(super) type Lists = BTreeMap<Bytes, Vec<Cell>>;

/// The context that is the same for all rows of a statement.
#[derive(Clone, Copy)]
pub(super) struct WriteContext<'a> {
    pub table: &'a Table,
    pub options: &'a QueryOptions,
    pub database: &'a Database,
    pub release: Release,
    pub line: Line,
    pub prefix: &'a RowSet,
    pub timestamp: i64,
    pub ttl_s: Option<i32>,
    pub now_s: i32,
}

/// Collects the changes to one row.
pub(super) struct RowWriter<'a> {
    writing: WriteContext<'a>,
    lists: &'a Lists,
    pub changes: Changes,
}

/// Returns the end-of-component bytes for the bounds of a range tombstone.
fn bounds(release: Release) -> (u8, u8) {
    (if Behaviour::of(release).cells.range_tombstones_begin_at_name { 0 } else { 0xFF }, 1)
}

impl<'a> RowWriter<'a> {
    pub(super) fn new(writing: WriteContext<'a>, lists: &'a Lists) -> RowWriter<'a> {
        RowWriter { writing, lists, changes: Changes::default() }
    }

    fn clustering(&self) -> &'a [Bytes] {
        match self.writing.prefix {
            RowSet::Static | RowSet::Range { .. } => &[],
            RowSet::Row(values) => values,
        }
    }

    fn value(&self, term: &TypedTerm) -> Result<Value> {
        term.value(self.writing.options, self.writing.database)
    }

    /// Returns the name of a column's cell, and the super column that contains it.
    fn name(&self, column: &TableColumn, element: Option<&[u8]>) -> Result<(Option<Bytes>, Bytes)> {
        let def = &self.writing.table.def;
        let clustering = self.clustering();
        let is_static = column.kind == ColumnKind::Static;
        let (super_column, name) = match def.layout {
            Layout::Sparse => (None, def.sparse_name(is_static, clustering, &column.cell_name, element, 0)),
            Layout::StaticCompact => (None, column.cell_name.clone()),
            Layout::Dense | Layout::CompositeDense => (None, def.dense_name(clustering)),
            Layout::Super => match clustering {
                [super_column, name] => (Some(super_column.clone()), name.clone()),
                [super_column] => (Some(super_column.clone()), column.cell_name.clone()),
                _ => (None, Bytes::new()),
            },
        };
        self.check_name(&name)?;
        if def.layout == Layout::Super {
            self.check_name(super_column.as_deref().unwrap_or_default())?;
        }
        Ok((super_column, name))
    }

    fn check_name(&self, name: &[u8]) -> Result<()> {
        if name.is_empty() {
            return invalid("Invalid empty value for clustering column of COMPACT TABLE");
        }
        if name.len() > NAME_BYTES_MAX {
            return invalid(format!(
                "The sum of all clustering columns is too long ({} > {NAME_BYTES_MAX})",
                name.len()
            ));
        }
        Ok(())
    }

    /// Whether the row of a compact table is one that cannot exist: its cell would have an empty name. Up to 2.2 a DELETE
    /// of it deletes the whole partition, and one of its column deletes nothing. From 3.0 on both are refused.
    fn has_no_name(&self) -> Result<bool> {
        let def = &self.writing.table.def;
        let has_none = def.layout == Layout::Dense && self.clustering().iter().all(|name| name.is_empty());
        match def.clustering.first() {
            Some(column) if has_none && CHANGES_OF_SEVERAL_ROWS.is_in(self.writing.line) => {
                invalid(format!("Invalid empty or null value for column {}", column.name))
            }
            _ => Ok(has_none),
        }
    }

    fn live_cell(&self, name: Bytes, value: Bytes) -> Cell {
        let WriteContext { timestamp, ttl_s, now_s, .. } = self.writing;
        match ttl_s {
            Some(ttl_s) => Cell::expiring(name, value, timestamp, ttl_s, now_s),
            None => Cell::live(name, value, timestamp),
        }
    }

    fn tombstone_of(&self, name: Bytes) -> Cell {
        Cell::tombstone(name, self.writing.timestamp, self.writing.now_s)
    }

    /// Writes a cell, or its tombstone.
    fn write(&mut self, column: &TableColumn, element: Option<&[u8]>, value: Option<Bytes>) -> Result<()> {
        let (super_column, name) = self.name(column, element)?;
        let cell = match value {
            Some(value) => {
                self.check_indexed(column, value.len())?;
                self.check_indexed_entry(column, element, &value)?;
                self.live_cell(name, value)
            }
            None => self.tombstone_of(name),
        };
        self.changes.push(Change::Cell { super_column, cell });
        Ok(())
    }

    /// Checks the length of an indexed value: it becomes a name in the index.
    fn check_indexed(&self, column: &TableColumn, bytes: usize) -> Result<()> {
        if bytes <= NAME_BYTES_MAX {
            return Ok(());
        }
        let cf = &self.writing.table.cf;
        let index = cf.column_metadata.get(&column.cell_name).and_then(|column| column.index.as_ref());
        let Some(index) = index else { return Ok(()) };
        invalid(format!(
            "Can't index column value of size {bytes} for index {} on {}.{}",
            texts::index_of_value(self.writing.release, &cf.name, index.name.as_deref().unwrap_or_default()),
            cf.keyspace,
            cf.name
        ))
    }

    /// Checks the length of an entry of a map, whose key and value become one name in an index on entries.
    fn check_indexed_entry(&self, column: &TableColumn, element: Option<&[u8]>, value: &[u8]) -> Result<()> {
        let definition = self.writing.table.cf.column_metadata.get(&column.cell_name);
        let options = definition.and_then(|definition| definition.index.as_ref()?.options.as_ref());
        match element {
            Some(key) if options.is_some_and(|options| options.contains_key(INDEX_ENTRIES)) => {
                self.check_indexed(column, entry_value(key, value).len())
            }
            _ => Ok(()),
        }
    }

    /// Writes the row marker, which keeps a row without values alive.
    pub(super) fn write_marker(&mut self) -> Result<()> {
        let name = self.writing.table.def.sparse_name(false, self.clustering(), b"", None, 0);
        self.check_name(&name)?;
        let cell = self.live_cell(name, Bytes::new());
        self.changes.push(Change::Cell { super_column: None, cell });
        Ok(())
    }

    /// Writes the cell of a dense table's row if the table has no value column.
    pub(super) fn write_dense_row(&mut self) -> Result<()> {
        self.dense_cell(|writer, name| writer.live_cell(name, Bytes::new()))
    }

    fn dense_cell(&mut self, cell: impl Fn(&Self, Bytes) -> Cell) -> Result<()> {
        let (super_column, name) = match (self.writing.table.def.layout, self.clustering()) {
            (Layout::Super, [super_column, name]) => (Some(super_column.clone()), name.clone()),
            (_, clustering) => (None, self.writing.table.def.dense_name(clustering)),
        };
        self.check_name(&name)?;
        let cell = cell(self, name);
        self.changes.push(Change::Cell { super_column, cell });
        Ok(())
    }

    fn deletion(&self, timestamp: i64) -> DeletionTime {
        DeletionTime { marked_for_delete_at: timestamp, local_deletion_time: self.writing.now_s }
    }

    /// Deletes the rows with the prefix.
    pub(super) fn delete_rows(&mut self) -> Result<()> {
        let def = &self.writing.table.def;
        let clustering = self.clustering();
        let deletion = self.deletion(self.writing.timestamp);
        let change = match (def.layout, clustering) {
            _ if let RowSet::Range { start, finish } = self.writing.prefix => {
                for bound in [start, finish].into_iter().filter(|bound| !bound.is_empty()) {
                    self.check_name(bound)?;
                }
                let (start, finish) = (start.clone(), finish.clone());
                Change::DeleteRange(RangeTombstone { super_column: None, start, finish, deletion })
            }
            (_, []) => Change::DeleteRow { deletion },
            (Layout::Super, [name]) => Change::DeleteSuper { name: name.clone(), deletion },
            (Layout::Dense | Layout::CompositeDense | Layout::Super, _)
                if clustering.len() == def.clustering.len() =>
            {
                if !self.has_no_name()? {
                    return self.dense_cell(RowWriter::tombstone_of);
                }
                Change::DeleteRow { deletion }
            }
            _ => {
                let (before, after) = bounds(self.writing.release);
                let start = def.clustering_prefix(clustering, before);
                self.check_name(&start)?;
                let finish = def.clustering_prefix(clustering, after);
                Change::DeleteRange(RangeTombstone { super_column: None, start, finish, deletion })
            }
        };
        self.changes.push(change);
        Ok(())
    }

    /// Deletes all elements of a collection, or all fields of a user-defined type.
    fn delete_elements(&mut self, column: &TableColumn, timestamp: i64) -> Result<()> {
        let def = &self.writing.table.def;
        let is_static = column.kind == ColumnKind::Static;
        let bound = |end| def.sparse_name(is_static, self.clustering(), &column.cell_name, None, end);
        let (before, after) = bounds(self.writing.release);
        let (start, finish) = (bound(before), bound(after));
        self.check_name(&start)?;
        let deletion = self.deletion(timestamp);
        self.changes.push(Change::DeleteRange(RangeTombstone {
            super_column: None,
            start,
            finish,
            deletion,
        }));
        Ok(())
    }

    /// Applies an operation.
    pub(super) fn apply(&mut self, operation: &ColumnOperation) -> Result<()> {
        let ColumnOperation { column, action } = operation;
        match action {
            Action::Set(term) => {
                let value = self.value(term)?;
                self.set(column, value)
            }
            Action::Count { by, is_negative } => self.count(column, by, *is_negative),
            Action::Append(term) | Action::Put(term) => {
                let value = self.value(term)?;
                self.put(column, value)
            }
            Action::Prepend(term) => self.prepend(column, term),
            Action::Discard(term) => self.discard(column, term),
            Action::SetIndex { index, value } => {
                let at = self.value(index)?;
                let Some(value) = self.element_value("List", value)? else { return Ok(()) };
                let name = self.listed(column, at, "Attempted to set an element on a list which is null")?;
                self.check_indexed(column, value.as_ref().map_or(0, Bytes::len))?;
                let cell = match value {
                    Some(value) => self.live_cell(name, value),
                    None => self.tombstone_of(name),
                };
                self.changes.push(Change::Cell { super_column: None, cell });
                Ok(())
            }
            Action::DeleteIndex(index) => {
                let at = self.value(index)?;
                let text = "Attempted to delete an element from a list which is null";
                let name = self.listed(column, at, text)?;
                let cell = self.tombstone_of(name);
                self.changes.push(Change::Cell { super_column: None, cell });
                Ok(())
            }
            Action::Remove(term) => {
                let (Value::Set(elements) | Value::List(elements)) = self.value(term)? else { return Ok(()) };
                elements.iter().try_for_each(|element| self.write(column, Some(element), None))
            }
            Action::SetKey { key, value } => {
                let key = self.key(key, "Invalid null map key")?;
                match self.element_value("Map", value)? {
                    Some(value) => self.write(column, Some(&key), value),
                    None => Ok(()),
                }
            }
            Action::DeleteKey { key, null_text } => {
                let key = self.key(key, null_text)?;
                self.write(column, Some(&key), None)
            }
            Action::SetField { at, value } => match self.value(value)? {
                Value::Unset => Ok(()),
                value => self.write(column, Some(&position_name(*at)), value.into_bytes()),
            },
            Action::DeleteField(at) => self.write(column, Some(&position_name(*at)), None),
            Action::Delete if column.cql_type.is_multi_cell() => {
                self.delete_elements(column, self.writing.timestamp)
            }
            Action::Delete if self.has_no_name()? => Ok(()),
            Action::Delete => self.write(column, None, None),
        }
    }

    /// Sets a column to a value. A whole collection, or a whole value of a user-defined type, replaces the previous one:
    /// its tombstone is one microsecond older than the new cells, so that it does not delete them.
    fn set(&mut self, column: &TableColumn, value: Value) -> Result<()> {
        if value == Value::Unset {
            return Ok(());
        }
        if column.cql_type.is_multi_cell() {
            self.delete_elements(column, self.writing.timestamp.wrapping_sub(1))?;
            return self.put(column, value);
        }
        match value {
            Value::Single(value) => self.write(column, None, Some(value)),
            _ => self.write(column, None, None),
        }
    }

    /// Adds elements to a collection, for a list at its end, or writes the fields of a user-defined type that are not
    /// null.
    fn put(&mut self, column: &TableColumn, value: Value) -> Result<()> {
        match value {
            Value::Unset | Value::Null | Value::Single(_) => Ok(()),
            Value::List(elements) => elements.into_iter().try_for_each(|element| {
                check_element("List", &element)?;
                let uuid = append_uuid(self.writing.database);
                self.write(column, Some(&uuid), Some(element))
            }),
            Value::Set(elements) => elements.iter().try_for_each(|element| {
                check_element("Set", element)?;
                self.write(column, Some(element), Some(Bytes::new()))
            }),
            Value::Fields(fields) => fields.into_iter().enumerate().try_for_each(|(at, field)| match field {
                Some(field) => self.write(column, Some(&position_name(at)), Some(field)),
                None => Ok(()),
            }),
            Value::Map(entries) => entries.into_iter().try_for_each(|(key, value)| {
                check_element("Map", &value)?;
                check_element("Map", &key)?;
                self.write(column, Some(&key), Some(value))
            }),
        }
    }

    fn prepend(&mut self, column: &TableColumn, term: &TypedTerm) -> Result<()> {
        let Value::List(elements) = self.value(term)? else { return Ok(()) };
        let mut uuids = prepend_uuids(self.writing.database, elements.len());
        if Behaviour::of(self.writing.release).cql.prepended_lists_are_reversed {
            uuids.reverse();
        }
        uuids.iter().zip(elements).try_for_each(|(uuid, element)| {
            check_element("List", &element)?;
            self.write(column, Some(uuid), Some(element))
        })
    }

    fn discard(&mut self, column: &TableColumn, term: &TypedTerm) -> Result<()> {
        let Value::List(elements) = self.value(term)? else { return Ok(()) };
        let Some(cells) = self.lists.get(&column.cell_name) else { return Ok(()) };
        let elements: HashSet<Bytes> = elements.into_iter().collect();
        let discarded = cells.iter().filter(|cell| elements.contains(&cell.value));
        let deleted = discarded.map(|cell| self.tombstone_of(cell.name.clone()));
        let deleted: Vec<Change> = deleted.map(|cell| Change::Cell { super_column: None, cell }).collect();
        deleted.into_iter().for_each(|change| self.changes.push(change));
        Ok(())
    }

    /// Returns the value of an element: `Some(None)` for null, `None` if it is unset.
    fn element_value(&self, what: &str, term: &TypedTerm) -> Result<Option<Option<Bytes>>> {
        match self.value(term)? {
            Value::Single(value) => {
                check_element(what, &value)?;
                Ok(Some(Some(value)))
            }
            Value::Unset => Ok(None),
            _ => Ok(Some(None)),
        }
    }

    /// Returns the key of an element.
    fn key(&self, term: &TypedTerm, null_text: &str) -> Result<Bytes> {
        match self.value(term)? {
            Value::Single(key) => Ok(key),
            Value::Unset => invalid(null_text.replace("null", "unset")),
            _ => invalid(null_text),
        }
    }

    /// Returns the name of the cell at an index of a list.
    fn listed(&self, column: &TableColumn, index: Value, null_text: &str) -> Result<Bytes> {
        let Some(index) = index_of(&index) else {
            let kind = if index == Value::Unset { "unset" } else { "null" };
            return invalid(format!("Invalid {kind} value for list index"));
        };
        let cells = self.lists.get(&column.cell_name).map_or(&[][..], Vec::as_slice);
        if cells.is_empty() && Behaviour::of(self.writing.release).cql.empty_lists_are_null {
            return invalid(null_text);
        }
        let cell = usize::try_from(index).ok().and_then(|at| cells.get(at));
        cell.map(|cell| cell.name.clone()).ok_or_else(|| {
            CqlError::invalid(format!("List index {index} out of bound, list has size {}", cells.len()))
        })
    }

    fn count(&mut self, column: &TableColumn, by: &TypedTerm, is_negative: bool) -> Result<()> {
        let by = match self.value(by)? {
            Value::Single(bytes) => <[u8; 8]>::try_from(&bytes[..]).ok().map(i64::from_be_bytes),
            Value::Unset => return Ok(()),
            _ => None,
        };
        let by = by.ok_or_else(|| CqlError::invalid("Invalid null value for counter increment"))?;
        let delta = if is_negative { by.checked_neg() } else { Some(by) };
        let Some(delta) = delta else {
            return invalid(format!(
                "The negation of {by} overflows supported counter precision (signed 8 bytes integer)"
            ));
        };
        let (super_column, name) = self.name(column, None)?;
        let cell = Cell::increment(name, delta, self.writing.timestamp);
        self.changes.push(Change::Cell { super_column, cell });
        Ok(())
    }
}

/// Returns the element in the names of the cells of a field: its position, in two bytes. Definitions limit the number of
/// fields.
fn position_name(at: usize) -> [u8; 2] {
    u16::try_from(at).unwrap_or(u16::MAX).to_be_bytes()
}

/// Returns an index into a list; `None` for null.
pub(super) fn index_of(value: &Value) -> Option<i32> {
    let Value::Single(bytes) = value else { return None };
    <[u8; 4]>::try_from(&bytes[..]).ok().map(i32::from_be_bytes)
}

/// Checks the length of an element. Old protocols write the lengths of elements with 16 bits.
fn check_element(what: &str, element: &Bytes) -> Result<()> {
    if element.len() > NAME_BYTES_MAX {
        return invalid(format!(
            "{what} value is too long. {what} values are limited to {NAME_BYTES_MAX} bytes but {} bytes value provided",
            element.len()
        ));
    }
    Ok(())
}
