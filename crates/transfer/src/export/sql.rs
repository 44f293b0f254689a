//! A dump in SQL: a transaction that creates the table and inserts its rows.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use super::record_maker::Record;
use super::record_writer::RecordWriter;
use super::table_shape::TableShape;
use super::value::{Field, Value, ValueType};
use base::marshal::{CqlType, Native, Types, ValueKind, timestamp_text};
use base::util::{counted, hex};

/// Approximate length of a statement, in bytes.
const STATEMENT_BYTES: usize = 64 * 1024;

/// Milliseconds of the years 1 to 9999, which are dates without a sign or an era.
const YEARS_MS: std::ops::Range<i64> = -62_135_596_800_000..253_402_300_800_000;

/// The database that the dump is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dialect {
    Sqlite,
    Postgresql,
}

/// Writes SQL.
pub(super) struct SqlWriter {
    out: BufWriter<File>,
    shape: Arc<TableShape>,
    types: Types,
    dialect: Dialect,
    table: String,
    /// Bytes of the present statement; 0 if there is none.
    statement: usize,
    /// The numbers of values that are written otherwise than they are stored, by the reason.
    changed: BTreeMap<&'static str, u64>,
}

/// Returns a name in quotes. A statement ends at a zero byte, which the name of a Thrift column can have.
fn name(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\"").replace('\0', "\u{fffd}"))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl SqlWriter {
    pub(super) fn begin(
        file: File,
        shape: Arc<TableShape>,
        types: Types,
        dialect: Dialect,
    ) -> io::Result<SqlWriter> {
        let mut out = BufWriter::new(file);
        let (keyspace, family) = (&shape.cf.keyspace, &shape.cf.name);
        let table = match dialect {
            // It has no schemas.
            Dialect::Sqlite => name(&format!("{keyspace}.{family}")),
            Dialect::Postgresql => format!("{}.{}", name(keyspace), name(family)),
        };
        if dialect == Dialect::Postgresql {
            writeln!(
                out,
                "SET client_encoding = 'UTF8';\nSET client_min_messages = warning;\nSET standard_conforming_strings = on;"
            )?;
        }
        writeln!(out, "BEGIN;")?;
        if dialect == Dialect::Postgresql {
            writeln!(out, "CREATE SCHEMA IF NOT EXISTS {};", name(keyspace))?;
        }
        let columns: Vec<String> = shape
            .columns()
            .map(|column| format!("  {} {}", name(&column.name), dialect.type_of(&column.of)))
            .collect();
        writeln!(out, "CREATE TABLE {table} (\n{}\n);", columns.join(",\n"))?;
        Ok(SqlWriter { out, shape, types, dialect, table, statement: 0, changed: BTreeMap::new() })
    }

    fn literals(&mut self, fields: &[Field]) -> String {
        let shape = self.shape.clone();
        let literals = shape.written.iter().filter_map(|at| {
            let column = shape.all.get(*at)?;
            let value = column.of.value(fields.get(*at).unwrap_or(&Field::Null), &self.types);
            Some(match self.dialect {
                Dialect::Sqlite => sqlite_literal(value),
                Dialect::Postgresql => match postgresql_literal(&column.of, value) {
                    Ok(literal) => literal,
                    Err(Unstorable { instead, why }) => {
                        *self.changed.entry(why).or_default() += 1;
                        instead
                    }
                },
            })
        });
        let literals: Vec<String> = literals.collect();
        format!("({})", literals.join(", "))
    }
}

impl RecordWriter for SqlWriter {
    fn write(&mut self, record: Record) -> io::Result<()> {
        if record.fields.is_empty() {
            return Ok(());
        }
        let row = self.literals(&record.fields);
        if self.statement == 0 {
            write!(self.out, "INSERT INTO {} VALUES\n{row}", self.table)?;
        } else {
            write!(self.out, ",\n{row}")?;
        }
        self.statement += row.len();
        if self.statement >= STATEMENT_BYTES {
            self.out.write_all(b";\n")?;
            self.statement = 0;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<Vec<String>> {
        if self.statement > 0 {
            self.out.write_all(b";\n")?;
        }
        writeln!(self.out, "COMMIT;")?;
        self.out.flush()?;
        self.out.get_ref().sync_all()?;
        Ok(self.changed.iter().map(|(why, count)| format!("{}: {why}", counted(*count, "value"))).collect())
    }
}

impl Dialect {
    /// Returns the type of a column. SQLite has no numbers of any length and no dates: they are texts.
    fn type_of(self, of: &ValueType) -> &'static str {
        let ValueType::Cql(cql_type) = of else {
            return match (of, self) {
                (ValueType::Integer, Dialect::Sqlite) => "INTEGER",
                (ValueType::Integer, Dialect::Postgresql) => "BIGINT",
                (ValueType::Json, Dialect::Postgresql) => "JSON",
                _ => "TEXT",
            };
        };
        let CqlType::Native(native) = cql_type else {
            let is_custom = matches!(cql_type, CqlType::Custom(_));
            return if is_custom || self == Dialect::Sqlite { "TEXT" } else { "JSON" };
        };
        let (sqlite, postgresql) = match (native, native.kind()) {
            (Native::Uuid | Native::Timeuuid, _) => ("TEXT", "UUID"),
            (Native::Inet, _) => ("TEXT", "INET"),
            (_, ValueKind::Blob) => ("BLOB", "BYTEA"),
            (_, ValueKind::Boolean) => ("INTEGER", "BOOLEAN"),
            (_, ValueKind::Integer { bytes: 1 | 2 }) => ("INTEGER", "SMALLINT"),
            (_, ValueKind::Integer { bytes: 4 }) => ("INTEGER", "INTEGER"),
            (_, ValueKind::Integer { .. } | ValueKind::Counter) => ("INTEGER", "BIGINT"),
            (_, ValueKind::Varint | ValueKind::Decimal) => ("TEXT", "NUMERIC"),
            (_, ValueKind::Float) => ("REAL", "REAL"),
            (_, ValueKind::Double) => ("REAL", "DOUBLE PRECISION"),
            (_, ValueKind::Timestamp) => ("TEXT", "TIMESTAMPTZ"),
            (_, ValueKind::Text | ValueKind::Quoted | ValueKind::Unquoted) => ("TEXT", "TEXT"),
        };
        if self == Dialect::Sqlite { sqlite } else { postgresql }
    }
}

fn sqlite_literal(value: Value) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Boolean(value) => u8::from(value).to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Blob(bytes) | Value::Invalid(bytes) => format!("X'{}'", hex(&bytes)),
        Value::Double(number) if number.is_finite() => format!("{number:?}"),
        Value::Float(number) if number.is_finite() => format!("{number:?}"),
        Value::Double(number) => sqlite_not_finite(number).to_owned(),
        Value::Float(number) => sqlite_not_finite(f64::from(number)).to_owned(),
        // A statement ends at a zero byte.
        Value::Text(text) if text.contains('\0') => format!("CAST(X'{}' AS TEXT)", hex(text.as_bytes())),
        other => quoted(&other.text().unwrap_or_default()),
    }
}

/// A number that is too large for a double is infinite. There is no other constant for that, and none for NaN.
fn sqlite_not_finite(number: f64) -> &'static str {
    match number {
        f64::INFINITY => "9e999",
        f64::NEG_INFINITY => "-9e999",
        _ => "'NaN'",
    }
}

/// A value that PostgreSQL cannot store.
struct Unstorable {
    /// The literal that is written instead.
    instead: String,
    why: &'static str,
}

fn postgresql_literal(of: &ValueType, value: Value) -> Result<String, Unstorable> {
    let null = |why| Err(Unstorable { instead: "NULL".to_owned(), why });
    let is_text = |of| Dialect::Postgresql.type_of(of) == "TEXT";
    match value {
        Value::Null => Ok("NULL".to_owned()),
        Value::Boolean(value) => Ok(value.to_string()),
        Value::Integer(number) => Ok(number.to_string()),
        Value::Blob(bytes) => Ok(format!("'\\x{}'", hex(&bytes))),
        Value::Timestamp(ms) if YEARS_MS.contains(&ms) => Ok(quoted(&timestamp_text(ms))),
        Value::Timestamp(_) => null("NULL instead of a time outside of the years 1 to 9999"),
        Value::Empty if !is_text(of) => null("NULL instead of an empty value of a type that has none"),
        Value::Invalid(_) if !is_text(of) => null("NULL instead of bytes that are not of the column's type"),
        Value::Text(text) if text.contains('\0') => Err(Unstorable {
            instead: quoted(&text.replace('\0', "\u{fffd}")),
            why: "U+FFFD instead of a zero byte in a text, which PostgreSQL cannot store",
        }),
        other => Ok(quoted(&other.text().unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_both_databases() {
        let text = |text: &str| Value::Text(text.to_owned());
        let of_text = ValueType::Text;
        let of_int = ValueType::Cql(CqlType::Native(Native::Int));
        let postgresql = |of: &ValueType, value| match postgresql_literal(of, value) {
            Ok(literal) => literal,
            Err(Unstorable { instead, why }) => format!("{instead} {why}"),
        };
        assert_eq!(sqlite_literal(text("it's")), "'it''s'");
        assert_eq!(name("a\"\0"), "\"a\"\"\u{fffd}\"");
        assert_eq!(sqlite_literal(text("a\0b")), "CAST(X'610062' AS TEXT)");
        assert_eq!(sqlite_literal(Value::Float(0.1)), "0.1");
        assert_eq!(sqlite_literal(Value::Double(f64::NEG_INFINITY)), "-9e999");
        assert_eq!(sqlite_literal(Value::Empty), "''");
        assert_eq!(postgresql(&of_text, text("it's \\")), "'it''s \\'");
        assert!(postgresql(&of_text, text("a\0b")).starts_with("'a\u{fffd}b' U+FFFD"));
        assert!(postgresql(&of_int, Value::Empty).starts_with("NULL NULL instead"));
        assert_eq!(postgresql(&of_int, Value::Float(f32::NAN)), "'NaN'");
        assert_eq!(postgresql(&of_int, Value::Timestamp(0)), "'1970-01-01 00:00:00.000Z'");
        assert!(postgresql(&of_int, Value::Timestamp(i64::MAX)).starts_with("NULL"));
    }
}
