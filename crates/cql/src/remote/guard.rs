//! Checks statements before they are sent to a cluster.
//!
//! The cluster knows only one user, this server, which has all permissions there. So the permissions of the session's
//! user are checked here, on the parsed statement.

use super::statement::RemoteStatement;
use crate::error::invalid;
use crate::{CqlError, QueryState, Result, system};
use base::compat::features::releases::NEWEST;
use base::compat::texts;
use cql_syntax::{Conditions, Modify, Parser, Statement, TableName};
use db::{Access, is_reserved};
use store::{RemoteCql, index_name};

/// The tables of `system` that every user may read, as in Cassandra (5.0, `ClientState`): drivers need them.
const EVERYBODYS: [&str; 5] = ["local", "peers", "peers_v2", "size_estimates", "table_estimates"];

/// The tables of `system` that no client may read. They contain writes of all tables that are in progress, including
/// those of roles, and on ScyllaDB the cluster's own users.
const NOBODYS: [&str; 6] = ["paxos", "batches", "batchlog", "batchlog_v2", "roles", "raft"];

/// Checks whether a session may send this statement.
pub(super) fn check(
    state: &QueryState<'_>,
    remote: &dyn RemoteCql,
    statement: &RemoteStatement,
) -> Result<()> {
    match &statement.read {
        // These statements check permissions themselves.
        Some(Statement::Use(_) | Statement::Access(_)) => Ok(()),
        Some(Statement::Refused(_)) | None => {
            check_unread(state, remote, &statement.text)?;
            check_altered(state, &statement.text)
        }
        Some(read) => {
            check_served(state, read)?;
            accesses(state, read)?.into_iter().try_for_each(|access| check_access(state, remote, access))
        }
    }
}

/// Checks whether clients may access a keyspace.
pub(super) fn check_open(remote: &dyn RemoteCql, keyspace: &str) -> Result<()> {
    if keyspace == remote.own_keyspace() || keyspace == system::AUTH {
        let text = format!("the keyspace {keyspace} is not open to clients of this server");
        return Err(CqlError::Unauthorized(text));
    }
    Ok(())
}

fn check_access(state: &QueryState<'_>, remote: &dyn RemoteCql, access: Access<'_>) -> Result<()> {
    let Some((keyspace, family)) = access.place() else { return state.check(access) };
    let text = |name| std::str::from_utf8(name).unwrap_or_default();
    let (keyspace, family) = (text(keyspace), family.map(text));
    check_open(remote, keyspace)?;
    if let (system::SYSTEM, Some(family)) = (keyspace, family) {
        check_open_table(family)?;
    }
    let is_read = matches!(access, Access::Read { .. });
    if is_read && is_everybodys(keyspace, family) {
        return Ok(());
    }
    if !is_read {
        check_changeable(state, keyspace)?;
    }
    state.check(access)
}

/// Checks whether clients with the permission may change the contents of a keyspace.
fn check_changeable(state: &QueryState<'_>, keyspace: &str) -> Result<()> {
    if is_reserved(state.database.store().capabilities(), keyspace) {
        return invalid(texts::own_keyspace_in_cql(state.behaviour, keyspace));
    }
    Ok(())
}

fn is_everybodys(keyspace: &str, family: Option<&str>) -> bool {
    match keyspace {
        system::SYSTEM => family.is_some_and(|family| EVERYBODYS.contains(&family)),
        _ => keyspace == system::SCHEMA || keyspace == system::VIRTUAL,
    }
}

/// Checks whether clients may access a table of `system`.
fn check_open_table(table: &str) -> Result<()> {
    if NOBODYS.contains(&table) {
        let text = format!("the table system.{table} is not open to clients of this server");
        return Err(CqlError::Unauthorized(text));
    }
    Ok(())
}

/// Checks a statement that this server cannot parse. It is only allowed for users with all permissions, and must not
/// contain the names of keyspaces and tables that are closed to clients.
fn check_unread(state: &QueryState<'_>, remote: &dyn RemoteCql, text: &str) -> Result<()> {
    let lower = text.to_ascii_lowercase();
    for closed in [remote.own_keyspace(), system::AUTH] {
        if lower.contains(&closed.to_ascii_lowercase()) {
            check_open(remote, closed)?;
        }
    }
    let words = || lower.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    if words().any(|word| word == system::SYSTEM) {
        words().try_for_each(check_open_table)?;
    }
    let (is_allowed, name) = match state.user {
        Some(user) => (user.may_everything(), user.name.as_str()),
        None => (!state.database.logins().are_required(), "anonymous"),
    };
    if is_allowed {
        return Ok(());
    }
    Err(CqlError::Unauthorized(format!(
        "User {name} may not run this statement: this server cannot determine what it does, and only users with all \
         permissions may run such statements"
    )))
}

/// Checks ALTER TABLE and ALTER KEYSPACE. They are only parsed as far as needed to find the table or keyspace.
fn check_altered(state: &QueryState<'_>, text: &str) -> Result<()> {
    let mut parser = Parser::new(text, NEWEST)?;
    if parser.eat_words(&["ALTER", "TABLE"]) {
        parser.eat_words(&["IF", "EXISTS"]);
        let table = parser.table_name()?;
        check_changeable(state, state.keyspace_of(table.keyspace.as_deref())?)?;
        return check_served_table(state, &table, "changed with system_update_column_family");
    }
    if parser.eat_words(&["ALTER", "KEYSPACE"]) {
        parser.eat_words(&["IF", "EXISTS"]);
        let keyspace = parser.name()?;
        check_changeable(state, &keyspace)?;
        return check_served_keyspace(state, &keyspace, "changed with system_update_keyspace");
    }
    Ok(())
}

/// Refuses changes of tables and keyspaces that were created by Thrift clients. This server stores a definition of its
/// own for them, so only Thrift calls may change them.
fn check_served(state: &QueryState<'_>, statement: &Statement) -> Result<()> {
    match statement {
        Statement::AlterTable { table, .. } => {
            check_served_table(state, table, "changed with system_update_column_family")
        }
        Statement::DropTable { table, .. } => {
            check_served_table(state, table, "dropped with system_drop_column_family")
        }
        Statement::AlterKeyspace { name, .. } => {
            check_served_keyspace(state, name, "changed with system_update_keyspace")
        }
        Statement::DropKeyspace { name, .. } => {
            check_served_keyspace(state, name, "dropped with system_drop_keyspace")
        }
        Statement::DropIndex { name, .. } => check_served_index(state, name),
        _ => Ok(()),
    }
}

fn check_served_table(state: &QueryState<'_>, table: &TableName, how: &str) -> Result<()> {
    let keyspace = state.keyspace_of(table.keyspace.as_deref())?;
    let catalog = state.database.catalog();
    match catalog.keyspace(keyspace).and_then(|found| found.column_families.get(&table.name)) {
        Some(_) => invalid(format!(
            "{keyspace}.{} is a column family that a Thrift method created: it is {how}",
            table.name
        )),
        None => Ok(()),
    }
}

/// Refuses to drop an index of such a table: without it, the cluster would scan all rows for Thrift's index queries.
fn check_served_index(state: &QueryState<'_>, index: &TableName) -> Result<()> {
    let keyspace = state.keyspace_of(index.keyspace.as_deref())?;
    let catalog = state.database.catalog();
    let mut families =
        catalog.keyspace(keyspace).into_iter().flat_map(|found| found.column_families.values());
    match families.find(|cf| cf.indexed_columns().next().is_some() && index_name(cf) == index.name) {
        Some(cf) => invalid(format!(
            "{keyspace}.{} is the index of {}, a column family that a Thrift method created: it is changed with \
             system_update_column_family",
            index.name, cf.name
        )),
        None => Ok(()),
    }
}

fn check_served_keyspace(state: &QueryState<'_>, keyspace: &str, how: &str) -> Result<()> {
    match state.database.catalog().keyspace(keyspace) {
        Some(_) => invalid(format!("{keyspace} is a keyspace that a Thrift method created: it is {how}")),
        None => Ok(()),
    }
}

/// Returns the keyspace and the table of a name.
fn place<'s>(state: &QueryState<'s>, table: &'s TableName) -> Result<(&'s [u8], &'s [u8])> {
    Ok((state.keyspace_of(table.keyspace.as_deref())?.as_bytes(), table.name.as_bytes()))
}

/// Returns the permissions that a statement needs.
fn accesses<'s>(state: &QueryState<'s>, statement: &'s Statement) -> Result<Vec<Access<'s>>> {
    let one = |access: Access<'s>| Ok(vec![access]);
    match statement {
        Statement::Select(select) => {
            let (keyspace, family) = place(state, &select.table)?;
            one(Access::Read { keyspace, family })
        }
        Statement::Modify(modify) => modified(state, modify),
        Statement::Batch(batch) => {
            let each = batch.statements.iter().map(|modify| modified(state, modify));
            Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
        }
        Statement::Truncate(table) => {
            let (keyspace, family) = place(state, table)?;
            one(Access::Write { keyspace, family })
        }
        Statement::CreateKeyspace { .. } => one(Access::AddKeyspace),
        Statement::AlterKeyspace { name, .. } => one(Access::UpdateKeyspace { keyspace: name.as_bytes() }),
        Statement::DropKeyspace { name, .. } => one(Access::DropKeyspace { keyspace: name.as_bytes() }),
        Statement::CreateTable(create) => one(Access::AddFamily { keyspace: place(state, &create.table)?.0 }),
        Statement::AlterTable { table, .. } => {
            let (keyspace, family) = place(state, table)?;
            one(Access::UpdateFamily { keyspace, family })
        }
        Statement::DropTable { table, .. } => {
            let (keyspace, family) = place(state, table)?;
            one(Access::DropFamily { keyspace, family })
        }
        Statement::CreateIndex(create) => {
            let (keyspace, family) = place(state, &create.table)?;
            one(Access::UpdateFamily { keyspace, family })
        }
        Statement::CreateType { name, .. } => one(Access::AddFamily { keyspace: place(state, name)?.0 }),
        // Only the cluster knows the table of an index.
        Statement::DropIndex { name, .. } | Statement::AlterType { name, .. } => {
            one(Access::UpdateKeyspace { keyspace: place(state, name)?.0 })
        }
        Statement::DropType { name, .. } => one(Access::DropKeyspace { keyspace: place(state, name)?.0 }),
        Statement::Describe(_) | Statement::Use(_) | Statement::Access(_) | Statement::Refused(_) => {
            Ok(Vec::new())
        }
    }
}

fn modified<'s>(state: &QueryState<'s>, modify: &'s Modify) -> Result<Vec<Access<'s>>> {
    let (keyspace, family) = place(state, &modify.table)?;
    let mut accesses = vec![Access::Write { keyspace, family }];
    if modify.conditions != Conditions::None {
        accesses.push(Access::Read { keyspace, family });
    }
    Ok(accesses)
}
