//! The Thrift calls that a column family serves: each is run on the sample data, with the checks of a client's call.

use std::sync::Arc;

use bytes::Bytes;

use super::shown_query::{QueryVerdict, ShownQuery, beginning};
use super::sketch::OpenSketch;
use crate::present::{escaped, key_class, read_as};
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::compat::features::releases::NEWEST;
use base::marshal::{AbstractType, TypeRef};
use base::model::{Cell, Row, RowColumns};
use base::schema::{CfDef, Layout, TableDef};
use db::{
    ColumnParent, ColumnPath, Error, IndexClause, IndexExpression, IndexOperator, KeyRange, Request,
    RequestedRange, SlicePredicate,
};
use store::RecordingStore;

/// Columns or rows that a call asks for.
const COUNT: i32 = 100;
/// Characters of a key or name in a call.
const TEXT_CHARS: usize = 40;
/// Indexed columns for which calls are made.
const INDEXES_MAX: usize = 4;
/// The key in calls if there are no rows.
static ANY_KEY: Bytes = Bytes::from_static(b"key");

/// Tries the calls of a column family. Thrift clients do not see CQL tables, so those have none.
pub(super) async fn thrift_queries(
    open: &OpenSketch,
    cf: &Arc<CfDef>,
    def: &TableDef,
    rows: &[Row],
) -> Vec<ShownQuery> {
    if def.layout == Layout::Sparse {
        return Vec::new();
    }
    let sample = SampleNames::of(cf, rows);
    let mut calls = TriedCalls { open, cf, shown: Vec::new() };
    calls.of_row(&sample).await;
    if let Some(holder) = &sample.super_column {
        calls.of_super_column(&sample, holder).await;
    }
    calls.of_rows(&sample).await;
    calls.of_indexes(&sample).await;
    calls.shown
}

/// Names and values of the first rows.
struct SampleNames {
    keys: Vec<Bytes>,
    /// Of the first row.
    super_column: Option<Bytes>,
    cells: Vec<Cell>,
}

impl SampleNames {
    fn of(cf: &CfDef, rows: &[Row]) -> SampleNames {
        let mut sample = SampleNames { keys: Vec::new(), super_column: None, cells: Vec::new() };
        sample.keys.extend(rows.iter().take(2).map(|row| row.key.clone()));
        match rows.first().map(|row| &row.columns) {
            Some(RowColumns::Cells(cells)) => sample.cells.extend(cells.iter().take(2).cloned()),
            Some(RowColumns::Supers(supers)) => {
                sample.super_column = supers.first().map(|holder| holder.name.clone());
                sample.cells.extend(supers.iter().flat_map(|holder| &holder.cells).take(2).cloned());
            }
            None => {}
        }
        if sample.super_column.is_none() && cf.is_super() {
            sample.super_column = Some(Bytes::new());
        }
        sample
    }

    fn key(&self) -> Bytes {
        self.keys.first().unwrap_or(&ANY_KEY).clone()
    }

    fn column(&self) -> Option<&Cell> {
        self.cells.first()
    }
}

/// The calls that have been tried, with their texts.
struct TriedCalls<'a> {
    open: &'a OpenSketch,
    cf: &'a CfDef,
    shown: Vec<ShownQuery>,
}

impl TriedCalls<'_> {
    fn text(&self, class: &dyn AbstractType, bytes: &Bytes) -> String {
        let text = read_as(self.open.database.types(), class, bytes).text;
        let cut = text.char_indices().nth(TEXT_CHARS).map(|(at, _)| at);
        match cut {
            Some(at) => format!("'{}…'", text.get(..at).unwrap_or_default()),
            None => format!("'{text}'"),
        }
    }

    fn key(&self, key: &Bytes) -> String {
        self.text(key_class(self.cf), key)
    }

    /// Returns a predicate of the names in a row.
    fn predicate(&self, predicate: &SlicePredicate) -> String {
        let mut words = Vec::new();
        for name in predicate.column_names.iter().flatten() {
            words.push(format!("names {}", self.text(&*self.cf.comparator, name)));
        }
        if let Some(range) = &predicate.slice_range {
            if range.reversed {
                words.push("reversed".to_owned());
            }
            if !range.start.is_empty() {
                words.push(format!("from {}", self.text(&*self.cf.comparator, &range.start)));
            }
            words.push(format!("first {}", range.count));
        }
        words.join(", ")
    }

    fn names(&self) -> &TypeRef {
        self.cf.subcomparator().unwrap_or(&self.cf.comparator)
    }

    /// Returns the path of a call: `Comments`, `Comments/'2009'` or `Comments/'2009'/'author'`.
    fn path(&self, super_column: Option<&Bytes>, column: Option<&Bytes>) -> String {
        let mut path = escaped(self.cf.name.as_bytes());
        if let Some(name) = super_column {
            path.push_str(&format!("/{}", self.text(&*self.cf.comparator, name)));
        }
        if let Some(name) = column {
            path.push_str(&format!("/{}", self.text(&**self.names(), name)));
        }
        path
    }

    fn parent(&self, super_column: Option<Bytes>) -> ColumnParent {
        ColumnParent { column_family: Bytes::copy_from_slice(self.cf.name.as_bytes()), super_column }
    }

    /// Tries a call. A row that is not there is an answer.
    async fn add(
        &mut self,
        purpose: impl Into<String>,
        text: String,
        call: impl AsyncFnOnce(&Request<'_>) -> Result<(), Error>,
    ) {
        let watched = Arc::new(RecordingStore::new(self.open.database.store().clone()));
        let database = self.open.database.with_store(watched.clone());
        let keyspace = self.cf.keyspace.as_bytes();
        let request = database.request(keyspace, ConsistencyLevel::One, Behaviour::of(NEWEST));
        let (verdict, words, cells) = match call(&request).await {
            Ok(()) | Err(Error::NotFound) => {
                (QueryVerdict::Served, String::new(), Some(watched.cells_read()))
            }
            Err(error) => (QueryVerdict::Refused, beginning(&error.to_string()), None),
        };
        self.shown.push(ShownQuery { purpose: purpose.into(), text, verdict, words, cells });
    }

    async fn get(
        &mut self,
        purpose: String,
        key: &Bytes,
        super_column: Option<Bytes>,
        column: Option<Bytes>,
    ) {
        let text = format!("get({}, {})", self.key(key), self.path(super_column.as_ref(), column.as_ref()));
        let ColumnParent { column_family, super_column } = self.parent(super_column);
        let path = ColumnPath { column_family, super_column, column };
        self.add(purpose, text, async |request| request.reads().get(key, &path).await.map(drop)).await;
    }

    async fn get_slice(
        &mut self,
        purpose: impl Into<String>,
        key: &Bytes,
        holder: Option<&Bytes>,
        predicate: SlicePredicate,
    ) {
        let (path, columns) = (self.path(holder, None), self.predicate(&predicate));
        let text = format!("get_slice({}, {path}, {columns})", self.key(key));
        let (keys, parent) = ([key.clone()], self.parent(holder.cloned()));
        self.add(purpose, text, async |request| {
            request.reads().multiget_slice(&keys, &parent, &predicate).await.map(drop)
        })
        .await;
    }

    async fn of_row(&mut self, sample: &SampleNames) {
        let key = sample.key();
        let word = if self.cf.is_super() { "super column" } else { "column" };
        let name = sample.super_column.as_ref().or(sample.column().map(|cell| &cell.name));
        let name = name.filter(|name| !name.is_empty());
        self.get_slice(format!("the {word}s of a row in their order"), &key, None, all(false, COUNT)).await;
        self.get_slice(format!("the last {word} of a row"), &key, None, all(true, 1)).await;
        if let Some(name) = name {
            let from = slice(name.clone(), false, COUNT);
            self.get_slice(format!("{word}s from a name on"), &key, None, from).await;
            let names = SlicePredicate { column_names: Some(vec![name.clone()]), slice_range: None };
            self.get_slice(format!("{word}s by their names"), &key, None, names).await;
        }
        if let Some(name) = name.cloned() {
            let is_super = self.cf.is_super();
            let (super_column, column) = if is_super { (Some(name), None) } else { (None, Some(name)) };
            self.get(format!("a {word} by its name"), &key, super_column, column).await;
        }
        let (path, parent) = (self.path(None, None), self.parent(None));
        let text = format!("get_count({}, {path})", self.key(&key));
        self.add(format!("the number of {word}s of a row"), text, async |request| {
            request.reads().get_count(&key, &parent).await.map(drop)
        })
        .await;
        let first = self.key(sample.keys.first().unwrap_or(&ANY_KEY));
        let text = format!("multiget_slice([{first}, …], {path}, first {COUNT})");
        self.add("several rows by their keys", text, async |request| {
            request.reads().multiget_slice(&sample.keys, &parent, &all(false, COUNT)).await.map(drop)
        })
        .await;
    }

    async fn of_super_column(&mut self, sample: &SampleNames, holder: &Bytes) {
        let key = sample.key();
        self.get_slice("the columns of a super column", &key, Some(holder), all(false, COUNT)).await;
        if let Some(cell) = sample.column() {
            let purpose = "a column of a super column".to_owned();
            self.get(purpose, &key, Some(holder.clone()), Some(cell.name.clone())).await;
        }
    }

    async fn of_rows(&mut self, sample: &SampleNames) {
        let preserves_order = self.open.database.partitioner().preserves_order();
        let order = if preserves_order { "keys" } else { "tokens" };
        let (path, parent) = (self.path(None, None), self.parent(None));
        let text = format!("get_range_slices({path}, first {COUNT} of each, keys '' to '', {COUNT} rows)");
        self.add(format!("all rows, in the order of {order}"), text, async |request| {
            let range = KeyRange::of_keys(Bytes::new(), Bytes::new(), COUNT);
            request.ranges().get_range_slices(&parent, &all(false, COUNT), &range).await.map(drop)
        })
        .await;
        let start = sample.keys.iter().min().cloned().unwrap_or_else(|| sample.key());
        let finish = sample.keys.iter().max().cloned().unwrap_or_else(|| sample.key());
        let text = format!("get_key_range({path}, {} to {}, {COUNT})", self.key(&start), self.key(&finish));
        self.add("rows by a range of keys (0.4 and 0.5)", text, async |request| {
            request.ranges().get_key_range(&parent.column_family, start, finish, COUNT).await.map(drop)
        })
        .await;
    }

    async fn of_indexes(&mut self, sample: &SampleNames) {
        let indexed: Vec<&Bytes> = self.cf.indexed_columns().map(|column| &column.name).collect();
        for name in indexed.iter().take(INDEXES_MAX) {
            if let Some(cell) = sample.cells.iter().find(|cell| cell.name == **name) {
                self.get_indexed_slices("rows by the value of an indexed column", cell).await;
            }
        }
        if let Some(cell) = sample.cells.iter().find(|cell| !indexed.contains(&&cell.name)) {
            self.get_indexed_slices("rows by the value of a column without an index", cell).await;
        }
    }

    async fn get_indexed_slices(&mut self, purpose: &str, cell: &Cell) {
        let (path, parent) = (self.path(None, None), self.parent(None));
        let (column_name, value) = (cell.name.clone(), cell.value.clone());
        let name = self.text(&**self.names(), &column_name);
        let shown = self.text(&**self.cf.value_validator(&column_name), &value);
        let text = format!("get_indexed_slices({path}, {name} = {shown}, first {COUNT} of each)");
        let expressions = vec![IndexExpression { column_name, operator: IndexOperator::Eq, value }];
        let clause = IndexClause { expressions, start_key: Bytes::new(), count: COUNT };
        self.add(purpose, text, async |request| {
            request.index_reads().get_indexed_slices(&parent, &clause, &all(false, COUNT)).await.map(drop)
        })
        .await;
    }
}

fn all(reversed: bool, count: i32) -> SlicePredicate {
    slice(Bytes::new(), reversed, count)
}

fn slice(start: Bytes, reversed: bool, count: i32) -> SlicePredicate {
    let range = RequestedRange { start, finish: Bytes::new(), reversed, count };
    SlicePredicate { column_names: None, slice_range: Some(range) }
}
