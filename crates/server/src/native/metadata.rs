//! Writes the metadata of results and of markers.

use bytes::{Bytes, BytesMut};
use md5::{Digest, Md5};

use super::column_type::write_type;
use cql::{ColumnSpec, Prepared};
use wire::native::{BodyWriter, ProtocolVersion, metadata_flag};

/// The metadata of a result.
pub(super) struct ResultMetadata<'a> {
    pub columns: &'a [ColumnSpec],
    pub paging_state: Option<&'a [u8]>,
    /// Whether the columns are omitted, because the client knows them.
    pub is_skipped: bool,
    /// The new id of the columns, if they differ from those that the client knows (version 5).
    pub new_id: Option<Bytes>,
}

impl ResultMetadata<'_> {
    pub(super) fn write(&self, writer: &mut BodyWriter<'_>) {
        let is_global = !self.is_skipped && is_of_one_table(self.columns);
        let flags = [
            (is_global, metadata_flag::GLOBAL_TABLE),
            (self.paging_state.is_some(), metadata_flag::MORE_PAGES),
            (self.is_skipped, metadata_flag::NO_METADATA),
            (self.new_id.is_some(), metadata_flag::CHANGED),
        ];
        writer.i32(flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum());
        writer.length(self.columns.len());
        if let Some(state) = self.paging_state {
            writer.bytes(Some(state));
        }
        if let Some(id) = &self.new_id {
            writer.short_bytes(id);
        }
        if !self.is_skipped {
            write_columns(writer, self.columns, is_global);
        }
    }
}

/// Writes the metadata of a prepared statement's markers.
pub(super) fn write_markers(writer: &mut BodyWriter<'_>, prepared: &Prepared) {
    let markers = &prepared.markers[..];
    let is_global = is_of_one_table(markers);
    writer.i32(if is_global { metadata_flag::GLOBAL_TABLE } else { 0 });
    writer.length(markers.len());
    if writer.version >= ProtocolVersion::V4 {
        let indices = prepared.pk_indices();
        writer.length(indices.len());
        indices.iter().for_each(|index| writer.u16(*index));
    }
    write_columns(writer, markers, is_global);
}

/// Writes the metadata of a prepared statement's result, if its columns are known.
pub(super) fn write_result_columns(writer: &mut BodyWriter<'_>, columns: &[ColumnSpec]) {
    let metadata =
        ResultMetadata { columns, paging_state: None, is_skipped: columns.is_empty(), new_id: None };
    metadata.write(writer);
}

/// Returns a hash of a result's columns.
pub(super) fn result_id(columns: &[ColumnSpec]) -> Bytes {
    let mut written = BytesMut::new();
    write_columns(&mut BodyWriter::new(&mut written, ProtocolVersion::HIGHEST), columns, false);
    Bytes::copy_from_slice(&Md5::digest(&written))
}

fn is_of_one_table(columns: &[ColumnSpec]) -> bool {
    let mut pairs = columns.windows(2);
    !columns.is_empty()
        && pairs.all(|pair| pair[0].keyspace == pair[1].keyspace && pair[0].table == pair[1].table)
}

fn write_columns(writer: &mut BodyWriter<'_>, columns: &[ColumnSpec], is_global: bool) {
    if let Some(first) = columns.first().filter(|_| is_global) {
        writer.string(&first.keyspace);
        writer.string(&first.table);
    }
    for column in columns {
        if !is_global {
            writer.string(&column.keyspace);
            writer.string(&column.table);
        }
        writer.string(&column.name);
        write_type(writer, &column.cql_type);
    }
}
