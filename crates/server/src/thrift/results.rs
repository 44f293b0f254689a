//! Writes the API's structs from results.

use super::methods::Call;
use crate::thrift::failure::Result;
use base::compat::Behaviour;
use base::model::{Cell, CellKind, Row, RowColumns, SuperColumn};
use base::util::Release;
use db::{GetResult, ManyRows};
use wire::thrift::{TType, Writer};

/// Returns whether a cell is written as a counter struct, which 0.8 introduced. Earlier clients get a column with a
/// value of eight bytes.
fn is_counter(cell: &Cell, release: Release) -> bool {
    cell.kind == CellKind::Counter && Behaviour::of(release).wire.has_counter_structs
}

/// Writes a Column.
pub(super) fn write_column(writer: &mut Writer<'_>, cell: &Cell) {
    writer.field_string(1, &cell.name);
    writer.field_string(2, &cell.value);
    writer.field_i64(3, cell.timestamp);
    if let CellKind::Expiring { ttl_s, .. } = cell.kind {
        writer.field_i32(4, ttl_s);
    }
    writer.stop();
}

fn write_counter(writer: &mut Writer<'_>, cell: &Cell) {
    writer.field_string(1, &cell.name);
    writer.field_i64(2, cell.count().unwrap_or_default());
    writer.stop();
}

/// Writes the field of a ColumnOrSuperColumn for a column.
fn write_one(writer: &mut Writer<'_>, cell: &Cell, release: Release) {
    if is_counter(cell, release) {
        writer.field_struct(3);
        write_counter(writer, cell);
    } else {
        writer.field_struct(1);
        write_column(writer, cell);
    }
}

/// Writes the field of a ColumnOrSuperColumn for a super column.
fn write_super(writer: &mut Writer<'_>, super_column: &SuperColumn, release: Release) {
    let counts = super_column.cells.first().is_some_and(|cell| is_counter(cell, release));
    writer.field_struct(if counts { 4 } else { 2 });
    writer.field_string(1, &super_column.name);
    writer.field_list(2, TType::Struct, super_column.cells.len());
    for cell in &super_column.cells {
        if counts {
            write_counter(writer, cell);
        } else {
            write_column(writer, cell);
        }
    }
    writer.stop();
}

/// Writes a ColumnOrSuperColumn, without fields if nothing was found.
pub(super) fn write_found(writer: &mut Writer<'_>, found: Option<&GetResult>, release: Release) {
    match found {
        None => {}
        Some(GetResult::Column(cell)) => write_one(writer, cell, release),
        Some(GetResult::Super(super_column)) => write_super(writer, super_column, release),
    }
    writer.stop();
}

/// Writes a list of ColumnOrSuperColumn.
fn write_columns(writer: &mut Writer<'_>, columns: &RowColumns, release: Release) {
    writer.list_begin(TType::Struct, columns.len());
    match columns {
        RowColumns::Cells(cells) => {
            for cell in cells {
                write_one(writer, cell, release);
                writer.stop();
            }
        }
        RowColumns::Supers(supers) => {
            for super_column in supers {
                write_super(writer, super_column, release);
                writer.stop();
            }
        }
    }
}

/// Whole results, which are written as field 0 of the reply.
impl Call<'_> {
    /// Writes a ColumnOrSuperColumn.
    pub(super) fn write_found(&mut self, found: &GetResult) {
        let release = self.behaviour.release;
        let mut writer = self.writer();
        writer.field_struct(0);
        write_found(&mut writer, Some(found), release);
    }

    /// Writes a list of ColumnOrSuperColumn.
    pub(super) fn write_row(&mut self, columns: &RowColumns) {
        let release = self.behaviour.release;
        let mut writer = self.writer();
        writer.field_begin(TType::List, 0);
        write_columns(&mut writer, columns, release);
    }

    /// Reads rows and writes a map of keys to lists of ColumnOrSuperColumn, some rows at a time.
    ///
    /// # Errors
    /// If a read fails. Then the caller truncates the reply.
    pub(super) async fn write_rows_by_key(&mut self, mut rows: ManyRows<'_>) -> Result<()> {
        let release = self.behaviour.release;
        self.writer().field_map(0, TType::String, TType::List, rows.left());
        while rows.left() > 0 {
            let part = rows.next_part().await?;
            let mut writer = self.writer();
            for (key, columns) in &part {
                writer.bytes(key);
                write_columns(&mut writer, columns, release);
            }
        }
        Ok(())
    }

    /// Writes a list of KeySlice.
    pub(super) fn write_rows(&mut self, rows: &[Row]) {
        let release = self.behaviour.release;
        let mut writer = self.writer();
        writer.field_list(0, TType::Struct, rows.len());
        for row in rows {
            writer.field_string(1, &row.key);
            writer.field_begin(TType::List, 2);
            write_columns(&mut writer, &row.columns, release);
            writer.stop();
        }
    }

    /// Writes a number of columns, at most that of an i32.
    pub(super) fn write_count(&mut self, count: usize) {
        self.writer().field_i32(0, i32::try_from(count).unwrap_or(i32::MAX));
    }
}
