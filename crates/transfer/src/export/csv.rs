//! CSV as of RFC 4180: a line with the names of the columns, lines that end with CR LF, and quotes where they are needed.
//! Null is nothing, and an empty text is two quotes.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use super::record_maker::Record;
use super::record_writer::RecordWriter;
use super::table_shape::TableShape;
use super::value::Field;
use base::marshal::Types;

/// Writes CSV.
pub(super) struct CsvWriter {
    out: BufWriter<File>,
    shape: Arc<TableShape>,
    types: Types,
}

impl CsvWriter {
    pub(super) fn begin(file: File, shape: Arc<TableShape>, types: Types) -> io::Result<CsvWriter> {
        let mut out = BufWriter::new(file);
        let names = shape.columns().map(|column| Some(column.name.clone()));
        write_line(&mut out, names)?;
        Ok(CsvWriter { out, shape, types })
    }
}

impl RecordWriter for CsvWriter {
    fn write(&mut self, record: Record) -> io::Result<()> {
        let CsvWriter { out, shape, types } = self;
        let texts = shape.written.iter().map(|at| {
            let column = shape.all.get(*at)?;
            column.of.value(record.fields.get(*at).unwrap_or(&Field::Null), types).text()
        });
        write_line(out, texts)
    }

    fn finish(mut self: Box<Self>) -> io::Result<Vec<String>> {
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        Ok(Vec::new())
    }
}

fn write_line(out: &mut impl Write, fields: impl Iterator<Item = Option<String>>) -> io::Result<()> {
    for (at, field) in fields.enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        let Some(text) = field else { continue };
        // PostgreSQL takes `\.` on a line of its own for the end.
        if text.is_empty() || text == "\\." || text.contains([',', '"', '\r', '\n']) {
            write!(out, "\"{}\"", text.replace('"', "\"\""))?;
        } else {
            out.write_all(text.as_bytes())?;
        }
    }
    out.write_all(b"\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_where_they_are_needed() {
        let mut out = Vec::new();
        let fields =
            ["a", "", "\\.", "b,c", "say \"x\"", "two\nlines", " blank "].map(|text| Some(text.to_owned()));
        write_line(&mut out, [None].into_iter().chain(fields)).unwrap();
        let expected = ",a,\"\",\"\\.\",\"b,c\",\"say \"\"x\"\"\",\"two\nlines\", blank \r\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
