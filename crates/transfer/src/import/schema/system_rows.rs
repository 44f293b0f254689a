//! The rows of the tables in which a server keeps its schema, read from their SSTables or from the running server.
//!
//! ```text
//!   row key "Shop", cell  Carts : comparator            -> keyspace Shop, clustering [Carts], column comparator
//!   row key "Shop", cell  cart_id : field_names : <id>  -> .. column field_names, an element of its list
//! ```

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::import::{FamilyName, SstableFile};
use base::marshal::components;
use base::model::{Change, DeletionTime};
use base::schema::Layout;
use sstable::{SstableError, TableOptions, TableReader, Unit};
use store::RowPiece;

/// A row: the key columns after the keyspace, and the other columns.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SchemaRow {
    pub keyspace: String,
    pub clustering: Vec<String>,
    columns: BTreeMap<String, BTreeMap<Bytes, Bytes>>,
}

impl SchemaRow {
    pub(crate) fn new(keyspace: String, clustering: Vec<String>) -> SchemaRow {
        SchemaRow { keyspace, clustering, columns: BTreeMap::new() }
    }

    /// Sets an element of a column; without a name, its value.
    pub(crate) fn set(&mut self, column: &str, element: Bytes, value: Bytes) {
        self.columns.entry(column.to_owned()).or_default().insert(element, value);
    }

    /// Returns the text of a column; `None` if it has none or an empty one.
    pub(crate) fn text(&self, column: &str) -> Option<&str> {
        std::str::from_utf8(self.bytes(column)?).ok().filter(|text| !text.is_empty())
    }

    /// Returns the value of a type with a fixed number of bytes.
    fn fixed<const N: usize>(&self, column: &str) -> Option<[u8; N]> {
        self.bytes(column)?[..].try_into().ok()
    }

    pub(crate) fn int(&self, column: &str) -> Option<i32> {
        self.fixed(column).map(i32::from_be_bytes)
    }

    pub(crate) fn boolean(&self, column: &str) -> Option<bool> {
        Some(self.bytes(column)?[..] == [1])
    }

    pub(crate) fn double(&self, column: &str) -> Option<f64> {
        self.fixed(column).map(f64::from_be_bytes)
    }

    /// Returns the number of eight bytes: a `bigint`, or a `timestamp` in milliseconds.
    pub(crate) fn long(&self, column: &str) -> Option<i64> {
        self.fixed(column).map(i64::from_be_bytes)
    }

    /// Returns a map of several cells from texts to `bigint`.
    pub(crate) fn longs(&self, column: &str) -> Vec<(String, i64)> {
        self.entries(column)
            .filter_map(|(name, value)| Some((text_of(name), i64::from_be_bytes(value[..].try_into().ok()?))))
            .collect()
    }

    /// Returns the texts of a frozen collection: a count, then each text after its length, four bytes each. The texts
    /// of a map are keys and values in turn.
    pub(crate) fn frozen_texts(&self, column: &str) -> Vec<String> {
        let bytes = self.bytes(column);
        let mut rest = bytes.and_then(|bytes| bytes.get(4..)).unwrap_or_default();
        let mut found = Vec::new();
        while let Some((length, after)) = rest.split_first_chunk::<4>() {
            let length = usize::try_from(i32::from_be_bytes(*length)).unwrap_or_default();
            let Some((text, after)) = after.split_at_checked(length) else { break };
            found.push(String::from_utf8_lossy(text).into_owned());
            rest = after;
        }
        found
    }

    /// Returns a frozen map of texts.
    pub(crate) fn frozen_map(&self, column: &str) -> BTreeMap<String, String> {
        let texts = self.frozen_texts(column);
        texts.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    }

    /// Returns the id of a table in a column.
    pub(crate) fn id(&self, column: &str) -> Option<[u8; 16]> {
        self.fixed(column)
    }

    /// Returns the elements of a list of several cells.
    pub(crate) fn elements(&self, column: &str) -> Vec<String> {
        let of = self.columns.get(column).into_iter().flat_map(BTreeMap::values);
        of.map(text_of).collect()
    }

    /// Returns the entries of a map of several cells.
    pub(crate) fn entries(&self, column: &str) -> impl Iterator<Item = (&Bytes, &Bytes)> {
        self.columns.get(column).into_iter().flatten()
    }

    /// Returns a JSON list of texts in a column.
    pub(crate) fn json_texts(&self, column: &str) -> Vec<String> {
        self.text(column).and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
    }

    /// Returns the names of the columns.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &str> {
        self.columns.keys().map(String::as_str)
    }

    /// Returns the bytes of a column.
    pub(crate) fn bytes(&self, column: &str) -> Option<&Bytes> {
        self.columns.get(column)?.get(&Bytes::new())
    }
}

fn text_of(bytes: &Bytes) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A cell by its row and the parts of its name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct CellKey {
    row: Bytes,
    parts: Vec<Bytes>,
}

/// The cells of all tables, the newest version of each.
#[derive(Default)]
struct Merged {
    /// The timestamp, and the value; `None` if it was deleted.
    cells: BTreeMap<CellKey, (i64, Option<Bytes>)>,
    /// Deletions of all cells whose name begins with these parts: of rows and ranges.
    deletions: Vec<(CellKey, i64)>,
}

/// A server's own tables in one of its keyspaces.
#[derive(Clone, Copy)]
pub(super) enum SystemTables<'t> {
    /// The SSTables of its column families.
    Files { keyspace: &'t str, found: &'t BTreeMap<FamilyName, Vec<SstableFile>> },
    /// The rows that a server has returned, by table.
    Rows(&'t BTreeMap<String, Vec<SchemaRow>>),
}

impl SystemTables<'_> {
    /// Returns whether a table was found.
    pub(super) fn has(&self, name: &str) -> bool {
        match self {
            SystemTables::Files { keyspace, found } => {
                found.get(&family(keyspace, name)).is_some_and(|files| !files.is_empty())
            }
            SystemTables::Rows(rows) => rows.get(name).is_some_and(|rows| !rows.is_empty()),
        }
    }

    fn read(&self, name: &str, clustering: usize, is_compact: bool) -> Result<Vec<SchemaRow>, SstableError> {
        match self {
            SystemTables::Files { keyspace, found } => {
                let files = found.get(&family(keyspace, name));
                read(files.map_or(&[], Vec::as_slice), clustering, is_compact)
            }
            SystemTables::Rows(rows) => Ok(rows.get(name).cloned().unwrap_or_default()),
        }
    }

    /// Reads all rows of a table of CQL. `clustering` is the number of its key columns after the keyspace.
    ///
    /// # Errors
    ///
    /// At damage.
    pub(super) fn rows(&self, name: &str, clustering: usize) -> Result<Vec<SchemaRow>, SstableError> {
        self.read(name, clustering, false)
    }

    /// Reads all rows of a column family or compact table, whose cells have plain names.
    ///
    /// # Errors
    ///
    /// At damage.
    pub(super) fn plain_rows(&self, name: &str) -> Result<Vec<SchemaRow>, SstableError> {
        self.read(name, 0, true)
    }
}

fn family(keyspace: &str, name: &str) -> FamilyName {
    FamilyName { keyspace: keyspace.to_owned(), name: name.to_owned() }
}

/// Reads all rows of a system table. `clustering` is the number of its key columns after the keyspace; `is_compact` for a
/// table whose cells have plain names.
///
/// # Errors
///
/// At damage: a schema with gaps would be worse than none.
pub(crate) fn read(
    tables: &[SstableFile],
    clustering: usize,
    is_compact: bool,
) -> Result<Vec<SchemaRow>, SstableError> {
    let mut merged = Merged::default();
    let layout = if is_compact { Layout::StaticCompact } else { Layout::Sparse };
    for table in tables {
        let options = TableOptions { layout: Some(layout), partitioner: None };
        let mut reader = TableReader::open(&table.path, &options)?;
        let mut key = Bytes::new();
        while let Some(unit) = reader.next_unit()? {
            match unit {
                Unit::Row { key: of, deletion } => {
                    merged.delete(CellKey { row: of.clone(), parts: Vec::new() }, deletion);
                    key = of;
                }
                Unit::Atom(atom) => {
                    if let Some(change) = atom.into_change() {
                        merged.add(&key, change, is_compact);
                    }
                }
                Unit::EndOfRow => {}
            }
        }
    }
    Ok(merged.rows(clustering))
}

/// Returns the rows of a table, whose live cells a server has returned. `clustering` and `is_compact` are as for [`read`].
pub(crate) fn rows_of_cells(pieces: &[RowPiece], clustering: usize, is_compact: bool) -> Vec<SchemaRow> {
    let mut merged = Merged::default();
    for RowPiece { key, changes } in pieces {
        for change in changes {
            merged.add(key, change.clone(), is_compact);
        }
    }
    merged.rows(clustering)
}

/// Groups rows by the column family that their first key column names.
pub(super) fn by_family(rows: Vec<SchemaRow>) -> BTreeMap<FamilyName, Vec<SchemaRow>> {
    let mut families: BTreeMap<FamilyName, Vec<SchemaRow>> = BTreeMap::new();
    for row in rows {
        let Some(name) = row.clustering.first() else { continue };
        let family = FamilyName { keyspace: row.keyspace.clone(), name: name.clone() };
        families.entry(family).or_default().push(row);
    }
    families
}

impl Merged {
    fn delete(&mut self, place: CellKey, deletion: DeletionTime) {
        if deletion.is_deleted() {
            self.deletions.push((place, deletion.marked_for_delete_at));
        }
    }

    fn add(&mut self, key: &Bytes, change: Change, is_compact: bool) {
        let parts = |name: &Bytes| match is_compact {
            true => vec![name.clone()],
            false => {
                components(name).unwrap_or_default().into_iter().map(|part| name.slice_ref(part)).collect()
            }
        };
        match change {
            Change::Cell { cell, .. } => {
                let value = cell.is_live().then(|| cell.value.clone());
                let found = (cell.timestamp, value);
                let place = CellKey { row: key.clone(), parts: parts(&cell.name) };
                let there = self.cells.entry(place).or_insert_with(|| found.clone());
                // Of equal timestamps a deletion wins, then the greater value.
                let rank = |cell: &(i64, Option<Bytes>)| (cell.0, cell.1.is_none(), cell.1.clone());
                if rank(&found) > rank(there) {
                    *there = found;
                }
            }
            // The ranges that CQL deletes have one beginning.
            Change::DeleteRange(range) => {
                let (start, finish) = (parts(&range.start), parts(&range.finish));
                if start == finish {
                    self.delete(CellKey { row: key.clone(), parts: start }, range.deletion);
                }
            }
            _ => {}
        }
    }

    fn is_deleted(&self, cell: &CellKey, timestamp: i64) -> bool {
        self.deletions
            .iter()
            .any(|(of, at)| of.row == cell.row && cell.parts.starts_with(&of.parts) && timestamp <= *at)
    }

    fn rows(&self, clustering: usize) -> Vec<SchemaRow> {
        let mut rows: BTreeMap<CellKey, SchemaRow> = BTreeMap::new();
        for (cell, (timestamp, value)) in &self.cells {
            let Some(value) = value else { continue };
            if self.is_deleted(cell, *timestamp) || cell.parts.len() <= clustering {
                continue;
            }
            let (of_row, rest) = cell.parts.split_at(clustering);
            let first = CellKey { row: cell.row.clone(), parts: of_row.to_vec() };
            let row = rows.entry(first).or_insert_with(|| SchemaRow {
                keyspace: text_of(&cell.row),
                clustering: of_row.iter().map(text_of).collect(),
                columns: BTreeMap::new(),
            });
            let Some((column, element)) = rest.split_first() else { continue };
            let element = element.first().cloned().unwrap_or_default();
            row.columns.entry(text_of(column)).or_default().insert(element, value.clone());
        }
        rows.into_values().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frozen_collections_are_read_as_far_as_they_go() {
        let row = |bytes: Bytes| SchemaRow {
            columns: BTreeMap::from([("a".to_owned(), BTreeMap::from([(Bytes::new(), bytes)]))]),
            ..SchemaRow::default()
        };
        let bytes = Bytes::from_static(b"\0\0\0\x01\0\0\0\x01k\0\0\0\x02vw");
        let expected = BTreeMap::from([("k".to_owned(), "vw".to_owned())]);
        assert_eq!(row(bytes.clone()).frozen_map("a"), expected);
        for end in 0..bytes.len() {
            assert!(row(bytes.slice(..end)).frozen_map("a").is_empty());
        }
        let negative = Bytes::from_static(b"\0\0\0\x01\xff\xff\xff\xffab");
        assert!(row(negative).frozen_texts("a").iter().all(String::is_empty));
        assert_eq!(row(bytes).frozen_texts("b"), [""; 0]);
    }
}
