//! get_superColumn, get_slice_super and get_slice_super_by_names of 0.3.

use super::columns::{first, newest_first};
use super::i32_or;
use super::path::TextPath;
use super::window::Window;
use crate::thrift::failure::Result;
use crate::thrift::methods::Call;
use crate::thrift::{results, types};
use base::compat::features::ConsistencyLevel;
use base::model::{RowColumns, SuperColumn};
use db::{Error, GetResult, SlicePredicate};
use wire::thrift::{TType, Writer};

pub(super) async fn get_super_column(mut call: Call<'_>) -> Result<()> {
    let (table, key) = (call.args.bytes(1)?, call.args.bytes(2)?);
    let path = TextPath::parse(call.args.bytes(3)?);
    check_super(&call, &path)?;
    let path = path.super_column()?;
    let found = call.request(&table, ConsistencyLevel::One).reads().get(&key, &path).await?;
    let GetResult::Super(mut found) = found else { return Err(Error::NotFound.into()) };
    let mut writer = call.writer();
    writer.field_struct(0);
    write_super(&mut writer, &mut found);
    Ok(())
}

pub(super) async fn get_slice_super(mut call: Call<'_>) -> Result<()> {
    let window = Window::new(i32_or(&call, 4, -1)?, i32_or(&call, 5, -1)?);
    let supers = supers(&call, first(window.end())).await?;
    write_supers(&mut call, window.of(supers));
    Ok(())
}

pub(super) async fn get_slice_super_by_names(mut call: Call<'_>) -> Result<()> {
    let names = types::byte_strings(&mut call.args.required(4)?)?;
    let named = SlicePredicate { column_names: Some(names), slice_range: None };
    let supers = supers(&call, named).await?;
    write_supers(&mut call, supers);
    Ok(())
}

/// Reads super columns of a row, in the comparator's order.
async fn supers(call: &Call<'_>, predicate: SlicePredicate) -> Result<Vec<SuperColumn>> {
    let (table, key) = (call.args.bytes(1)?, call.args.bytes(2)?);
    let path = TextPath::parse(call.args.bytes(3)?);
    check_super(call, &path)?;
    let parent = path.parent()?;
    if parent.super_column.is_some() {
        return Err(Error::invalid(format!(
            "columnfamily alone is required to read whole super columns of {}",
            String::from_utf8_lossy(&path.family)
        ))
        .into());
    }
    let consistency = ConsistencyLevel::One;
    let columns = call.request(&table, consistency).reads().get_slice(&key, &parent, &predicate).await?;
    // A row that does not exist has neither columns nor super columns.
    let RowColumns::Supers(supers) = columns else { return Ok(Vec::new()) };
    Ok(supers)
}

/// Refuses a standard column family, for which 0.3 fails with an internal error.
fn check_super(call: &Call<'_>, path: &TextPath) -> Result<()> {
    if call.database.describe(call.behaviour).is_super(&call.args.bytes(1)?, &path.family)? {
        return Ok(());
    }
    let family = String::from_utf8_lossy(&path.family);
    Err(Error::invalid(format!("standard CF {family} has no super columns")).into())
}

/// Writes a superColumn_t.
fn write_super(writer: &mut Writer<'_>, found: &mut SuperColumn) {
    newest_first(&mut found.cells);
    writer.field_string(1, &found.name);
    writer.field_list(2, TType::Struct, found.cells.len());
    for cell in &found.cells {
        results::write_column(writer, cell);
    }
    writer.stop();
}

fn write_supers(call: &mut Call<'_>, supers: Vec<SuperColumn>) {
    let mut writer = call.writer();
    writer.field_list(0, TType::Struct, supers.len());
    for mut found in supers {
        write_super(&mut writer, &mut found);
    }
}
