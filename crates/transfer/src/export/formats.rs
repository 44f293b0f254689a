//! The writers of all formats.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::csv::CsvWriter;
use super::json_lines::JsonLines;
use super::record_writer::RecordWriter;
use super::sql::{Dialect, SqlWriter};
use super::table_shape::TableShape;
use super::{ExportFormat, ExportOptions};
use base::marshal::Types;

/// Creates a file, and writes the lines before the first record.
pub(super) fn create(
    path: &Path,
    shape: &Arc<TableShape>,
    options: &ExportOptions,
) -> io::Result<Box<dyn RecordWriter>> {
    let file = File::create(path)?;
    let types: Types = options.types.clone();
    let shape = shape.clone();
    Ok(match options.format {
        ExportFormat::Json => Box::new(JsonLines::new(file, shape, types)),
        ExportFormat::Csv => Box::new(CsvWriter::begin(file, shape, types)?),
        ExportFormat::Sqlite => Box::new(SqlWriter::begin(file, shape, types, Dialect::Sqlite)?),
        ExportFormat::Postgresql => Box::new(SqlWriter::begin(file, shape, types, Dialect::Postgresql)?),
        #[cfg(feature = "parquet")]
        ExportFormat::Parquet => Box::new(super::parquet::ParquetWriter::begin(file, shape, types)?),
        #[cfg(not(feature = "parquet"))]
        ExportFormat::Parquet => return Err(io::ErrorKind::Unsupported.into()),
    })
}
