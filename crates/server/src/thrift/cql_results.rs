//! Writes CqlResult and CqlPreparedResult from outcomes of statements.

use std::collections::BTreeMap;

use base::compat::Behaviour;
use base::marshal::short_form;
use base::util::Release;
use cql::cql2::{Cql2Outcome, Cql2Result};
use cql::{MarkerSpec, Outcome, ResultSet};
use wire::thrift::{TType, Writer};

/// The numbers of the interface's CqlResultType.
const ROWS: i32 = 1;
const VOID: i32 = 2;
const INT: i32 = 3;

/// The type of all column names in a CQL 3 result, and the default type.
const UTF8: &[u8] = b"UTF8Type";

/// Writes a CqlResult in field 0.
pub(super) fn write_outcome(writer: &mut Writer<'_>, outcome: &Outcome, behaviour: &Behaviour) {
    writer.field_struct(0);
    match outcome {
        Outcome::Rows(rows) => write_rows(writer, rows, behaviour),
        Outcome::Void | Outcome::Warned(_) | Outcome::Keyspace(_) | Outcome::Schema(_) => {
            writer.field_i32(1, VOID)
        }
    }
    writer.stop();
}

/// Writes the fields of a CqlResult with rows. CQL 3 rows have no key here, but the field is required.
fn write_rows(writer: &mut Writer<'_>, rows: &ResultSet, behaviour: &Behaviour) {
    writer.field_i32(1, ROWS);
    writer.field_list(2, TType::Struct, rows.rows.len());
    for row in &rows.rows {
        writer.field_string(1, b"");
        writer.field_list(2, TType::Struct, row.len());
        for (column, value) in rows.columns.iter().zip(row) {
            writer.field_string(1, column.name.as_bytes());
            match value {
                Some(value) if behaviour.cql.thrift_collections_are_short && column.has_short_form() => {
                    writer.field_string(2, &short_form(&column.cql_type, value));
                }
                Some(value) => writer.field_string(2, value),
                None => {}
            }
            writer.stop();
        }
        writer.stop();
    }
    let types = rows.columns.iter().map(|column| (column.name.as_bytes(), column.cql_type.class_name()));
    let value_types: BTreeMap<&[u8], String> = types.collect();
    let name_types: BTreeMap<&[u8], &[u8]> = value_types.keys().map(|name| (*name, UTF8)).collect();
    writer.field_struct(4);
    write_types(writer, 1, &name_types);
    write_types(writer, 2, &value_types);
    writer.field_string(3, UTF8);
    writer.field_string(4, UTF8);
    writer.stop();
}

/// Writes a map of names to types in a field of a CqlMetadata.
fn write_types(writer: &mut Writer<'_>, field: i16, types: &BTreeMap<impl AsRef<[u8]>, impl AsRef<[u8]>>) {
    writer.field_map(field, TType::String, TType::String, types.len());
    for (name, class) in types {
        writer.bytes(name.as_ref());
        writer.bytes(class.as_ref());
    }
}

/// Writes a CqlPreparedResult in field 0.
pub(super) fn write_prepared(writer: &mut Writer<'_>, id: i32, markers: &[MarkerSpec]) {
    let count = markers.len();
    writer.field_struct(0);
    writer.field_i32(1, id);
    writer.field_i32(2, i32::try_from(count).unwrap_or(i32::MAX));
    writer.field_list(3, TType::String, count);
    markers.iter().for_each(|marker| writer.bytes(marker.class.as_bytes()));
    writer.field_list(4, TType::String, count);
    markers.iter().for_each(|marker| writer.bytes(marker.text.as_bytes()));
    writer.stop();
}

/// Writes a CqlResult of CQL 2 in field 0. In 0.8 it has no metadata.
pub(super) fn write_cql2_outcome(writer: &mut Writer<'_>, outcome: &Cql2Outcome, release: Release) {
    writer.field_struct(0);
    match outcome {
        Cql2Outcome::Rows(rows) => write_cql2_rows(writer, rows, release),
        Cql2Outcome::Count(count) => {
            writer.field_i32(1, INT);
            writer.field_i32(3, *count);
        }
        Cql2Outcome::Void | Cql2Outcome::Keyspace(_) => writer.field_i32(1, VOID),
    }
    writer.stop();
}

fn write_cql2_rows(writer: &mut Writer<'_>, rows: &Cql2Result, release: Release) {
    writer.field_i32(1, ROWS);
    writer.field_list(2, TType::Struct, rows.rows.len());
    for row in &rows.rows {
        writer.field_string(1, &row.key);
        writer.field_list(2, TType::Struct, row.columns.len());
        for column in &row.columns {
            writer.field_string(1, &column.name);
            if let Some(value) = &column.value {
                writer.field_string(2, value);
            }
            if let Some(timestamp) = column.timestamp {
                writer.field_i64(3, timestamp);
            }
            writer.stop();
        }
        writer.stop();
    }
    if !Behaviour::of(release).wire.cql_result_has_types {
        return;
    }
    writer.field_struct(4);
    write_types(writer, 1, &rows.name_types);
    write_types(writer, 2, &rows.value_types);
    writer.field_string(3, rows.default_name_type.as_bytes());
    writer.field_string(4, rows.default_value_type.as_bytes());
    writer.stop();
}

/// Writes a CqlPreparedResult of CQL 2 in field 0. CQL 2 knows neither names nor types of markers.
pub(super) fn write_cql2_prepared(writer: &mut Writer<'_>, id: i32, markers: usize) {
    writer.field_struct(0);
    writer.field_i32(1, id);
    writer.field_i32(2, i32::try_from(markers).unwrap_or(i32::MAX));
    writer.stop();
}
