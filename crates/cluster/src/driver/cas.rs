//! Conditional updates as lightweight transactions.

use scylla::statement::batch::{Batch, BatchType};

use super::link::{Link, level, serial_level};
use super::read::read;
use super::shape::StatementShape;
use super::table::PreparedTable;
use super::values::DriverValues;
use super::write::at_column;
use base::model::{Cell, Change, RowColumns};
use store::{CasAnswer, CasCommand, Result};

/// Writes columns of a row if the row has the expected columns.
///
/// A condition of CQL is on rows of a table, which are columns here, and cannot require that a partition is empty. So
/// if no columns are expected, the row is read first, and the transaction then only requires that the columns to write
/// do not exist.
pub(super) async fn compare_and_set(
    link: &Link,
    table: &PreparedTable,
    command: CasCommand,
) -> Result<CasAnswer> {
    if command.expected.is_empty() {
        let found = found(link, table, &command).await?;
        if !found.is_empty() {
            return Ok(CasAnswer::Refused(found));
        }
    }
    let (batch, values) = transaction(link, table, &command).await?;
    if values.is_empty() {
        return Ok(CasAnswer::Applied);
    }
    if link.transact(batch, values).await? {
        return Ok(CasAnswer::Applied);
    }
    Ok(CasAnswer::Refused(found(link, table, &command).await?))
}

/// Reads the columns that a refusal returns.
async fn found(link: &Link, table: &PreparedTable, command: &CasCommand) -> Result<Vec<Cell>> {
    let columns = read(link, table, &command.key, &command.read, command.serial_consistency).await?;
    match columns {
        RowColumns::Cells(cells) => Ok(cells),
        RowColumns::Supers(_) => Ok(Vec::new()),
    }
}

/// Returns a batch with one statement for each column that is expected or written.
async fn transaction(
    link: &Link,
    table: &PreparedTable,
    command: &CasCommand,
) -> Result<(Batch, Vec<DriverValues>)> {
    let mut batch = Batch::new(BatchType::Unlogged);
    let mut values = Vec::new();
    let changes = command.mutation.families.iter().flat_map(|family| family.changes.iter());
    let mut updates: Vec<Cell> = changes
        .filter_map(|change| match change.into_owned() {
            Change::Cell { cell, .. } => Some(cell),
            _ => None,
        })
        .collect();
    for (name, expected) in &command.expected {
        let at = updates.iter().position(|cell| cell.name == *name);
        let new = at.map(|at| updates.swap_remove(at).value);
        let new = match new {
            Some(new) => DriverValues::default().bytes(new),
            None => DriverValues::default().unset(),
        };
        values.push(at_column(new.bytes(command.key.clone()), table, None, name).bytes(expected.clone()));
        batch.append_statement(link.prepared(table, StatementShape::UpdateIf).await?);
    }
    let shape =
        if command.expected.is_empty() { StatementShape::InsertIfAbsent } else { StatementShape::InsertNow };
    for cell in updates {
        let key = DriverValues::default().bytes(command.key.clone());
        values.push(at_column(key, table, None, &cell.name).bytes(cell.value));
        batch.append_statement(link.prepared(table, shape).await?);
    }
    batch.set_consistency(level(command.commit_consistency));
    batch.set_serial_consistency(Some(serial_level(command.serial_consistency)));
    Ok((batch, values))
}
