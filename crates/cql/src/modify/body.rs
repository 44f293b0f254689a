//! The columns and rows that a statement changes: its parts after their terms are typed.

use std::collections::HashSet;

use super::changed_keys::ChangedKeys;
use super::keys::Keys;
use super::kind::ModifyKind;
use super::operation::ColumnOperation;
use super::terms::Terms;
use crate::error::invalid;
use crate::{CqlError, QueryState, Result};
use base::compat::texts;
use base::schema::{ColumnKind, TableColumn};
use cql_syntax::{Assignment, Deletion, Operation, Relation, Term};

/// The parts of a statement after its terms are typed.
pub(super) type Body = (ModifyKind, ChangedKeys, Vec<ColumnOperation>);

fn known<'t>(terms: &Terms<'t>, name: &str) -> Result<&'t TableColumn> {
    let table = terms.table;
    table.def.column(name).ok_or_else(|| CqlError::invalid(texts::unknown_column(terms.scope.line, name)))
}

fn is_key(column: &TableColumn) -> bool {
    matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Clustering)
}

pub(super) fn insert(columns: &[String], values: &[Term], terms: &mut Terms<'_>) -> Result<Body> {
    if terms.table.cf.is_counter() {
        return invalid("INSERT statement are not allowed on counter tables, use UPDATE instead");
    }
    if columns.len() != values.len() {
        return invalid("Unmatched column names/values");
    }
    if columns.is_empty() {
        return invalid("No columns provided to INSERT");
    }
    let mut keys = Keys::new(&terms.table.def, false);
    // A batch has a hundred thousand of these lists, so they have no room for the key.
    let def = &terms.table.def;
    let of_key = def.partition_key.len() + def.clustering.len();
    let mut operations: Vec<ColumnOperation> = Vec::with_capacity(columns.len().saturating_sub(of_key));
    let mut seen = HashSet::with_capacity(columns.len());
    for (name, term) in columns.iter().zip(values) {
        let column = known(terms, name)?;
        if !seen.insert(name) {
            return invalid(format!("Multiple definitions found for column {name}"));
        }
        if is_key(column) {
            keys.set(column, terms.of_column(term, column)?)?;
        } else {
            operations.push(ColumnOperation::set(term, column, terms)?);
        }
    }
    Ok((ModifyKind::Insert, ChangedKeys::Listed(keys), operations))
}

pub(super) fn update(
    state: &QueryState<'_>,
    assignments: &[Assignment],
    relations: &[Relation],
    terms: &mut Terms<'_>,
) -> Result<Body> {
    let mut operations = Vec::with_capacity(assignments.len());
    for assignment in assignments {
        let column = known(terms, &assignment.column)?;
        // Releases in which fields can be set check the key first.
        let is_field = matches!(assignment.operation, Operation::SetField { .. });
        let in_key = || CqlError::invalid(format!("PRIMARY KEY part {} found in SET part", column.name));
        if is_key(column) && is_field {
            return Err(in_key());
        }
        let operation = ColumnOperation::assign(&assignment.operation, column, terms)?;
        if is_key(column) {
            return Err(in_key());
        }
        operations.push(operation);
    }
    let keys = ChangedKeys::of_where(state, ModifyKind::Update, relations, terms)?;
    Ok((ModifyKind::Update, keys, operations))
}

pub(super) fn delete(
    state: &QueryState<'_>,
    deletions: &[Deletion],
    relations: &[Relation],
    terms: &mut Terms<'_>,
) -> Result<Body> {
    let mut operations = Vec::with_capacity(deletions.len());
    for deletion in deletions {
        let column = known(terms, &deletion.column)?;
        if is_key(column) {
            return invalid(format!(
                "Invalid identifier {} for deletion (should not be a PRIMARY KEY part)",
                column.name
            ));
        }
        operations.push(ColumnOperation::delete(deletion, column, terms)?);
    }
    let keys = ChangedKeys::of_where(state, ModifyKind::Delete, relations, terms)?;
    Ok((ModifyKind::Delete, keys, operations))
}
