//! `export.json`: what an export has written, what it left out, and why.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::table_shape::TableShape;
use super::{ExportOptions, ExportSource};
use crate::TransferError;
use crate::rows::ResumeFile;

/// The name of the manifest in the directory of an export.
pub const MANIFEST: &str = "export.json";

/// The version of the manifest's format.
const VERSION: u32 = 1;

/// A table that was written.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WrittenTable {
    /// Its keyspace.
    pub keyspace: String,
    /// Its name.
    pub table: String,
    /// The file in the directory of the export.
    pub file: String,
    /// The content of a line of the file: a row, a cell or another part.
    pub line: String,
    /// Lines without the names of columns.
    pub lines: u64,
    /// Rows of the store that were read, with a part of them that is live.
    pub rows: u64,
    /// The size of the file.
    pub bytes: u64,
    /// The columns with their types in CQL.
    pub columns: Vec<WrittenColumn>,
    /// Reports of damage by which rows are missing.
    #[serde(default)]
    pub losses: u64,
    /// Gaps of the file, such as values that the format cannot have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl WrittenTable {
    /// `Keyspace.Table`.
    fn name(&self) -> String {
        format!("{}.{}", self.keyspace, self.table)
    }
}

/// A column of a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WrittenColumn {
    /// Its name.
    pub name: String,
    /// Its type in CQL; `bytes` is a text, or `0x` and digits.
    #[serde(rename = "type")]
    pub of: String,
}

/// A table that was not written, or not to its end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LeftOutTable {
    /// Its keyspace and its name.
    pub table: String,
    /// The reason.
    pub why: String,
    /// Whether the options of the export select it so, and nothing is wrong.
    #[serde(default)]
    pub is_selected_so: bool,
}

/// The manifest of an export.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    pub version: u32,
    pub from: String,
    pub format: String,
    /// Whether tombstones and expired cells were written.
    pub all_cells: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub columns: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// The keyspace and the table of the options.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyspace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The second of `--as-of`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of_s: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// Whether the export has come to its end.
    pub is_complete: bool,
    pub tables: Vec<WrittenTable>,
    pub left_out: Vec<LeftOutTable>,
    /// Damage: what could not be read.
    pub lost: Vec<String>,
    /// The definitions of the keyspaces and tables, as an import needs them.
    pub definitions: Vec<Box<RawValue>>,
}

impl Manifest {
    fn of(source: &ExportSource<'_>, options: &ExportOptions) -> Manifest {
        Manifest {
            version: VERSION,
            from: source.name().to_owned(),
            format: options.format.to_string(),
            all_cells: options.all_cells,
            columns: options.columns.clone(),
            limit: options.limit,
            keyspace: options.selection.keyspace.clone(),
            table: options.selection.column_family.clone(),
            as_of_s: options.as_of_s,
            snapshot: options.snapshot.clone(),
            is_complete: false,
            tables: Vec::new(),
            left_out: Vec::new(),
            lost: Vec::new(),
            definitions: Vec::new(),
        }
    }

    /// Opens the directory of an export, which is new, empty, or has an unfinished export of the same source and options.
    pub(super) fn open(
        directory: &Path,
        source: &ExportSource<'_>,
        options: &ExportOptions,
    ) -> Result<ResumeFile<Manifest>, TransferError> {
        let failed =
            |why: &dyn std::fmt::Display| TransferError::named(&directory.display().to_string(), why);
        if directory.exists() && !directory.is_dir() {
            return Err(failed(
                &"it is a file: --to takes a new or empty directory, in which each table gets a file",
            ));
        }
        fs::create_dir_all(directory).map_err(|error| failed(&error))?;
        let path = directory.join(MANIFEST);
        let new = Manifest::of(source, options);
        let found = Manifest::read(&path)?;
        // A kill before the manifest got its name leaves only this file.
        let unnamed = format!("{MANIFEST}.new");
        let mut files = fs::read_dir(directory).map_err(|error| failed(&error))?;
        let is_empty = files.all(|file| file.is_ok_and(|file| file.file_name() == *unnamed));
        match found {
            None if !is_empty => Err(failed(&"the directory is not empty; use another one")),
            None => Ok(ResumeFile::new(Some(&path), new)),
            Some(found) if found.is_complete => {
                Err(failed(&"the directory has a complete export; use another one"))
            }
            Some(found) if !found.is_same(&new) => Err(failed(
                &"the directory has an unfinished export of another source or with other options; use another one",
            )),
            Some(found) => Ok(ResumeFile::new(Some(&path), found.resumed(new))),
        }
    }

    /// Reads a manifest. `None` if there is none.
    pub(super) fn read(path: &Path) -> Result<Option<Manifest>, TransferError> {
        let failed = |why: String| TransferError::named(&path.display().to_string(), why);
        let found = ResumeFile::<Manifest>::read(path).map_err(|error| failed(error.to_string()))?;
        match found {
            Some(found) if found.version != VERSION => Err(failed(format!(
                "it has version {}, and this program supports version {VERSION}",
                found.version
            ))),
            found => Ok(found),
        }
    }

    fn is_same(&self, other: &Manifest) -> bool {
        self.from == other.from
            && self.snapshot == other.snapshot
            && self.format == other.format
            && self.all_cells == other.all_cells
            && self.as_of_s == other.as_of_s
            && self.columns == other.columns
            && self.limit == other.limit
            && self.keyspace == other.keyspace
            && self.table == other.table
    }

    /// Returns the manifest with which another run goes on: with the tables that are written, and what they lack.
    fn resumed(self, new: Manifest) -> Manifest {
        let names: BTreeSet<String> = self.tables.iter().map(WrittenTable::name).collect();
        let left_out = self.left_out.into_iter().filter(|of| names.contains(&of.table)).collect();
        Manifest { tables: self.tables, left_out, lost: self.lost, ..new }
    }

    /// Returns the table that an earlier run has written.
    pub(super) fn written(&self, keyspace: &str, table: &str) -> Option<&WrittenTable> {
        self.tables.iter().find(|written| written.keyspace == keyspace && written.table == table)
    }
}

/// Returns the columns of a table for the manifest.
pub(super) fn written_columns(shape: &TableShape) -> Vec<WrittenColumn> {
    let columns = shape.columns();
    columns.map(|column| WrittenColumn { name: column.name.clone(), of: column.of.name() }).collect()
}
