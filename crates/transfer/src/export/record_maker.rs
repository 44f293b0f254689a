//! Makes the records of a table from the rows of a store.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use bytes::Bytes;

use super::table_shape::{LineOf, TableShape};
use super::value::{Field, ValueType, bytes_text};
use base::marshal::{CqlType, Types};
use base::model::{Cell, CellKind, Change, DeletionTime};
use base::schema::{Layout, row_key_parts, show};
use cql::RowAssembler;
use db::Restore;
use store::RowPiece;

/// Bytes of the columns without a definition after which a row goes on in another line.
const OTHERS_BYTES_MAX: usize = 1024 * 1024;

/// A line of an export.
#[derive(Debug)]
pub(super) struct Record {
    pub key: Bytes,
    /// The fields of [`TableShape::all`]. None for a piece.
    pub fields: Vec<Field>,
    /// The stored changes that the record is of, if the format writes them.
    pub changes: Vec<Change>,
}

/// The options of a maker.
#[derive(Debug, Clone)]
pub(super) struct MakerOptions {
    pub types: Types,
    /// The second at which cells have expired, or not.
    pub now_s: i32,
    /// Whether expired cells and deletions are kept.
    pub all_cells: bool,
    /// Whether records have their changes.
    pub keeps_changes: bool,
}

/// Makes records.
pub(super) struct RecordMaker {
    shape: Arc<TableShape>,
    options: MakerOptions,
    /// For lines of rows.
    assembler: RowAssembler,
    /// Defined columns by their names in cells: their places in a record.
    defined: HashMap<Bytes, usize>,
    /// The key of the present row.
    key: Option<Bytes>,
    /// The changes of the present record.
    changes: Vec<Change>,
    /// The present row of defined columns, and the others as parts of a JSON object.
    fields: Vec<Field>,
    others: Vec<String>,
    others_bytes: usize,
}

impl RecordMaker {
    pub(super) fn new(shape: Arc<TableShape>, options: MakerOptions) -> RecordMaker {
        let assembler = RowAssembler::new(shape.def.clone(), &options.types);
        let columns = shape.def.columns().enumerate().skip(shape.def.partition_key.len());
        let defined = columns.map(|(at, column)| (column.cell_name.clone(), at)).collect();
        RecordMaker {
            shape,
            options,
            assembler,
            defined,
            key: None,
            changes: Vec::new(),
            fields: Vec::new(),
            others: Vec::new(),
            others_bytes: 0,
        }
    }

    /// Takes a row, or a part of one, and adds the records that are complete.
    pub(super) fn take(&mut self, piece: RowPiece, out: &mut Vec<Record>) {
        let RowPiece { key, mut changes } = piece;
        if !self.options.all_cells {
            changes = changes.into_iter().filter_map(|change| self.live(change)).collect();
        }
        if !matches!(self.shape.line, LineOf::Row | LineOf::Key) {
            self.select(&mut changes);
        }
        if changes.is_empty() {
            return;
        }
        match self.shape.line {
            LineOf::Piece => out.push(Record { key, fields: Vec::new(), changes }),
            LineOf::Cell | LineOf::Entry => {
                for change in changes {
                    let fields = self.fields_of(&key, &change);
                    out.push(Record { key: key.clone(), fields, changes: Vec::new() });
                }
            }
            LineOf::Row => changes.into_iter().for_each(|change| self.take_cell(&key, change, out)),
            LineOf::Key => changes.into_iter().for_each(|change| self.take_defined(&key, change, out)),
        }
    }

    /// Adds the last record.
    pub(super) fn finish(&mut self, out: &mut Vec<Record>) {
        match self.shape.line {
            LineOf::Row => {
                let last = self.assembler.finish();
                self.end(last, out);
            }
            LineOf::Key => self.end_key(out),
            LineOf::Cell | LineOf::Entry | LineOf::Piece => {}
        }
    }

    /// Drops changes of columns that are not selected.
    fn select(&self, changes: &mut Vec<Change>) {
        if let Some(names) = &self.shape.selected {
            changes.retain(|change| is_selected(&self.shape, names, change));
        }
    }

    /// Returns a cell that a reader sees.
    fn live(&self, change: Change) -> Option<Change> {
        match change {
            Change::Cell { super_column, cell } => {
                let cell = cell.at(self.options.now_s, Restore::behaviour());
                cell.is_live().then_some(Change::Cell { super_column, cell })
            }
            _ => None,
        }
    }

    fn take_cell(&mut self, key: &Bytes, change: Change, out: &mut Vec<Record>) {
        let Change::Cell { cell, .. } = &change else { return };
        if self.key.as_ref() != Some(key) {
            let last = self.assembler.begin(key);
            self.end(last, out);
            self.key = Some(key.clone());
        }
        if let Some(row) = self.assembler.push(cell.clone()) {
            self.end(Some(row), out);
        }
        if self.options.keeps_changes {
            self.changes.push(change);
        }
    }

    /// Adds a row with its changes. Cells that belong to no row are only in the changes.
    fn end(&mut self, row: Option<Vec<Option<Bytes>>>, out: &mut Vec<Record>) {
        let mut changes = std::mem::take(&mut self.changes);
        self.select(&mut changes);
        let Some(key) = self.key.clone() else { return };
        if row.is_some() || !changes.is_empty() {
            let fields = row.unwrap_or_default().into_iter().map(Field::from).collect();
            out.push(Record { key, fields, changes });
        }
    }

    fn take_defined(&mut self, key: &Bytes, change: Change, out: &mut Vec<Record>) {
        let Change::Cell { cell, .. } = &change else { return };
        if self.key.as_ref() != Some(key) || self.others_bytes > OTHERS_BYTES_MAX {
            self.end_key(out);
            self.key = Some(key.clone());
            self.fields = self.key_fields(key);
            self.fields.resize(self.shape.all.len(), Field::Null);
        }
        match self.defined.get(&cell.name).and_then(|at| self.fields.get_mut(*at)) {
            Some(field) => *field = Field::Bytes(cell.value.clone()),
            None => {
                let other = self.other_column(cell);
                self.others_bytes += other.len();
                self.others.push(other);
            }
        }
        if self.options.keeps_changes {
            self.changes.push(change);
        }
    }

    fn end_key(&mut self, out: &mut Vec<Record>) {
        let (mut fields, mut changes) = (std::mem::take(&mut self.fields), std::mem::take(&mut self.changes));
        self.select(&mut changes);
        let others = std::mem::take(&mut self.others);
        self.others_bytes = 0;
        let Some(key) = self.key.take().filter(|_| !fields.is_empty()) else { return };
        if let (Some(field), false) = (fields.last_mut(), others.is_empty()) {
            *field = Field::Text(format!("{{{}}}", others.join(", ")));
        }
        out.push(Record { key, fields, changes });
    }

    /// Returns a column without a definition as a part of a JSON object.
    fn other_column(&self, cell: &Cell) -> String {
        let (cf, types) = (&self.shape.cf, &self.options.types);
        let name = ValueType::of(CqlType::of(&cf.comparator), true);
        let name = name.value(&Field::Bytes(cell.name.clone()), types).text().unwrap_or_default();
        let value = ValueType::of(CqlType::of(&cf.default_validator), true);
        let value = value.json(&Field::Bytes(cell.value.clone()), types);
        format!("{}: {value}", serde_json::Value::from(name))
    }

    fn key_fields(&self, key: &Bytes) -> Vec<Field> {
        let count = self.shape.def.partition_key.len();
        let parts = row_key_parts(key, count).unwrap_or_else(|| vec![key.clone()]);
        let mut fields: Vec<Field> = parts.into_iter().map(Field::Bytes).collect();
        fields.resize(count, Field::Null);
        fields
    }

    /// Returns the fields of a cell or deletion.
    fn fields_of(&self, key: &Bytes, change: &Change) -> Vec<Field> {
        let mut fields = self.key_fields(key);
        let entry = ChangeParts::of(change);
        let bytes = |bytes: Option<&Bytes>| Field::from(bytes.cloned());
        if self.shape.cf.is_super() {
            fields.push(bytes(entry.super_column));
        }
        fields.push(bytes(entry.name));
        if self.shape.line == LineOf::Entry {
            fields.push(bytes(entry.finish));
            fields.push(Field::Text(entry.kind.to_owned()));
            if self.shape.cf.table.is_some() {
                fields.push(self.meaning(change));
            }
        }
        fields.push(self.value_field(&entry));
        let integer = |number: Option<i64>| number.map_or(Field::Null, Field::Integer);
        fields.extend([Some(entry.timestamp), entry.ttl_s, entry.expires_at_s].map(integer));
        if self.shape.line == LineOf::Entry {
            fields.push(integer(entry.deleted_at_s));
        }
        fields
    }

    /// Returns the value of an entry, in the text of its own type if columns have several.
    fn value_field(&self, entry: &ChangeParts<'_>) -> Field {
        let cf = &self.shape.cf;
        match (entry.value, entry.name) {
            (Some(value), Some(name)) if !cf.column_metadata.is_empty() => {
                let of = ValueType::of(CqlType::of(cf.value_validator(name)), true);
                let text = of.value(&Field::Bytes(value.clone()), &self.options.types).text();
                text.map_or(Field::Null, Field::Text)
            }
            (value, _) => Field::from(value.cloned()),
        }
    }

    fn meaning(&self, change: &Change) -> Field {
        let (types, def) = (&self.options.types, &self.shape.def);
        match change {
            Change::Cell { cell, .. } => {
                let value = cell.is_live().then_some(&cell.value);
                Field::Text(show::meaning(types, def, &cell.name, value))
            }
            Change::DeleteRange(range) => Field::Text(show::bound(types, def, &range.start)),
            Change::DeleteRow { .. } | Change::DeleteSuper { .. } => Field::Null,
        }
    }
}

/// The parts of a change.
#[derive(Default)]
struct ChangeParts<'a> {
    kind: &'static str,
    super_column: Option<&'a Bytes>,
    name: Option<&'a Bytes>,
    finish: Option<&'a Bytes>,
    value: Option<&'a Bytes>,
    timestamp: i64,
    ttl_s: Option<i64>,
    expires_at_s: Option<i64>,
    deleted_at_s: Option<i64>,
}

impl ChangeParts<'_> {
    fn of(change: &Change) -> ChangeParts<'_> {
        let deleted = |kind, deletion: &DeletionTime| ChangeParts {
            kind,
            timestamp: deletion.marked_for_delete_at,
            deleted_at_s: Some(deletion.local_deletion_time.into()),
            ..ChangeParts::default()
        };
        match change {
            Change::DeleteRow { deletion } => deleted("deleted row", deletion),
            Change::DeleteSuper { name, deletion } => {
                ChangeParts { super_column: Some(name), ..deleted("deleted super column", deletion) }
            }
            Change::DeleteRange(range) => ChangeParts {
                super_column: range.super_column.as_ref(),
                name: Some(&range.start),
                finish: Some(&range.finish),
                ..deleted("deleted range", &range.deletion)
            },
            Change::Cell { super_column, cell } => {
                let (super_column, name) = (super_column.as_ref(), Some(&cell.name));
                let entry = |kind| ChangeParts {
                    kind,
                    super_column,
                    name,
                    value: Some(&cell.value),
                    timestamp: cell.timestamp,
                    ..ChangeParts::default()
                };
                match cell.kind {
                    CellKind::Live => entry("cell"),
                    CellKind::Expiring { ttl_s, expires_at_s } => ChangeParts {
                        ttl_s: Some(ttl_s.into()),
                        expires_at_s: Some(expires_at_s.into()),
                        ..entry("expiring cell")
                    },
                    CellKind::Counter | CellKind::Increment => entry("counter"),
                    CellKind::Deleted { local_deletion_time } => ChangeParts {
                        value: None,
                        deleted_at_s: Some(local_deletion_time.into()),
                        ..entry("deleted cell")
                    },
                }
            }
        }
    }
}

/// Returns whether a change belongs to the selected columns. The marker of a CQL row and deletions of more than a cell
/// stay.
fn is_selected(shape: &TableShape, names: &BTreeSet<String>, change: &Change) -> bool {
    let Change::Cell { cell, .. } = change else { return true };
    if shape.def.layout == Layout::Sparse {
        let Some(name) = shape.def.place_of(&cell.name).and_then(|place| place.column) else { return true };
        let mut columns = shape.def.others.values();
        return name.is_empty()
            || columns.any(|column| column.cell_name == name && names.contains(&column.name));
    }
    if shape.line == LineOf::Row {
        return true;
    }
    let class = shape.cf.subcomparator().unwrap_or(&shape.cf.comparator);
    names.contains(&class.to_text(&cell.name)) || names.contains(&bytes_text(&cell.name))
}
