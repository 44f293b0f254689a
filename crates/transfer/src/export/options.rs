//! The options of an export.

use std::fmt;
use std::str::FromStr;

use crate::Interruption;
use crate::copy::Selection;
use base::marshal::Types;

/// The format of the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportFormat {
    /// Lines of JSON, which an import reads back.
    Json,
    /// CSV as of RFC 4180.
    Csv,
    /// Statements for SQLite.
    Sqlite,
    /// Statements for PostgreSQL.
    Postgresql,
    /// Parquet, with the feature `parquet`.
    Parquet,
}

/// The formats with the names in which the command line has them, and the ends of the files.
const FORMATS: [(ExportFormat, &str, &str); 5] = [
    (ExportFormat::Csv, "csv", "csv"),
    (ExportFormat::Json, "json", "jsonl"),
    (ExportFormat::Sqlite, "sqlite", "sql"),
    (ExportFormat::Postgresql, "postgresql", "sql"),
    (ExportFormat::Parquet, "parquet", "parquet"),
];

impl ExportFormat {
    fn row(self) -> (&'static str, &'static str) {
        let row = FORMATS.iter().find(|(format, ..)| *format == self);
        row.map_or(("", ""), |(_, name, extension)| (name, extension))
    }

    /// Returns the end of the names of files.
    pub fn extension(self) -> &'static str {
        self.row().1
    }
}

impl fmt::Display for ExportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().0)
    }
}

impl FromStr for ExportFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<ExportFormat, String> {
        if text == "parquet" && !cfg!(feature = "parquet") {
            return Err(
                "this program was built without Parquet; build it with: cargo build --release --features parquet".to_owned()
            );
        }
        let found = FORMATS.iter().find(|(_, name, _)| *name == text).map(|(format, ..)| *format);
        found.ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|(_, name, _)| *name).collect();
            format!("unknown format {text:?}: use one of {}", names.join(", "))
        })
    }
}

/// The options of an export.
#[derive(Debug, Clone)]
pub struct ExportOptions {
    /// The format of the files.
    pub format: ExportFormat,
    /// The tables to write.
    pub selection: Selection,
    /// The columns to write besides those of the key; `None` for all.
    pub columns: Option<Vec<String>>,
    /// The most lines of a table.
    pub limit: Option<u64>,
    /// Whether everything that is stored is written, also tombstones and expired cells.
    pub all_cells: bool,
    /// The second since 1970 at which a reader would look.
    pub now_s: i32,
    /// That second, if it was given and is not the clock's.
    pub as_of_s: Option<i32>,
    /// The name of the snapshot that is read instead of the present files.
    pub snapshot: Option<String>,
    /// The comparators that names of types may mean, with the application's own.
    pub types: Types,
    /// Whether a table that cannot be read to its end is reported, and the export goes on with the next one.
    pub skips_damage: bool,
    /// Stops the export between two batches.
    pub interruption: Interruption,
}
