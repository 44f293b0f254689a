//! Replies to Thrift calls that read.

use bytes::Bytes;
use serde_json::{Map, json};

use super::call::ThriftCall;
use super::cells::shown_key;
use super::csv::CsvRows;
use super::result::{Field, JsonRows, ShownResult};
use crate::failure::AdminError;
use crate::limits::{ASK_BYTES_MAX, ASK_COLUMNS_MAX};
use crate::present::{ShownBytes, key_class, name_class, read_as};
use base::marshal::AbstractType;
use db::Database;
use traffic::{Fields, ThriftMessage, Value};
use wire::thrift::MessageKind;
use wire::thrift::interface::exception_name;

/// A column of a reply.
struct ReplyColumn {
    super_column: Option<Bytes>,
    name: Bytes,
    /// The value, or the total of a counter.
    value: Result<Bytes, i64>,
    timestamp: Option<i64>,
    ttl: Option<i64>,
}

/// The columns of a row.
struct ReplyRow {
    key: Option<Bytes>,
    columns: Vec<ReplyColumn>,
}

/// Returns why a call has failed; `None` if it has not.
pub(crate) fn failure(reply: &ThriftMessage) -> Option<AdminError> {
    let text = |fields: &Fields| match fields.get(&1) {
        Some(Value::Binary(text)) => String::from_utf8_lossy(text).into_owned(),
        _ => String::new(),
    };
    if reply.kind == MessageKind::Exception {
        return Some(AdminError::invalid(format!("TApplicationException: {}", text(&reply.fields))));
    }
    let (id, thrown) = reply.fields.iter().find(|(id, _)| **id != 0)?;
    let Value::Struct(fields) = thrown else { return None };
    let name = exception_name(&reply.name, *id).unwrap_or_else(|| "Exception".to_owned());
    let why = text(fields);
    let separator = if why.is_empty() { "" } else { ": " };
    Some(AdminError::invalid(format!("{name}{separator}{why}")))
}

/// Shows the reply to a call.
pub(super) fn shown_reply(database: &Database, call: &ThriftCall, reply: &ThriftMessage) -> ShownResult {
    let Some(result) = reply.fields.get(&0) else { return ShownResult::default() };
    match result {
        Value::I32(count) => counts(database, call, &[(None, *count)]),
        Value::Map(_, wire::thrift::TType::I32, pairs) => {
            let pairs: Vec<_> = pairs
                .iter()
                .filter_map(|(key, count)| {
                    Some((key.as_binary().cloned(), i32::try_from(count.as_int()?).unwrap_or_default()))
                })
                .collect();
            counts(database, call, &pairs)
        }
        result => {
            let mut rows = rows_of(result);
            let left_out = cut(&mut rows);
            let mut shown = Shown { database, call }.rows(&rows);
            if left_out > 0 {
                let note = format!("{left_out} more columns were returned and are not shown.");
                shown.note = [shown.note, note].join(" ");
            }
            shown
        }
    }
}

/// Cuts the columns after those that fit a page: super columns have columns, and values are long. Returns how many.
fn cut(rows: &mut [ReplyRow]) -> usize {
    let (mut columns_left, mut bytes_left, mut left_out) = (ASK_COLUMNS_MAX, ASK_BYTES_MAX, 0);
    for row in rows {
        let mut count = 0;
        for column in &row.columns {
            let bytes = column.name.len() + column.value.as_ref().map_or(0, Bytes::len);
            if columns_left == 0 || bytes_left < bytes {
                (columns_left, bytes_left) = (0, 0);
                break;
            }
            (columns_left, bytes_left, count) = (columns_left - 1, bytes_left - bytes, count + 1);
        }
        left_out += row.columns.len() - count;
        row.columns.truncate(count);
    }
    left_out
}

fn rows_of(result: &Value) -> Vec<ReplyRow> {
    match result {
        Value::Map(_, _, pairs) => {
            let rows = pairs.iter();
            rows.map(|(key, columns)| ReplyRow {
                key: key.as_binary().cloned(),
                columns: columns_of(columns),
            })
            .collect()
        }
        Value::List(_, items) if items.iter().any(is_key_slice) => {
            items.iter().filter_map(row_of_key_slice).collect()
        }
        single @ Value::Struct(_) => vec![ReplyRow { key: None, columns: column_of(single) }],
        list => vec![ReplyRow { key: None, columns: columns_of(list) }],
    }
}

fn row_of_key_slice(item: &Value) -> Option<ReplyRow> {
    let Value::Struct(fields) = item else { return None };
    let key = fields.get(&1)?.as_binary().cloned();
    Some(ReplyRow { key, columns: columns_of(fields.get(&2)?) })
}

/// Returns whether a struct is a KeySlice: it begins with a key. A ColumnOrSuperColumn has structs only.
fn is_key_slice(value: &Value) -> bool {
    matches!(value, Value::Struct(fields) if matches!(fields.get(&1), Some(Value::Binary(_))))
}

fn columns_of(list: &Value) -> Vec<ReplyColumn> {
    match list {
        Value::List(_, items) => items.iter().flat_map(column_of).collect(),
        _ => Vec::new(),
    }
}

/// Returns the columns of a ColumnOrSuperColumn.
fn column_of(value: &Value) -> Vec<ReplyColumn> {
    let Value::Struct(either) = value else { return Vec::new() };
    let Some((id, Value::Struct(fields))) = either.iter().next() else { return Vec::new() };
    let name = fields.get(&1).and_then(Value::as_binary).cloned().unwrap_or_default();
    match (id, fields.get(&2)) {
        (2 | 4, Some(Value::List(_, inner))) => {
            let inner = inner.iter().filter_map(|column| match column {
                Value::Struct(fields) => Some(plain(fields)),
                _ => None,
            });
            inner.map(|column| ReplyColumn { super_column: Some(name.clone()), ..column }).collect()
        }
        _ => vec![plain(fields)],
    }
}

/// Returns a Column or a CounterColumn.
fn plain(fields: &Fields) -> ReplyColumn {
    let int = |id: i16| fields.get(&id).and_then(Value::as_int);
    ReplyColumn {
        super_column: None,
        name: fields.get(&1).and_then(Value::as_binary).cloned().unwrap_or_default(),
        value: match fields.get(&2) {
            Some(Value::I64(total)) => Err(*total),
            value => Ok(value.and_then(Value::as_binary).cloned().unwrap_or_default()),
        },
        timestamp: int(3),
        ttl: int(4),
    }
}

struct Shown<'a> {
    database: &'a Database,
    call: &'a ThriftCall,
}

impl Shown<'_> {
    fn names(&self, column: &ReplyColumn) -> &dyn AbstractType {
        let cf = &self.call.cf;
        let Some(Value::Struct(parent)) =
            self.call.arguments.values().find(|value| matches!(value, Value::Struct(_)))
        else {
            return &*cf.comparator;
        };
        name_class(cf, column.super_column.is_some() || parent.contains_key(&4))
    }

    fn rows(&self, rows: &[ReplyRow]) -> ShownResult {
        let has_keys = rows.iter().any(|row| row.key.is_some());
        let has_supers = rows.iter().flat_map(|row| &row.columns).any(|column| column.super_column.is_some());
        let titles = [
            (has_keys, "key"),
            (has_supers, "super column"),
            (true, "name"),
            (true, "value"),
            (true, "timestamp"),
            (true, "TTL"),
        ];
        let columns = titles.into_iter().filter(|(is_shown, _)| *is_shown).map(|(_, title)| title.to_owned());
        let mut result = ShownResult { columns: columns.collect(), ..ShownResult::default() };
        let mut json_rows = JsonRows::default();
        let mut csv = CsvRows::new(&result.columns);
        for row in rows {
            let mut columns = Vec::new();
            for column in &row.columns {
                let is_cut = csv.is_cut();
                let texts = if is_cut { Vec::new() } else { self.texts(row, column, has_keys, has_supers) };
                csv.push(texts.iter().map(String::as_str));
                result.rows.push(self.fields(row, column, has_keys, has_supers));
                columns.push(self.json(column));
            }
            match &row.key {
                Some(key) => {
                    json_rows.push(&json!({ "key": self.key_text(key), "columns": columns }).to_string())
                }
                None => columns.iter().for_each(|column| json_rows.push(&column.to_string())),
            }
        }
        result.row_count = if has_keys { rows.len() } else { result.rows.len() };
        (result.json, result.note) = json_rows.finish();
        result.csv = csv.finish();
        result
    }

    /// Returns the texts of a line of the table, as long as they are.
    fn texts(&self, row: &ReplyRow, column: &ReplyColumn, has_keys: bool, has_supers: bool) -> Vec<String> {
        let (types, cf) = (self.database.types(), &self.call.cf);
        let key = row.key.as_ref().map(|key| self.key_text(key));
        let holder = column.super_column.as_ref().map(|name| read_as(types, &*cf.comparator, name).text);
        let mut texts: Vec<String> = [(has_keys, key), (has_supers, holder)]
            .into_iter()
            .filter_map(|(is_shown, text)| is_shown.then(|| text.unwrap_or_default()))
            .collect();
        texts.push(read_as(types, self.names(column), &column.name).text);
        texts.push(match &column.value {
            Ok(value) => read_as(types, &**cf.value_validator(&column.name), value).text,
            Err(total) => total.to_string(),
        });
        texts.extend(
            [column.timestamp, column.ttl]
                .map(|number| number.map_or_else(String::new, |number| number.to_string())),
        );
        texts
    }

    fn fields(&self, row: &ReplyRow, column: &ReplyColumn, has_keys: bool, has_supers: bool) -> Vec<Field> {
        let (types, cf) = (self.database.types(), &self.call.cf);
        let mut fields = Vec::new();
        if has_keys {
            let key = row.key.as_ref().map(|key| Field::Bytes(shown_key(self.database, cf, key)));
            fields.push(key.unwrap_or(Field::Null));
        }
        if has_supers {
            let name = column.super_column.as_ref();
            let name = name.map(|name| Field::Bytes(ShownBytes::of(types, &*cf.comparator, name)));
            fields.push(name.unwrap_or(Field::Null));
        }
        fields.push(Field::Bytes(ShownBytes::of(types, self.names(column), &column.name)));
        fields.push(match &column.value {
            Ok(value) => Field::Bytes(ShownBytes::of(types, &**cf.value_validator(&column.name), value)),
            Err(total) => Field::Text(total.to_string()),
        });
        let number =
            |number: Option<i64>| number.map_or(Field::Null, |number| Field::Text(number.to_string()));
        fields.extend([number(column.timestamp), number(column.ttl)]);
        fields
    }

    fn key_text(&self, key: &Bytes) -> String {
        read_as(self.database.types(), key_class(&self.call.cf), key).text
    }

    fn json(&self, column: &ReplyColumn) -> serde_json::Value {
        let (types, cf) = (self.database.types(), &self.call.cf);
        let mut object = Map::new();
        if let Some(name) = &column.super_column {
            object.insert("super_column".to_owned(), read_as(types, &*cf.comparator, name).text.into());
        }
        object.insert("name".to_owned(), read_as(types, self.names(column), &column.name).text.into());
        let value = match &column.value {
            Ok(value) => read_as(types, &**cf.value_validator(&column.name), value).text.into(),
            Err(total) => (*total).into(),
        };
        object.insert("value".to_owned(), value);
        object.extend(column.timestamp.map(|time| ("timestamp".to_owned(), time.into())));
        object.extend(column.ttl.map(|ttl| ("ttl".to_owned(), ttl.into())));
        object.into()
    }
}

fn counts(database: &Database, call: &ThriftCall, counts: &[(Option<Bytes>, i32)]) -> ShownResult {
    let shown = Shown { database, call };
    let has_keys = counts.iter().any(|(key, _)| key.is_some());
    let columns =
        if has_keys { vec!["key".to_owned(), "count".to_owned()] } else { vec!["count".to_owned()] };
    let mut json_rows = JsonRows::default();
    let mut csv = CsvRows::new(&columns);
    let mut rows = Vec::new();
    for (key, count) in counts {
        let key = key.as_ref();
        let text = key.map(|key| shown.key_text(key));
        json_rows.push(&json!({ "key": text, "count": count }).to_string());
        csv.push(text.as_deref().into_iter().chain([&*count.to_string()]));
        let key = key.map(|key| Field::Bytes(shown_key(database, &call.cf, key)));
        rows.push(key.into_iter().chain([Field::Text(count.to_string())]).collect());
    }
    let (json, note) = json_rows.finish();
    let csv = csv.finish();
    ShownResult { columns, row_count: counts.len(), rows, json, csv, note, next_page: String::new() }
}
