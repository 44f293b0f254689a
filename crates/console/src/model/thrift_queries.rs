//! The Thrift calls that a column family serves: each is run on the sample data, with the checks of a client's call.

use std::sync::Arc;

use bytes::Bytes;

use super::shown_query::{ShownQuery, Verdict, beginning};
use super::sketch::OpenSketch;
use crate::present::{escaped, key_class, read_as};
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::compat::features::releases::NEWEST;
use base::marshal::{AbstractType, TypeRef};
use base::model::{Cell, Row, RowColumns};
use base::schema::{CfDef, Layout, TableDef};
use db::{
    ColumnParent, ColumnPath, Database, Error, IndexClause, IndexExpression, IndexOperator, KeyRange,
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
    let mut calls = calls_of_row(cf, &sample);
    calls.extend(sample.super_column.iter().flat_map(|holder| calls_of_super_column(&sample, holder)));
    calls.extend(calls_of_rows(open.database.partitioner().preserves_order(), &sample));
    calls.extend(calls_of_indexes(cf, &sample));
    let mut shown = Vec::new();
    for call in calls {
        shown.push(tried(open, cf, call).await);
    }
    shown
}

/// A call, and its purpose.
struct SampleCall {
    purpose: String,
    request: CallRequest,
}

impl SampleCall {
    fn new(purpose: impl Into<String>, request: CallRequest) -> SampleCall {
        SampleCall { purpose: purpose.into(), request }
    }
}

/// The arguments of a call besides the column family.
enum CallRequest {
    Get { key: Bytes, super_column: Option<Bytes>, column: Option<Bytes> },
    GetSlice { key: Bytes, super_column: Option<Bytes>, predicate: SlicePredicate },
    MultigetSlice { keys: Vec<Bytes> },
    GetCount { key: Bytes },
    GetRangeSlices,
    GetKeyRange { start: Bytes, finish: Bytes },
    GetIndexedSlices { name: Bytes, value: Bytes },
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

/// Writes calls of a column family.
struct CallTexts<'a> {
    database: &'a Database,
    cf: &'a CfDef,
}

impl CallTexts<'_> {
    fn text(&self, class: &dyn AbstractType, bytes: &Bytes) -> String {
        let text = read_as(self.database.types(), class, bytes).text;
        let cut = text.char_indices().nth(TEXT_CHARS).map(|(at, _)| at);
        match cut {
            Some(at) => format!("'{}…'", text.get(..at).unwrap_or_default()),
            None => format!("'{text}'"),
        }
    }

    fn key(&self, key: &Bytes) -> String {
        self.text(key_class(self.cf), key)
    }

    /// Returns a call as a client of Thrift would write it.
    fn call(&self, request: &CallRequest) -> String {
        let path = self.path(None, None);
        match request {
            CallRequest::Get { key, super_column, column } => {
                format!("get({}, {})", self.key(key), self.path(super_column.as_ref(), column.as_ref()))
            }
            CallRequest::GetSlice { key, super_column, predicate } => {
                let path = self.path(super_column.as_ref(), None);
                format!("get_slice({}, {path}, {})", self.key(key), self.predicate(predicate))
            }
            CallRequest::MultigetSlice { keys } => {
                let key = keys.first().unwrap_or(&ANY_KEY);
                format!("multiget_slice([{}, …], {path}, first {COUNT})", self.key(key))
            }
            CallRequest::GetCount { key } => format!("get_count({}, {path})", self.key(key)),
            CallRequest::GetRangeSlices => {
                format!("get_range_slices({path}, first {COUNT} of each, keys '' to '', {COUNT} rows)")
            }
            CallRequest::GetKeyRange { start, finish } => {
                format!("get_key_range({path}, {} to {}, {COUNT})", self.key(start), self.key(finish))
            }
            CallRequest::GetIndexedSlices { name, value } => {
                let value = self.text(&**self.cf.value_validator(name), value);
                let name = self.text(&**self.names(), name);
                format!("get_indexed_slices({path}, {name} = {value}, first {COUNT} of each)")
            }
        }
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
}

fn all(reversed: bool, count: i32) -> SlicePredicate {
    slice(Bytes::new(), reversed, count)
}

fn slice(start: Bytes, reversed: bool, count: i32) -> SlicePredicate {
    let range = RequestedRange { start, finish: Bytes::new(), reversed, count };
    SlicePredicate { column_names: None, slice_range: Some(range) }
}

/// Returns the calls that read a row by its key.
fn calls_of_row(cf: &CfDef, sample: &SampleNames) -> Vec<SampleCall> {
    let key = sample.key();
    let word = if cf.is_super() { "super column" } else { "column" };
    let first = all(false, COUNT);
    let mut slices = vec![
        (format!("the {word}s of a row in their order"), first),
        (format!("the last {word} of a row"), all(true, 1)),
    ];
    let name = sample.super_column.as_ref().or(sample.column().map(|cell| &cell.name));
    let name = name.filter(|name| !name.is_empty());
    if let Some(name) = name {
        slices.push((format!("{word}s from a name on"), slice(name.clone(), false, COUNT)));
        let names = SlicePredicate { column_names: Some(vec![name.clone()]), slice_range: None };
        slices.push((format!("{word}s by their names"), names));
    }
    let mut calls = Vec::new();
    for (purpose, predicate) in slices {
        let request = CallRequest::GetSlice { key: key.clone(), super_column: None, predicate };
        calls.push(SampleCall::new(purpose, request));
    }
    if let Some(name) = name.cloned() {
        let (super_column, column) = if cf.is_super() { (Some(name), None) } else { (None, Some(name)) };
        let request = CallRequest::Get { key: key.clone(), super_column, column };
        calls.push(SampleCall::new(format!("a {word} by its name"), request));
    }
    calls.push(SampleCall::new(format!("the number of {word}s of a row"), CallRequest::GetCount { key }));
    let several = CallRequest::MultigetSlice { keys: sample.keys.clone() };
    calls.push(SampleCall::new("several rows by their keys", several));
    calls
}

/// Returns the calls that read in a super column.
fn calls_of_super_column(sample: &SampleNames, holder: &Bytes) -> Vec<SampleCall> {
    let (key, super_column) = (sample.key(), Some(holder.clone()));
    let columns = CallRequest::GetSlice {
        key: key.clone(),
        super_column: super_column.clone(),
        predicate: all(false, COUNT),
    };
    let mut calls = vec![SampleCall::new("the columns of a super column", columns)];
    if let Some(cell) = sample.column() {
        let column = CallRequest::Get { key, super_column, column: Some(cell.name.clone()) };
        calls.push(SampleCall::new("a column of a super column", column));
    }
    calls
}

/// Returns the calls that read many rows.
fn calls_of_rows(preserves_order: bool, sample: &SampleNames) -> [SampleCall; 2] {
    let order = if preserves_order { "keys" } else { "tokens" };
    let start = sample.keys.iter().min().cloned().unwrap_or_else(|| sample.key());
    let finish = sample.keys.iter().max().cloned().unwrap_or_else(|| sample.key());
    [
        SampleCall::new(format!("all rows, in the order of {order}"), CallRequest::GetRangeSlices),
        SampleCall::new("rows by a range of keys (0.4 and 0.5)", CallRequest::GetKeyRange { start, finish }),
    ]
}

/// Returns the calls that look rows up by a value: of each index, and of a column without one.
fn calls_of_indexes(cf: &CfDef, sample: &SampleNames) -> Vec<SampleCall> {
    let indexed: Vec<&Bytes> = cf.indexed_columns().map(|column| &column.name).collect();
    let mut calls = Vec::new();
    for name in indexed.iter().take(INDEXES_MAX) {
        if let Some(cell) = sample.cells.iter().find(|cell| cell.name == **name) {
            calls.push(indexed_call("rows by the value of an indexed column", cell));
        }
    }
    if let Some(cell) = sample.cells.iter().find(|cell| !indexed.contains(&&cell.name)) {
        calls.push(indexed_call("rows by the value of a column without an index", cell));
    }
    calls
}

fn indexed_call(purpose: &str, cell: &Cell) -> SampleCall {
    let (name, value) = (cell.name.clone(), cell.value.clone());
    SampleCall::new(purpose, CallRequest::GetIndexedSlices { name, value })
}

/// Runs a call.
async fn tried(open: &OpenSketch, cf: &Arc<CfDef>, call: SampleCall) -> ShownQuery {
    let text = CallTexts { database: &open.database, cf }.call(&call.request);
    let watched = Arc::new(RecordingStore::new(open.database.store().clone()));
    let database = open.database.with_store(watched.clone());
    let outcome = run(&database, cf, call.request).await;
    let (verdict, words, cells) = match outcome {
        Ok(()) | Err(Error::NotFound) => (Verdict::Served, String::new(), Some(watched.cells_read())),
        Err(error) => (Verdict::Refused, beginning(&error.to_string()), None),
    };
    ShownQuery { purpose: call.purpose, text, verdict, words, cells }
}

async fn run(database: &Database, cf: &CfDef, call: CallRequest) -> Result<(), Error> {
    let request = database.request(cf.keyspace.as_bytes(), ConsistencyLevel::One, Behaviour::of(NEWEST));
    let column_family = Bytes::copy_from_slice(cf.name.as_bytes());
    let parent = ColumnParent { column_family: column_family.clone(), super_column: None };
    match call {
        CallRequest::Get { key, super_column, column } => {
            let path = ColumnPath { column_family, super_column, column };
            request.reads().get(&key, &path).await.map(drop)
        }
        CallRequest::GetSlice { key, super_column, predicate } => {
            let parent = ColumnParent { super_column, ..parent };
            request.reads().multiget_slice(&[key], &parent, &predicate).await.map(drop)
        }
        CallRequest::MultigetSlice { keys } => {
            request.reads().multiget_slice(&keys, &parent, &all(false, COUNT)).await.map(drop)
        }
        CallRequest::GetCount { key } => request.reads().get_count(&key, &parent).await.map(drop),
        CallRequest::GetRangeSlices => {
            let range = KeyRange::of_keys(Bytes::new(), Bytes::new(), COUNT);
            request.ranges().get_range_slices(&parent, &all(false, COUNT), &range).await.map(drop)
        }
        CallRequest::GetKeyRange { start, finish } => {
            request.ranges().get_key_range(&column_family, start, finish, COUNT).await.map(drop)
        }
        CallRequest::GetIndexedSlices { name, value } => {
            let operator = IndexOperator::Eq;
            let expressions = vec![IndexExpression { column_name: name, operator, value }];
            let clause = IndexClause { expressions, start_key: Bytes::new(), count: COUNT };
            request.index_reads().get_indexed_slices(&parent, &clause, &all(false, COUNT)).await.map(drop)
        }
    }
}
