//! Lines of JSON, which an import reads back without a loss.
//!
//! ```text
//!   {"row":{"author":"austen","title":"Emma"},"key":"austen","cells":[{"name":..,"value":"Emma","timestamp":5}]}
//! ```
//!
//! `row` is for people and other programs. The rest is what the control API loads, too, with the texts of types.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use super::record_maker::Record;
use super::record_writer::RecordWriter;
use super::table_shape::TableShape;
use super::value::Field;
use base::marshal::Types;
use json_rows::{BytesForm, JsonRow};

/// Writes lines of JSON.
pub(super) struct JsonLines {
    out: BufWriter<File>,
    shape: Arc<TableShape>,
    types: Types,
}

impl JsonLines {
    pub(super) fn new(file: File, shape: Arc<TableShape>, types: Types) -> JsonLines {
        JsonLines { out: BufWriter::new(file), shape, types }
    }

    /// Returns the row as an object of its columns.
    fn row(&self, fields: &[Field]) -> String {
        let parts = self.shape.written.iter().filter_map(|at| {
            let (column, field) = (self.shape.all.get(*at)?, fields.get(*at)?);
            let name = serde_json::Value::from(column.name.as_str());
            Some(format!("{name}:{}", column.of.json(field, &self.types)))
        });
        format!("{{{}}}", parts.collect::<Vec<_>>().join(","))
    }
}

impl RecordWriter for JsonLines {
    fn write(&mut self, record: Record) -> io::Result<()> {
        let form = BytesForm::Typed(&self.shape.cf);
        let mut row = JsonRow::new(&record.key, form);
        record.changes.into_iter().for_each(|change| row.add(change, form));
        let stored = serde_json::to_string(&row)?;
        if record.fields.is_empty() {
            return writeln!(self.out, "{stored}");
        }
        let shown = self.row(&record.fields);
        writeln!(self.out, "{{\"row\":{shown},{}", stored.trim_start_matches('{'))
    }

    fn finish(mut self: Box<Self>) -> io::Result<Vec<String>> {
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        Ok(Vec::new())
    }
}
