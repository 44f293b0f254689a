//! Reads a table of a server row by row, and makes of each row the cells that the server has stored.
//!
//! The times of collections, user types with a cell for each field, and counters are not known: they get the newest write time
//! of the row's other columns, and no time to live.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Mutex;

use super::client::NativeExchange;
use crate::TransferError;
use crate::rows::{BATCH_BYTES, RowBatch, RowSource};
use base::compat::features::ConsistencyLevel;
use base::compat::features::releases::NEWEST;
use base::marshal::{CollectionForm, CqlType, list_from_bytes, map_from_bytes, tuple_from_bytes};
use base::model::{Cell, CellKind, Change};
use base::schema::{CfDef, ColumnKind, Layout, TableColumn, TableDef, quoted_name, row_key};
use base::util::Clock;
use store::RowPiece;

/// Rows of a page: at first, and at most.
const FIRST_ROWS: i32 = 64;
const ROWS_MAX: i32 = 10_000;

/// A walk over a table, in the server's order.
pub(crate) struct NativeWalk {
    /// The address for errors.
    name: String,
    client: Arc<Mutex<NativeExchange>>,
    clock: Arc<Clock>,
    cf: Arc<CfDef>,
    def: Arc<TableDef>,
    query: String,
    rows: i32,
    next: Option<Bytes>,
    is_over: bool,
    last_key: Option<Bytes>,
}

/// Returns whether a column's write time and time to live can be selected: the types whose values are a single cell, except
/// frozen collections, of which 2.1 to 3.11 refuse them.
fn has_times(column: &TableColumn) -> bool {
    let of = &column.cql_type;
    !of.is_counter() && !of.is_frozen_collection() && !of.is_multi_cell()
}

/// Returns the bytes of a value of a type with a fixed number of bytes.
fn fixed<const N: usize>(value: Option<Bytes>) -> Option<[u8; N]> {
    value?[..].try_into().ok()
}

/// Returns the query for all rows of a table: the columns of the key, and each other column with its times.
fn query_of(cf: &CfDef, def: &TableDef) -> String {
    let keys = def.partition_key.iter().chain(&def.clustering);
    let mut selected: Vec<String> = keys.map(|column| quoted_name(&column.name)).collect();
    for column in def.others.values() {
        let name = quoted_name(&column.name);
        if has_times(column) {
            selected.push(format!("{name}, WRITETIME({name}), TTL({name})"));
        } else {
            selected.push(name);
        }
    }
    format!("SELECT {} FROM {}.{}", selected.join(", "), quoted_name(&cf.keyspace), quoted_name(&cf.name))
}

impl NativeWalk {
    pub(super) fn new(
        name: String,
        client: Arc<Mutex<NativeExchange>>,
        clock: Arc<Clock>,
        cf: Arc<CfDef>,
    ) -> NativeWalk {
        let def = TableDef::of(&cf, NEWEST);
        let query = query_of(&cf, &def);
        let (rows, next) = (FIRST_ROWS, None);
        NativeWalk { name, client, clock, cf, def, query, rows, next, is_over: false, last_key: None }
    }

    /// Returns the key and the changes of a row. Static columns are in the first row of each partition.
    fn piece(
        &mut self,
        fields: Vec<Option<Bytes>>,
        form: CollectionForm,
    ) -> Result<Option<RowPiece>, String> {
        let def = self.def.clone();
        let mut fields = fields.into_iter();
        let key: Vec<Bytes> = def.partition_key.iter().map_while(|_| fields.next()?).collect();
        let key = row_key(&key);
        let clustering: Vec<Option<Bytes>> = def.clustering.iter().map_while(|_| fields.next()).collect();
        // A partition of static columns has a row without clustering columns. In compact tables the last ones may be missing.
        let is_row = clustering.first().is_none_or(Option::is_some);
        let clustering: Vec<Bytes> = clustering.into_iter().map_while(|value| value).collect();
        let mut row = PageCells {
            def: &def,
            clustering,
            form,
            now_s: self.clock.now_s(),
            cells: Vec::new(),
            untimed: 0,
        };
        let mut of_static = Vec::new();
        let is_first = self.last_key.as_ref() != Some(&key);
        for column in def.others.values() {
            let value = fields.next().flatten();
            let times = has_times(column).then(|| CellTimes {
                timestamp: fixed(fields.next().flatten()).map(i64::from_be_bytes),
                ttl_s: fixed(fields.next().flatten()).map(i32::from_be_bytes),
            });
            let Some(value) = value else { continue };
            match column.kind {
                ColumnKind::Static if is_first => of_static.push((column, value, times)),
                ColumnKind::Static => {}
                _ => row.add(column, value, times)?,
            }
        }
        if is_row && row.cells.is_empty() {
            row.add_marker();
        }
        let regular = std::mem::take(&mut row.cells);
        for (column, value, times) in of_static {
            row.add(column, value, times)?;
        }
        row.cells.extend(regular);
        row.set_unknown_times();
        let changes: Vec<Change> =
            row.cells.into_iter().map(|(cell, _)| Change::Cell { super_column: None, cell }).collect();
        self.last_key = Some(key.clone());
        Ok((!changes.is_empty()).then_some(RowPiece { key, changes }))
    }
}

impl RowSource for NativeWalk {
    type Error = TransferError;

    async fn next(&mut self) -> Result<Option<RowBatch>, TransferError> {
        if self.is_over {
            return Ok(None);
        }
        let mut client = self.client.lock().await;
        let page =
            client.page(&self.query, ConsistencyLevel::Quorum, &mut self.rows, self.next.as_ref()).await;
        let form = client.collection_form();
        drop(client);
        let table = format!("{} {}.{}", self.name, self.cf.keyspace, self.cf.name);
        let page = page.map_err(|failure| TransferError::named(&table, String::from(failure)))?;
        if page.bytes > 2 * BATCH_BYTES {
            self.rows = (self.rows / 2).max(1);
        } else if page.bytes < BATCH_BYTES / 2 {
            self.rows = (self.rows * 2).min(ROWS_MAX);
        }
        self.is_over = page.next.is_none();
        self.next = page.next;
        let mut rows: Vec<RowPiece> = Vec::new();
        for fields in page.rows {
            let piece = self.piece(fields, form).map_err(|why| TransferError::named(&table, why))?;
            let Some(piece) = piece else { continue };
            match rows.last_mut() {
                Some(last) if last.key == piece.key => last.changes.extend(piece.changes),
                _ => rows.push(piece),
            }
        }
        Ok(Some(RowBatch { cf: self.cf.clone(), rows, place: None }))
    }
}

/// The times of a cell, as far as the server has returned them.
struct CellTimes {
    timestamp: Option<i64>,
    /// Seconds that are left.
    ttl_s: Option<i32>,
}

/// The cells of a row, each with whether its time is known.
struct PageCells<'a> {
    def: &'a TableDef,
    clustering: Vec<Bytes>,
    form: CollectionForm,
    now_s: i32,
    cells: Vec<(Cell, bool)>,
    /// The elements of lists, which have names in the order of time.
    untimed: u64,
}

impl PageCells<'_> {
    /// Adds the cells of a column.
    fn add(&mut self, column: &TableColumn, value: Bytes, times: Option<CellTimes>) -> Result<(), String> {
        let empty = Bytes::new;
        let invalid =
            || format!("column {:?}: bytes that are not of its type {}", column.name, column.cql_type);
        match &column.cql_type {
            CqlType::List { is_frozen: false, .. } => {
                for element in list_from_bytes(&value, self.form).ok_or_else(invalid)? {
                    let name = self.list_name();
                    self.push(column, Some(&name), element, None);
                }
            }
            CqlType::Set { is_frozen: false, .. } => {
                let elements = list_from_bytes(&value, self.form).ok_or_else(invalid)?;
                elements.iter().for_each(|element| self.push(column, Some(element), empty(), None));
            }
            CqlType::Map { is_frozen: false, .. } => {
                let entries = map_from_bytes(&value, self.form).ok_or_else(invalid)?;
                entries.into_iter().for_each(|(key, value)| self.push(column, Some(&key), value, None));
            }
            CqlType::User { is_frozen: false, .. } => {
                let fields = tuple_from_bytes(&value).ok_or_else(invalid)?;
                for (at, field) in (0_u16..).zip(fields) {
                    field
                        .into_iter()
                        .for_each(|field| self.push(column, Some(&at.to_be_bytes()), field, None));
                }
            }
            _ => self.push(column, None, value, times),
        }
        Ok(())
    }

    /// Returns the name of the next element of a list: a UUID of version 1. Its elements are in the order of their names.
    fn list_name(&mut self) -> [u8; 16] {
        self.untimed += 1;
        uuid::Uuid::new_v1(uuid::Timestamp::from_gregorian_time(self.untimed, 0), &[1, 0, 0, 0, 0, 0])
            .into_bytes()
    }

    fn push(&mut self, column: &TableColumn, element: Option<&[u8]>, value: Bytes, times: Option<CellTimes>) {
        let name = match self.def.layout {
            Layout::Sparse => {
                let is_static = column.kind == ColumnKind::Static;
                self.def.sparse_name(is_static, &self.clustering, &column.cell_name, element, 0)
            }
            Layout::Dense | Layout::CompositeDense => self.def.dense_name(&self.clustering),
            Layout::StaticCompact | Layout::Super => column.cell_name.clone(),
        };
        let kind = match times.as_ref().and_then(|times| times.ttl_s) {
            Some(ttl_s) => CellKind::Expiring { ttl_s, expires_at_s: self.now_s.saturating_add(ttl_s) },
            None if column.cql_type.is_counter() => CellKind::Counter,
            None => CellKind::Live,
        };
        let timestamp = times.and_then(|times| times.timestamp);
        let cell = Cell { kind, ..Cell::live(name, value, timestamp.unwrap_or_default()) };
        self.cells.push((cell, timestamp.is_some()));
    }

    /// Adds what a row without values is made of: the row's marker, or the cell of a compact table.
    fn add_marker(&mut self) {
        let name = match self.def.layout {
            Layout::Sparse => self.def.sparse_name(false, &self.clustering, b"", None, 0),
            Layout::Dense | Layout::CompositeDense => self.def.dense_name(&self.clustering),
            Layout::StaticCompact | Layout::Super => return,
        };
        self.cells.push((Cell::live(name, Bytes::new(), 0), false));
    }

    fn set_unknown_times(&mut self) {
        let known = self.cells.iter().filter(|(_, is_known)| *is_known).map(|(cell, _)| cell.timestamp);
        let newest = known.max().unwrap_or_default();
        for (cell, is_known) in &mut self.cells {
            if !*is_known {
                cell.timestamp = newest;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal::{Native, UserType};

    fn def(others: Vec<TableColumn>) -> TableDef {
        let key = TableColumn::new("Key", ColumnKind::PartitionKey, 0, CqlType::Native(Native::Text));
        TableDef {
            layout: Layout::Sparse,
            partition_key: vec![key],
            clustering: Vec::new(),
            others: others.into_iter().map(|column| (column.name.clone(), column)).collect(),
            dropped: std::collections::BTreeMap::new(),
        }
    }

    #[test]
    fn a_collection_that_cannot_be_read_is_an_error() {
        let of = CqlType::Set { element: Box::new(CqlType::Native(Native::Text)), is_frozen: false };
        let column = TableColumn::new("tags", ColumnKind::Regular, 0, of);
        let def = def(vec![column.clone()]);
        let mut row = PageCells {
            def: &def,
            clustering: Vec::new(),
            form: CollectionForm::Long,
            now_s: 0,
            cells: Vec::new(),
            untimed: 0,
        };
        row.add(&column, Bytes::from_static(b"\0\0\0\x01\0\0\0\x01a"), None).unwrap();
        assert_eq!(row.cells.len(), 1);
        assert_eq!(
            row.add(&column, Bytes::from_static(b"\0\0\0\x02\0\0\0\x01a"), None).unwrap_err(),
            "column \"tags\": bytes that are not of its type set<text>"
        );
    }

    #[test]
    fn times_are_asked_of_single_values_that_are_not_collections() {
        let text = || Box::new(CqlType::Native(Native::Text));
        let user = || Arc::new(UserType::new("k", "u", vec![("f".to_owned(), *text())]));
        let types = [
            ("a", CqlType::Native(Native::Int)),
            ("b", CqlType::Native(Native::Counter)),
            ("c", CqlType::List { element: text(), is_frozen: false }),
            ("d", CqlType::List { element: text(), is_frozen: true }),
            ("e", CqlType::Set { element: text(), is_frozen: true }),
            ("f", CqlType::Map { key: text(), value: text(), is_frozen: true }),
            ("g", CqlType::User { user: user(), is_frozen: false }),
            ("h", CqlType::frozen_user(user())),
            ("i", CqlType::Tuple(vec![*text()])),
        ];
        let column = |name: &str, of| TableColumn::new(name, ColumnKind::Regular, 0, of);
        let def = def(types.into_iter().map(|(name, of)| column(name, of)).collect());
        assert_eq!(
            query_of(&CfDef::new("k", "t"), &def),
            "SELECT \"Key\", \"a\", WRITETIME(\"a\"), TTL(\"a\"), \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \
             \"h\", WRITETIME(\"h\"), TTL(\"h\"), \"i\", WRITETIME(\"i\"), TTL(\"i\") FROM \"k\".\"t\""
        );
    }
}
