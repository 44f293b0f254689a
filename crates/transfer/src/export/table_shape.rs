//! The lines of a table in an export, and their columns.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::value::ValueType;
use super::{ExportFormat, ExportOptions};
use base::compat::features::releases::NEWEST;
use base::marshal::CqlType;
use base::schema::{CfDef, Layout, TableDef};

/// The column with the cells that a column family with defined columns does not define.
const OTHER_COLUMNS: &str = "other_columns";

/// The content of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LineOf {
    /// A row, as CQL returns it.
    Row,
    /// A row key with its defined columns, and all others as JSON.
    Key,
    /// A live cell of a Thrift column family.
    Cell,
    /// A cell or deletion, as it is stored.
    Entry,
    /// The cells and deletions of a row key, or of a part of a wide row.
    Piece,
}

impl LineOf {
    /// Returns the name of a line for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            LineOf::Row | LineOf::Key => "row",
            LineOf::Cell => "cell",
            LineOf::Entry => "entry",
            LineOf::Piece => "part of a row",
        }
    }
}

/// A column of an export.
#[derive(Debug, Clone)]
pub(super) struct ExportColumn {
    pub name: String,
    pub of: ValueType,
}

/// The shape of a table in an export.
#[derive(Debug)]
pub(super) struct TableShape {
    pub cf: Arc<CfDef>,
    pub def: Arc<TableDef>,
    pub line: LineOf,
    /// All columns of a record.
    pub all: Vec<ExportColumn>,
    /// The places of the columns that are written.
    pub written: Vec<usize>,
    /// The names of `--columns`.
    pub selected: Option<BTreeSet<String>>,
}

impl TableShape {
    pub(super) fn of(cf: &Arc<CfDef>, options: &ExportOptions) -> TableShape {
        let def = TableDef::of(cf, NEWEST);
        let mut line = line_of(&def, options.all_cells);
        if options.format == ExportFormat::Json && matches!(line, LineOf::Cell | LineOf::Entry) {
            line = LineOf::Piece;
        }
        let all = columns(cf, &def, line);
        let keys = def.partition_key.len() + if line == LineOf::Row { def.clustering.len() } else { 0 };
        let selected: Option<BTreeSet<String>> =
            options.columns.as_ref().map(|names| names.iter().cloned().collect());
        let mut written: Vec<usize> = (0..all.len()).collect();
        if let (Some(names), LineOf::Row | LineOf::Key) = (&selected, line) {
            written.retain(|at| *at < keys || names.contains(&all[*at].name));
        }
        TableShape { cf: cf.clone(), def, line, all, written, selected }
    }

    /// Returns the columns that are written.
    pub(super) fn columns(&self) -> impl Iterator<Item = &ExportColumn> {
        self.written.iter().filter_map(|at| self.all.get(*at))
    }

    /// Returns whether the table has none of the selected columns. That is not known of column families whose columns are
    /// not defined.
    pub(super) fn lacks_selected(&self) -> bool {
        let is_known = matches!(self.line, LineOf::Row | LineOf::Key);
        let Some(names) = self.selected.as_ref().filter(|_| is_known) else { return false };
        !self.all.iter().any(|column| names.contains(&column.name))
    }
}

fn line_of(def: &TableDef, all_cells: bool) -> LineOf {
    match def.layout {
        _ if all_cells => LineOf::Entry,
        Layout::Sparse => LineOf::Row,
        Layout::StaticCompact => LineOf::Key,
        Layout::Dense | Layout::CompositeDense if has_own_names(def) => LineOf::Row,
        Layout::Dense | Layout::CompositeDense | Layout::Super => LineOf::Cell,
    }
}

/// Returns whether CREATE TABLE has named the columns. The others have the names that servers give them.
fn has_own_names(def: &TableDef) -> bool {
    let mut clustering = def.clustering.iter().enumerate();
    clustering.any(|(at, column)| column.name != format!("column{}", at + 1))
        || def.compact_value().is_none_or(|value| value.name != "value")
}

/// Returns the columns of a record. The names of the key's columns come first; no name is there twice.
fn columns(cf: &CfDef, def: &TableDef, line: LineOf) -> Vec<ExportColumn> {
    let is_thrift = cf.table.is_none();
    let of_type = |name: &str, cql_type: &CqlType| ExportColumn {
        name: name.to_owned(),
        of: ValueType::of(cql_type.clone(), is_thrift),
    };
    let of = |name: &str, of: ValueType| ExportColumn { name: name.to_owned(), of };
    let mut all: Vec<ExportColumn> =
        def.partition_key.iter().map(|column| of_type(&column.name, &column.cql_type)).collect();
    match line {
        LineOf::Row | LineOf::Key => {
            let others = def.columns().skip(def.partition_key.len());
            all.extend(others.map(|column| of_type(&column.name, &column.cql_type)));
            all.extend((line == LineOf::Key).then(|| of(OTHER_COLUMNS, ValueType::Json)));
        }
        LineOf::Piece => {}
        LineOf::Cell | LineOf::Entry => {
            let mut name_type = &cf.comparator;
            if let Some(inner) = cf.subcomparator() {
                all.push(of_type("super_column", &CqlType::of(&cf.comparator)));
                name_type = inner;
            }
            all.push(of_type("column", &CqlType::of(name_type)));
            if line == LineOf::Entry {
                all.push(of_type("until", &CqlType::of(name_type)));
                all.push(of("kind", ValueType::Text));
                all.extend((!is_thrift).then(|| of("meaning", ValueType::Text)));
            }
            // Columns with definitions have values of several types.
            let has_one_type = cf.column_metadata.is_empty();
            all.push(match has_one_type {
                true => of_type("value", &CqlType::of(&cf.default_validator)),
                false => of("value", ValueType::Bytes),
            });
            all.extend(["timestamp", "ttl_s", "expires_at_s"].map(|name| of(name, ValueType::Integer)));
            all.extend((line == LineOf::Entry).then(|| of("deleted_at_s", ValueType::Integer)));
        }
    }
    make_distinct(&mut all);
    all
}

/// Gives columns whose names differ in their case only, or not at all, a number: SQL has one of them.
fn make_distinct(columns: &mut [ExportColumn]) {
    let mut taken = BTreeSet::new();
    for column in columns {
        let plain = column.name.clone();
        let mut number = 2;
        while !taken.insert(column.name.to_lowercase()) {
            column.name = format!("{plain}_{number}");
            number += 1;
        }
    }
}
