//! Statements that change the schema, and TRUNCATE.

mod alter_table;
mod compatible;
mod create_table;
mod index;
mod keyspace;
mod modern;
mod names;
mod options;
mod renewal;
mod sizes;
mod table;
mod user_type;

pub use compatible::{accepts_values, keeps_order};
pub use create_table::column_family;
pub(crate) use modern::in_old_words;

use super::{ChangeKind, ChangedTarget, Outcome, QueryState, SchemaChange};
use crate::Result;
use crate::error::invalid;
use cql_syntax::{CreateIndex, Statement};

/// Makes the checks of a schema statement or TRUNCATE that the old servers make when they prepare it: the keyspace of its
/// names (`prepareKeyspace`), and a CREATE TABLE by itself. The other checks are made when it is executed.
pub fn check_prepared(state: &QueryState<'_>, statement: &Statement) -> Result<()> {
    let name = match statement {
        Statement::CreateTable(create) => return create_table::check(state, create),
        Statement::AlterTable { table, .. }
        | Statement::DropTable { table, .. }
        | Statement::Truncate(table)
        | Statement::CreateIndex(CreateIndex { table, .. }) => table,
        Statement::DropIndex { name, .. }
        | Statement::CreateType { name, .. }
        | Statement::AlterType { name, .. }
        | Statement::DropType { name, .. } => name,
        _ => return Ok(()),
    };
    state.keyspace_of(name.keyspace.as_deref()).map(drop)
}

/// Executes a schema statement or TRUNCATE.
pub async fn define(state: &QueryState<'_>, statement: &Statement) -> Result<Outcome> {
    match statement {
        Statement::CreateKeyspace { name, if_not_exists, properties } => {
            keyspace::create(state, name, *if_not_exists, properties).await
        }
        Statement::AlterKeyspace { name, properties } => keyspace::alter(state, name, properties).await,
        Statement::DropKeyspace { name, if_exists } => keyspace::drop_keyspace(state, name, *if_exists).await,
        Statement::CreateTable(create) => create_table::create(state, create).await,
        Statement::AlterTable { table, alter } => alter_table::alter(state, table, alter).await,
        Statement::DropTable { table, if_exists } => table::drop_table(state, table, *if_exists).await,
        Statement::Truncate(table) => table::truncate(state, table).await,
        Statement::CreateIndex(create) => index::create(state, create).await,
        Statement::DropIndex { name, if_exists } => index::drop_index(state, name, *if_exists).await,
        Statement::CreateType { name, if_not_exists, fields } => {
            user_type::create(state, name, *if_not_exists, fields).await
        }
        Statement::AlterType { name, alter } => user_type::alter(state, name, alter).await,
        Statement::DropType { name, if_exists } => user_type::drop_type(state, name, *if_exists).await,
        _ => invalid("this statement changes no schema"),
    }
}

fn changed(change: ChangeKind, keyspace: &str, target: Option<ChangedTarget>) -> Outcome {
    Outcome::Schema(SchemaChange { change, keyspace: keyspace.to_owned(), target })
}

fn table_changed(change: ChangeKind, keyspace: &str, table: &str) -> Outcome {
    changed(change, keyspace, Some(ChangedTarget::Table(table.to_owned())))
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
