//! The partitions and rows that a statement changes.

use super::keys::Keys;
use super::kind::ModifyKind;
use super::terms::Terms;
use crate::select::ChangedRows;
use crate::{QueryState, Result};
use base::compat::features::restrictions::{CHANGES_OF_SEVERAL_ROWS, IN_ON_ANY_KEY_COLUMN};
use cql_syntax::Relation;

/// The ways in which a statement specifies its rows.
#[derive(Debug)]
pub(super) enum ChangedKeys {
    /// By the values of key columns: in an INSERT, and up to 2.2 in all statements.
    Listed(Keys),
    /// By a WHERE clause of 3.0 and later.
    Restricted(Box<ChangedRows>),
}

impl ChangedKeys {
    /// Analyzes the WHERE clause of an UPDATE or DELETE.
    pub(super) fn of_where(
        state: &QueryState<'_>,
        kind: ModifyKind,
        relations: &[Relation],
        terms: &mut Terms<'_>,
    ) -> Result<ChangedKeys> {
        let table = terms.table;
        if !state.has(CHANGES_OF_SEVERAL_ROWS) {
            let mut keys = Keys::new(&table.def, state.has(IN_ON_ANY_KEY_COLUMN));
            keys.restrict(relations, table, terms)?;
            return Ok(ChangedKeys::Listed(keys));
        }
        let scope = terms.scope;
        let rows = ChangedRows::new(state, table, kind.word(), relations, scope, &mut *terms.markers)?;
        Ok(ChangedKeys::Restricted(Box::new(rows)))
    }
}
