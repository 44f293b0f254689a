//! Writes RESULT bodies.

use bytes::{Bytes, BytesMut};

use super::event::write_change;
use super::metadata::{ResultMetadata, result_id, write_markers, write_result_columns};
use base::marshal::short_form;
use base::model::StatementId;
use cql::{Outcome, Prepared, ResultSet};
use wire::native::{BodyWriter, ProtocolVersion};

mod kind {
    pub(super) const VOID: i32 = 1;
    pub(super) const ROWS: i32 = 2;
    pub(super) const KEYSPACE: i32 = 3;
    pub(super) const PREPARED: i32 = 4;
    pub(super) const SCHEMA_CHANGE: i32 = 5;
}

/// The client's knowledge of the columns of a result.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownColumns {
    /// The client wants no metadata of the columns.
    pub is_skipped: bool,
    /// The id of the new columns, if the client knows other ones (version 5).
    pub new_id: Option<Bytes>,
}

/// Returns the body of a RESULT.
pub(super) fn write_outcome(outcome: &Outcome, known: &KnownColumns, version: ProtocolVersion) -> BytesMut {
    let mut body = BytesMut::new();
    let mut writer = BodyWriter::new(&mut body, version);
    match outcome {
        Outcome::Void | Outcome::Warned(_) => writer.i32(kind::VOID),
        Outcome::Rows(rows) => write_rows(&mut writer, rows, known),
        Outcome::Keyspace(keyspace) => {
            writer.i32(kind::KEYSPACE);
            writer.string(keyspace);
        }
        Outcome::Schema(change) => {
            writer.i32(kind::SCHEMA_CHANGE);
            write_change(&mut writer, change);
        }
    }
    body
}

fn write_rows(writer: &mut BodyWriter<'_>, rows: &ResultSet, known: &KnownColumns) {
    let metadata = ResultMetadata {
        columns: &rows.columns,
        paging_state: rows.paging_state.as_deref(),
        is_skipped: known.is_skipped,
        new_id: known.new_id.clone(),
    };
    writer.i32(kind::ROWS);
    metadata.write(writer);
    // Reserve all memory at once: a growing buffer temporarily takes up to three times as much.
    let bytes =
        rows.rows.iter().flatten().map(|value| 4 + value.as_ref().map_or(0, Bytes::len)).sum::<usize>();
    writer.reserve(4 + bytes);
    writer.length(rows.rows.len());
    let is_old = writer.version < ProtocolVersion::V3;
    for row in &rows.rows {
        debug_assert!(row.len() == rows.columns.len(), "a client would read values of other columns");
        for (column, value) in rows.columns.iter().zip(row) {
            match value {
                Some(value) if is_old && column.has_short_form() => {
                    writer.bytes(Some(&short_form(&column.cql_type, value)));
                }
                value => writer.bytes(value.as_deref()),
            }
        }
    }
}

/// Returns the body of the RESULT of PREPARE.
pub(super) fn write_prepared(id: StatementId, prepared: &Prepared, version: ProtocolVersion) -> BytesMut {
    let mut body = BytesMut::new();
    let mut writer = BodyWriter::new(&mut body, version);
    writer.i32(kind::PREPARED);
    if let StatementId::Md5(id) = id {
        writer.short_bytes(&id);
    }
    if version >= ProtocolVersion::V5 {
        writer.short_bytes(prepared.columns_id(result_id));
    }
    write_markers(&mut writer, prepared);
    if version >= ProtocolVersion::V2 {
        write_result_columns(&mut writer, prepared.columns());
    }
    body
}
