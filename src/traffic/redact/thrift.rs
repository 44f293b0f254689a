//! Thrift messages.

use bytes::Bytes;

use super::error_text;
use super::hashes::Hashes;
use super::roles::Role;
use super::statement::{self, Subject};
use crate::compat::features::ApiGeneration;
use crate::thrift::args::Arg;
use crate::thrift::argument_shapes::{COLUMN, EITHER, KEY_SLICE, Shape, shape_of};
use crate::thrift::decompressed_statement;
use crate::thrift::frame::Transport;
use crate::thrift::methods::Method;
use crate::thrift::wire::MessageKind;
use crate::traffic::call::row_of;
use crate::traffic::{Fields, ThriftMessage, Value};

/// The number of `Compression.NONE`.
const NOT_COMPRESSED: i32 = 2;

/// The columns of a result whose values are no data.
const COUNTS: [&str; 4] = ["count", "system.count", "writetime(", "ttl("];

/// Redacts a call or a reply. `None` if it is not understood, so that its secrets would stay.
pub fn redacted(message: &Bytes, transport: Transport, hashes: &mut Hashes) -> Option<Bytes> {
    let mut message = ThriftMessage::read(message).ok()?;
    match message.kind {
        MessageKind::Call | MessageKind::Oneway => {
            let (method, _) = row_of(&message.name, &message.fields, None, transport)?;
            arguments(method, &mut message.fields, hashes)?;
        }
        MessageKind::Reply => result(&message.method(), &mut message.fields, hashes),
        MessageKind::Other(_) => return None,
        MessageKind::Exception => message.fields.values_mut().for_each(|value| error(value, hashes)),
    }
    Some(message.write())
}

fn arguments(method: &Method, fields: &mut Fields, hashes: &mut Hashes) -> Option<()> {
    match method.name {
        "execute_cql_query" | "execute_cql3_query" | "prepare_cql_query" | "prepare_cql3_query" => {
            return query(fields, hashes);
        }
        // The query language of 0.3 is not understood here.
        "executeQuery" => return None,
        _ => {}
    }
    for arg in method.args {
        let Some(value) = fields.get_mut(&arg.id) else { continue };
        match method.generation() {
            ApiGeneration::WithTextPaths => of_first(arg, value, hashes),
            _ => {
                shaped(&shape_of(arg), value, hashes);
                without_shape(arg, value, hashes);
            }
        }
    }
    Some(())
}

/// Redacts a CQL statement.
fn query(fields: &mut Fields, hashes: &Hashes) -> Option<()> {
    let compression = i32::try_from(fields.get(&2)?.as_int()?).ok()?;
    let text = decompressed_statement(fields.get(&1)?.as_binary()?, compression)?;
    let text = String::from_utf8(text).ok()?;
    if statement::subject_of(&text) == Subject::Data {
        fields.insert(1, Value::Binary(statement::redacted(&text, hashes).into()));
        fields.insert(2, Value::I32(NOT_COMPRESSED));
    }
    Some(())
}

/// Redacts the bytes in a value, as the shape tells what they are.
fn shaped(shape: &Shape, value: &mut Value, hashes: &mut Hashes) {
    match (shape, value) {
        (Shape::Key, Value::Binary(bytes)) => hashes.replace(Role::Key, bytes),
        (Shape::Name | Shape::SuperName, Value::Binary(bytes)) => hashes.replace(Role::Name, bytes),
        (Shape::Value, Value::Binary(bytes)) => hashes.replace(Role::Value, bytes),
        (Shape::Struct(fields) | Shape::Place(fields), Value::Struct(values)) => {
            for (id, _, shape) in *fields {
                if let Some(value) = values.get_mut(id) {
                    shaped(shape, value, hashes);
                }
            }
        }
        (Shape::List(element), Value::List(_, items) | Value::Set(_, items)) => {
            items.iter_mut().for_each(|item| shaped(element, item, hashes));
        }
        (Shape::Map(key, element), Value::Map(_, _, pairs)) => {
            for (of, value) in pairs {
                shaped(key, of, hashes);
                shaped(element, value, hashes);
            }
        }
        (Shape::Rows(row), Value::Map(_, _, pairs)) => {
            for (key, value) in pairs {
                shaped(&Shape::Key, key, hashes);
                shaped(row, value, hashes);
            }
        }
        _ => {}
    }
}

/// Redacts tokens, and the values of a prepared statement.
fn without_shape(arg: &Arg, value: &mut Value, hashes: &Hashes) {
    match (arg.name, value) {
        ("range", Value::Struct(fields)) => [3, 4].iter().for_each(|id| {
            if let Some(Value::Binary(bytes)) = fields.get_mut(id) {
                token(bytes, hashes);
            }
        }),
        ("values", Value::List(_, items)) => {
            for item in items {
                item.each_binary(&mut |bytes| *bytes = hashes.data(bytes).into());
            }
        }
        ("start_token" | "end_token", Value::Binary(bytes)) => token(bytes, hashes),
        _ => {}
    }
}

fn token(bytes: &mut Bytes, hashes: &Hashes) {
    if hashes.roles().has(Role::Key) {
        *bytes = hashes.token(bytes).into();
    }
}

/// Redacts an argument of 0.3, where a text has the column family and the names, `Posts:super:column`.
fn of_first(arg: &Arg, value: &mut Value, hashes: &mut Hashes) {
    match (arg.name, value) {
        ("key" | "startWith" | "stopAt", Value::Binary(bytes)) => hashes.replace(Role::Key, bytes),
        ("cellData", Value::Binary(bytes)) => hashes.replace(Role::Value, bytes),
        ("columnPath" | "columnParent" | "superColumnPath" | "columnPathOrParent", Value::Binary(bytes)) => {
            let mut names = bytes.split(|byte| *byte == b':').map(Bytes::copy_from_slice);
            let mut path: Vec<Bytes> = names.next().into_iter().collect();
            path.extend(names.map(|mut name| {
                hashes.replace(Role::Name, &mut name);
                name
            }));
            *bytes = path.join(&b':').into();
        }
        ("columnNames" | "superColumnNames", list) => shaped(&Shape::List(&Shape::Name), list, hashes),
        ("batchMutation" | "batchMutationSuper", batch) => {
            shaped(&shape_of(arg), batch, hashes);
            if let Value::Struct(fields) = batch
                && let Some(Value::Binary(key)) = fields.get_mut(&2)
            {
                hashes.replace(Role::Key, key);
            }
        }
        _ => {}
    }
}

/// Redacts the result of a method, and the texts of exceptions.
fn result(method: &str, fields: &mut Fields, hashes: &mut Hashes) {
    for (id, value) in fields {
        match (id, method) {
            (0, "get" | "get_column" | "get_superColumn") => either(value, hashes),
            (0, "multiget" | "multiget_slice" | "multiget_count") => {
                let Value::Map(_, _, pairs) = value else { continue };
                for (key, value) in pairs {
                    shaped(&Shape::Key, key, hashes);
                    either(value, hashes);
                }
            }
            (0, "get_range_slice" | "get_range_slices" | "get_indexed_slices" | "get_paged_slice") => {
                shaped(&Shape::List(&KEY_SLICE), value, hashes);
            }
            (0, "get_key_range") => shaped(&Shape::List(&Shape::Key), value, hashes),
            (0, "cas") => {
                shaped(&Shape::Struct(&[(2, "current_values", Shape::List(&COLUMN))]), value, hashes)
            }
            (0, "describe_splits" | "describe_splits_ex") => {
                value.each_binary(&mut |bytes| token(bytes, hashes));
            }
            (0, _) if method.starts_with("execute_") => cql_result(method, value, hashes),
            (0, _) if method.starts_with("get_") => either(value, hashes),
            (0, _) => {}
            _ => error(value, hashes),
        }
    }
}

/// Redacts ColumnOrSuperColumn, Column or SuperColumn, or a list of them. Up to 0.3 there is no ColumnOrSuperColumn.
fn either(value: &mut Value, hashes: &mut Hashes) {
    match value {
        Value::List(_, items) => items.iter_mut().for_each(|item| either(item, hashes)),
        Value::Struct(fields) => {
            let is_named = matches!(fields.get(&1), Some(Value::Binary(_)));
            let shape = match fields.get_mut(&2) {
                Some(columns @ Value::List(..)) if is_named => {
                    either(columns, hashes);
                    Shape::Struct(&[(1, "name", Shape::SuperName)])
                }
                _ if is_named => COLUMN,
                _ => EITHER,
            };
            shaped(&shape, value, hashes);
        }
        _ => {}
    }
}

/// Redacts the keys and values of a CqlResult; in CQL 2 names are data, too.
fn cql_result(method: &str, value: &mut Value, hashes: &mut Hashes) {
    let has_names = method == "execute_cql_query";
    let Value::Struct(fields) = value else { return };
    if has_names && let Some(Value::Struct(schema)) = fields.get_mut(&4) {
        for id in [1, 2] {
            if let Some(types) = schema.get_mut(&id) {
                shaped(&Shape::Map(&Shape::Name, &Shape::Plain), types, hashes);
            }
        }
    }
    let Some(Value::List(_, rows)) = fields.get_mut(&2) else { return };
    for row in rows {
        let Value::Struct(row) = row else { continue };
        if let Some(Value::Binary(key)) = row.get_mut(&1) {
            *key = hashes.data(key).into();
        }
        let Some(Value::List(_, columns)) = row.get_mut(&2) else { continue };
        for column in columns {
            let Value::Struct(column) = column else { continue };
            let is_count = match column.get(&1) {
                Some(Value::Binary(name)) => is_no_data(&String::from_utf8_lossy(name)),
                _ => false,
            };
            if let Some(Value::Binary(value)) = column.get_mut(&2)
                && !is_count
            {
                *value = hashes.data(value).into();
            }
            if has_names && let Some(name) = column.get_mut(&1) {
                shaped(&Shape::Name, name, hashes);
            }
        }
    }
}

/// Returns whether a column of a result is a count, a timestamp or a time to live, by its name.
pub fn is_no_data(column: &str) -> bool {
    COUNTS.iter().any(|count| column.starts_with(count))
}

fn error(value: &mut Value, hashes: &Hashes) {
    value.each_binary(&mut |bytes| {
        *bytes = match str::from_utf8(bytes) {
            Ok(text) => error_text::redacted(text, hashes).into(),
            Err(_) => hashes.data(bytes).into(),
        };
    });
}
