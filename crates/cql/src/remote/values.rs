//! Converts values and types between clients and a cluster.

use bytes::Bytes;

use super::statement::RemoteStatement;
use crate::{ColumnSpec, CqlError, Outcome, QueryState, Result, ResultSet};
use base::compat::Behaviour;
use base::marshal::{
    CollectionForm, CqlType, Native, list_from_bytes, list_to_bytes, map_from_bytes, map_to_bytes,
};
use base::util::Release;
use store::{RemoteColumn, RemoteOutcome};

/// Returns a cluster's result with the types and names of the session's release.
pub(super) fn result(
    outcome: RemoteOutcome,
    statement: &RemoteStatement,
    state: &QueryState<'_>,
) -> Result<Outcome> {
    let rows = match outcome {
        RemoteOutcome::Void => return Ok(Outcome::Void),
        RemoteOutcome::Rows(rows) => rows,
    };
    let release = state.behaviour.release;
    let mut columns: Vec<ColumnSpec> = rows.columns.into_iter().map(|found| column(found, release)).collect();
    for (at, name) in statement.function_names(columns.len()) {
        if let Some(column) = columns.get_mut(at) {
            column.name = name;
        }
    }
    Ok(Outcome::Rows(ResultSet { columns: columns.into(), rows: rows.rows, paging_state: None }))
}

/// Returns a column with the type names of a release.
pub(super) fn column(column: RemoteColumn, release: Release) -> ColumnSpec {
    let RemoteColumn { keyspace, table, name, cql_type } = column;
    let cql_type =
        if Behaviour::of(release).cql.timestamps_are_dates { old_type(cql_type) } else { cql_type };
    ColumnSpec { keyspace, table, name, cql_type, is_field: false }
}

/// Replaces timestamps by the timestamp type of releases before 2.0.
fn old_type(cql_type: CqlType) -> CqlType {
    let old = |held: Box<CqlType>| Box::new(old_type(*held));
    match cql_type {
        CqlType::Native(Native::Timestamp) => CqlType::Native(Native::OldTimestamp),
        CqlType::List { element, is_frozen } => CqlType::List { element: old(element), is_frozen },
        CqlType::Set { element, is_frozen } => CqlType::Set { element: old(element), is_frozen },
        CqlType::Map { key, value, is_frozen } => {
            CqlType::Map { key: old(key), value: old(value), is_frozen }
        }
        other => other,
    }
}

/// Returns a bound value in the form that is sent: collections have 32-bit lengths.
pub(super) fn sent_form(cql_type: &CqlType, value: &Bytes, form: CollectionForm) -> Result<Bytes> {
    let unread = |what: &str| CqlError::invalid(format!("Not enough bytes to read a {what}"));
    if form == CollectionForm::Long {
        return Ok(value.clone());
    }
    match cql_type {
        CqlType::List { .. } => {
            let elements = list_from_bytes(value, form).ok_or_else(|| unread("list"))?;
            Ok(list_to_bytes(&elements, CollectionForm::Long))
        }
        CqlType::Set { .. } => {
            let elements = list_from_bytes(value, form).ok_or_else(|| unread("set"))?;
            Ok(list_to_bytes(&elements, CollectionForm::Long))
        }
        CqlType::Map { .. } => {
            let entries = map_from_bytes(value, form).ok_or_else(|| unread("map"))?;
            Ok(map_to_bytes(&entries, CollectionForm::Long))
        }
        _ => Ok(value.clone()),
    }
}
