//! The Thrift calls that a column family serves: each is run on the sample data, with the checks of a client's call.

use std::sync::Arc;

use bytes::Bytes;

use super::shown_query::{ShownQuery, Verdict, beginning};
use super::sketch::OpenSketch;
use crate::present::{escaped, read_as};
use base::compat::Behaviour;
use base::compat::features::ConsistencyLevel;
use base::compat::features::releases::NEWEST;
use base::marshal::{AbstractType, BytesType, TypeRef};
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

/// Tries the calls of a column family. Thrift clients do not see CQL tables, so those have none.
pub async fn thrift_queries(
    open: &OpenSketch,
    cf: &Arc<CfDef>,
    def: &TableDef,
    rows: &[Row],
) -> Vec<ShownQuery> {
    if def.layout == Layout::Sparse {
        return Vec::new();
    }
    let sample = Sample::of(cf, rows);
    let calls = calls_of(open, cf, &sample);
    let mut shown = Vec::new();
    for call in calls {
        shown.push(tried(open, cf, call).await);
    }
    shown
}

/// A call, its purpose, and its text.
struct Call {
    purpose: String,
    text: String,
    request: CallRequest,
}

/// The arguments of a call besides the column family.
enum CallRequest {
    Get { key: Bytes, super_column: Option<Bytes>, column: Option<Bytes> },
    GetSlice { keys: Vec<Bytes>, super_column: Option<Bytes>, predicate: SlicePredicate },
    GetCount { key: Bytes },
    GetRangeSlices { range: KeyRange, predicate: SlicePredicate },
    GetKeyRange { start: Bytes, finish: Bytes },
    GetIndexedSlices { clause: IndexClause },
}

/// Names and values of the first rows.
struct Sample {
    keys: Vec<Bytes>,
    /// Of the first row.
    super_column: Option<Bytes>,
    cells: Vec<Cell>,
}

impl Sample {
    fn of(cf: &CfDef, rows: &[Row]) -> Sample {
        let mut sample = Sample { keys: Vec::new(), super_column: None, cells: Vec::new() };
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
        self.keys.first().cloned().unwrap_or_else(|| Bytes::from_static(b"key"))
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
        match &self.cf.key_validator {
            Some(validator) => self.text(&**validator, key),
            None => self.text(&BytesType, key),
        }
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

fn calls_of(open: &OpenSketch, cf: &CfDef, sample: &Sample) -> Vec<Call> {
    let texts = CallTexts { database: &open.database, cf };
    let mut calls = calls_of_row(&texts, sample);
    if let Some(holder) = &sample.super_column {
        calls.extend(calls_of_super_column(&texts, sample, holder));
    }
    calls.extend(calls_of_rows(&texts, open, sample));
    calls.extend(calls_of_indexes(&texts, sample));
    calls
}

/// Returns the calls that read a row by its key.
fn calls_of_row(texts: &CallTexts<'_>, sample: &Sample) -> Vec<Call> {
    let cf = texts.cf;
    let (key, path) = (sample.key(), texts.path(None, None));
    let key_text = texts.key(&key);
    let word = if cf.is_super() { "super column" } else { "column" };
    let slice_call = |purpose: String, predicate: SlicePredicate, words: String| Call {
        purpose,
        text: format!("get_slice({key_text}, {path}, {words})"),
        request: CallRequest::GetSlice { keys: vec![key.clone()], super_column: None, predicate },
    };
    let mut calls = vec![
        slice_call(
            format!("the {word}s of a row in their order"),
            all(false, COUNT),
            format!("first {COUNT}"),
        ),
        slice_call(format!("the last {word} of a row"), all(true, 1), "reversed, first 1".to_owned()),
    ];
    let name = match (&sample.super_column, sample.column()) {
        (Some(name), _) => Some(name.clone()),
        (None, cell) => cell.map(|cell| cell.name.clone()),
    };
    if let Some(name) = name.filter(|name| !name.is_empty()) {
        let shown = texts.text(&*cf.comparator, &name);
        let from = slice(name.clone(), false, COUNT);
        calls.push(slice_call(
            format!("{word}s from a name on"),
            from,
            format!("from {shown}, first {COUNT}"),
        ));
        let names = SlicePredicate { column_names: Some(vec![name.clone()]), slice_range: None };
        calls.push(slice_call(format!("{word}s by their names"), names, format!("names {shown}")));
        let (super_column, column) =
            if cf.is_super() { (Some(name.clone()), None) } else { (None, Some(name.clone())) };
        calls.push(Call {
            purpose: format!("a {word} by its name"),
            text: format!("get({key_text}, {path}/{shown})"),
            request: CallRequest::Get { key: key.clone(), super_column, column },
        });
    }
    calls.push(Call {
        purpose: format!("the number of {word}s of a row"),
        text: format!("get_count({key_text}, {path})"),
        request: CallRequest::GetCount { key: key.clone() },
    });
    calls.push(Call {
        purpose: "several rows by their keys".to_owned(),
        text: format!("multiget_slice([{key_text}, …], {path}, first {COUNT})"),
        request: CallRequest::GetSlice {
            keys: sample.keys.clone(),
            super_column: None,
            predicate: all(false, COUNT),
        },
    });
    calls
}

/// Returns the calls that read in a super column.
fn calls_of_super_column(texts: &CallTexts<'_>, sample: &Sample, holder: &Bytes) -> Vec<Call> {
    let (key, path) = (sample.key(), texts.path(Some(holder), None));
    let key_text = texts.key(&key);
    let mut calls = vec![Call {
        purpose: "the columns of a super column".to_owned(),
        text: format!("get_slice({key_text}, {path}, first {COUNT})"),
        request: CallRequest::GetSlice {
            keys: vec![key.clone()],
            super_column: Some(holder.clone()),
            predicate: all(false, COUNT),
        },
    }];
    if let Some(cell) = sample.column() {
        calls.push(Call {
            purpose: "a column of a super column".to_owned(),
            text: format!("get({key_text}, {})", texts.path(Some(holder), Some(&cell.name))),
            request: CallRequest::Get {
                key,
                super_column: Some(holder.clone()),
                column: Some(cell.name.clone()),
            },
        });
    }
    calls
}

/// Returns the calls that read many rows.
fn calls_of_rows(texts: &CallTexts<'_>, open: &OpenSketch, sample: &Sample) -> Vec<Call> {
    let path = texts.path(None, None);
    let order = if open.database.partitioner().preserves_order() { "keys" } else { "tokens" };
    let mut ends: Vec<Bytes> = sample.keys.clone();
    ends.sort();
    let (start, finish) = match (ends.first(), ends.last()) {
        (Some(start), Some(finish)) => (start.clone(), finish.clone()),
        _ => (sample.key(), sample.key()),
    };
    vec![
        Call {
            purpose: format!("all rows, in the order of {order}"),
            text: format!("get_range_slices({path}, first {COUNT} of each, keys '' to '', {COUNT} rows)"),
            request: CallRequest::GetRangeSlices {
                range: KeyRange::of_keys(Bytes::new(), Bytes::new(), COUNT),
                predicate: all(false, COUNT),
            },
        },
        Call {
            purpose: "rows by a range of keys (0.4 and 0.5)".to_owned(),
            text: format!("get_key_range({path}, {} to {}, {COUNT})", texts.key(&start), texts.key(&finish)),
            request: CallRequest::GetKeyRange { start, finish },
        },
    ]
}

/// Returns the calls that look rows up by a value: of each index, and of a column without one.
fn calls_of_indexes(texts: &CallTexts<'_>, sample: &Sample) -> Vec<Call> {
    let cf = texts.cf;
    let path = texts.path(None, None);
    let call = |purpose: String, name: &Bytes, value: &Bytes| {
        let shown_name = texts.text(&**texts.names(), name);
        let shown_value = texts.text(&**cf.value_validator(name), value);
        let expression =
            IndexExpression { column_name: name.clone(), operator: IndexOperator::Eq, value: value.clone() };
        let clause = IndexClause { expressions: vec![expression], start_key: Bytes::new(), count: COUNT };
        Call {
            purpose,
            text: format!("get_indexed_slices({path}, {shown_name} = {shown_value}, first {COUNT} of each)"),
            request: CallRequest::GetIndexedSlices { clause },
        }
    };
    let value_of = |name: &Bytes| sample.cells.iter().find(|cell| cell.name == *name).map(|cell| &cell.value);
    let indexed: Vec<&Bytes> = cf.indexed_columns().map(|column| &column.name).collect();
    let mut calls: Vec<Call> = indexed
        .iter()
        .take(INDEXES_MAX)
        .filter_map(|name| {
            Some(call("rows by the value of an indexed column".to_owned(), name, value_of(name)?))
        })
        .collect();
    if let Some(cell) = sample.cells.iter().find(|cell| !indexed.contains(&&cell.name)) {
        calls.push(call(
            "rows by the value of a column without an index".to_owned(),
            &cell.name,
            &cell.value,
        ));
    }
    calls
}

/// Runs a call.
async fn tried(open: &OpenSketch, cf: &Arc<CfDef>, call: Call) -> ShownQuery {
    let watched = Arc::new(RecordingStore::new(open.database.store().clone()));
    let database = open.database.with_store(watched.clone());
    let outcome = run(&database, cf, call.request).await;
    let (verdict, words, cells) = match outcome {
        Ok(()) | Err(Error::NotFound) => (Verdict::Served, String::new(), Some(watched.cells_read())),
        Err(error) => (Verdict::Refused, beginning(&error.to_string()), None),
    };
    ShownQuery { purpose: call.purpose, text: call.text, verdict, words, cells }
}

async fn run(database: &Database, cf: &CfDef, call: CallRequest) -> Result<(), Error> {
    let request = database.request(cf.keyspace.as_bytes(), ConsistencyLevel::One, Behaviour::of(NEWEST));
    let column_family = Bytes::copy_from_slice(cf.name.as_bytes());
    let parent = |super_column| ColumnParent { column_family: column_family.clone(), super_column };
    match call {
        CallRequest::Get { key, super_column, column } => {
            let path = ColumnPath { column_family, super_column, column };
            request.reads().get(&key, &path).await.map(drop)
        }
        CallRequest::GetSlice { keys, super_column, predicate } => {
            request.reads().multiget_slice(&keys, &parent(super_column), &predicate).await.map(drop)
        }
        CallRequest::GetCount { key } => request.reads().get_count(&key, &parent(None)).await.map(drop),
        CallRequest::GetRangeSlices { range, predicate } => {
            request.ranges().get_range_slices(&parent(None), &predicate, &range).await.map(drop)
        }
        CallRequest::GetKeyRange { start, finish } => {
            request.ranges().get_key_range(&column_family, start, finish, COUNT).await.map(drop)
        }
        CallRequest::GetIndexedSlices { clause } => {
            let predicate = all(false, COUNT);
            request.index_reads().get_indexed_slices(&parent(None), &clause, &predicate).await.map(drop)
        }
    }
}
