//! get_column, get_slice, get_slice_by_names, get_columns_since and get_column_count of 0.3.

use bytes::Bytes;

use super::i32_or;
use super::path::TextPath;
use super::timestamp;
use super::window::Window;
use crate::thrift::failure::Result;
use crate::thrift::methods::Call;
use crate::thrift::{results, types};
use base::compat::features::ConsistencyLevel;
use base::model::{Cell, RowColumns};
use db::{Error, GetResult, RequestedRange, SlicePredicate};
use wire::thrift::TType;

pub(super) async fn get_column(mut call: Call<'_>) -> Result<()> {
    let (table, key) = (call.args.bytes(1)?, call.args.bytes(2)?);
    let path = TextPath::parse(call.args.bytes(3)?);
    let path = path.column(call.database.describe(call.behaviour).is_super(&table, &path.family)?)?;
    let found = call.request(&table, ConsistencyLevel::One).reads().get(&key, &path).await?;
    let GetResult::Column(cell) = found else { return Err(Error::NotFound.into()) };
    let mut writer = call.writer();
    writer.field_struct(0);
    results::write_column(&mut writer, &cell);
    Ok(())
}

pub(super) async fn get_slice(mut call: Call<'_>) -> Result<()> {
    let window = Window::new(i32_or(&call, 4, -1)?, i32_or(&call, 5, -1)?);
    let path = TextPath::parse(call.args.bytes(3)?);
    // The columns of a super column are returned in another order than they are read in, so the window is applied
    // after all of them have been read.
    let is_row = path.parent()?.super_column.is_none();
    let cells = cells(&call, &path, first(if is_row { window.end() } else { i32::MAX })).await?;
    write_cells(&mut call, &window.of(cells));
    Ok(())
}

pub(super) async fn get_slice_by_names(mut call: Call<'_>) -> Result<()> {
    let path = TextPath::parse(call.args.bytes(3)?);
    let names = types::byte_strings(&mut call.args.required(4)?)?;
    let named = SlicePredicate { column_names: Some(names), slice_range: None };
    let cells = cells(&call, &path, named).await?;
    write_cells(&mut call, &cells);
    Ok(())
}

/// Returns the columns that are not older than a timestamp. 0.3 stopped at the first older one, because the call was
/// made for column families sorted by time, newest first. Here rows are sorted by name, so the whole row is read.
pub(super) async fn get_columns_since(mut call: Call<'_>) -> Result<()> {
    let since = timestamp(&call, 4)?;
    let path = TextPath::parse(call.args.bytes(3)?);
    let mut cells = cells(&call, &path, first(i32::MAX)).await?;
    cells.retain(|cell| cell.timestamp >= since);
    write_cells(&mut call, &cells);
    Ok(())
}

/// Returns the number of columns. Deleted columns count until their tombstones are purged.
pub(super) async fn get_column_count(mut call: Call<'_>) -> Result<()> {
    let (table, key) = (call.args.bytes(1)?, call.args.bytes(2)?);
    let parent = TextPath::parse(call.args.bytes(3)?).parent()?;
    let consistency = ConsistencyLevel::One;
    let count = call.request(&table, consistency).reads().get_count(&key, &parent).await?;
    call.write_count(count);
    Ok(())
}

/// Returns the predicate of the first `count` columns.
pub(super) fn first(count: i32) -> SlicePredicate {
    let range = RequestedRange { start: Bytes::new(), finish: Bytes::new(), reversed: false, count };
    SlicePredicate { column_names: None, slice_range: Some(range) }
}

/// Reads columns of a row, in the comparator's order, or of a super column, newest first.
async fn cells(call: &Call<'_>, path: &TextPath, predicate: SlicePredicate) -> Result<Vec<Cell>> {
    let (table, key) = (call.args.bytes(1)?, call.args.bytes(2)?);
    let parent = path.parent()?;
    if call.database.describe(call.behaviour).is_super(&table, &path.family)? && parent.super_column.is_none()
    {
        return Err(Error::invalid(format!(
            "columnfamily:supercolumn is required for super CF {}; get_slice_super reads whole super columns",
            String::from_utf8_lossy(&path.family)
        ))
        .into());
    }
    let consistency = ConsistencyLevel::One;
    let columns = call.request(&table, consistency).reads().get_slice(&key, &parent, &predicate).await?;
    // A row that does not exist has neither columns nor super columns.
    let RowColumns::Cells(mut cells) = columns else { return Ok(Vec::new()) };
    if parent.super_column.is_some() {
        newest_first(&mut cells);
    }
    Ok(cells)
}

/// Sorts the columns of a super column as 0.3 stored them: by time, and by name if times are equal.
pub(super) fn newest_first(cells: &mut [Cell]) {
    cells.sort_by_key(|cell| std::cmp::Reverse(cell.timestamp));
}

fn write_cells(call: &mut Call<'_>, cells: &[Cell]) {
    let mut writer = call.writer();
    writer.field_list(0, TType::Struct, cells.len());
    for cell in cells {
        results::write_column(&mut writer, cell);
    }
}
