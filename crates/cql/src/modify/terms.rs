//! Types the terms of one statement.

use crate::values::{Markers, TypeScope, TypedTerm};
use crate::{ColumnSpec, Result, Table};
use base::marshal::{CqlType, Native};
use base::schema::TableColumn;
use cql_syntax::Term;

/// Gives terms the types of their receivers, and markers their names.
pub(super) struct Terms<'a> {
    pub table: &'a Table,
    pub scope: TypeScope<'a>,
    pub markers: &'a mut Markers,
}

impl Terms<'_> {
    /// Types a value for a column.
    pub(super) fn of_column(&mut self, term: &Term, column: &TableColumn) -> Result<TypedTerm> {
        self.named(term, column.name.clone(), column.cql_type.clone())
    }

    /// Types a value with a name of its own, such as `[ttl]`.
    pub(super) fn named(&mut self, term: &Term, name: String, cql_type: CqlType) -> Result<TypedTerm> {
        let spec = self.spec(name, cql_type);
        TypedTerm::new(term, &spec, &self.scope, self.markers)
    }

    /// Returns the specification of a value's receiver.
    pub(super) fn spec(&self, name: String, cql_type: CqlType) -> ColumnSpec {
        let (keyspace, table) = (self.table.cf.keyspace.clone(), self.table.cf.name.clone());
        ColumnSpec { keyspace, table, name, cql_type, is_field: false }
    }

    /// Types the one marker for all values of an IN.
    pub(super) fn in_marker(&mut self, at: usize, name: &str, of: CqlType) -> Result<TypedTerm> {
        let element = match of {
            CqlType::List { element, .. } => CqlType::List { element, is_frozen: true },
            CqlType::Set { element, .. } => CqlType::Set { element, is_frozen: true },
            CqlType::Map { key, value, .. } => CqlType::Map { key, value, is_frozen: true },
            CqlType::User { user, .. } => CqlType::frozen_user(user),
            other => other,
        };
        let list = CqlType::List { element: Box::new(element), is_frozen: false };
        self.named(&Term::Marker(at), format!("in({name})"), list)
    }

    /// Types the key or index of a collection element.
    pub(super) fn key(&mut self, term: &Term, column: &TableColumn, key_type: &CqlType) -> Result<TypedTerm> {
        self.named(term, format!("key({})", column.name), key_type.clone())
    }

    pub(super) fn index(&mut self, term: &Term, column: &TableColumn) -> Result<TypedTerm> {
        self.named(term, format!("idx({})", column.name), CqlType::Native(Native::Int))
    }

    pub(super) fn element(
        &mut self,
        term: &Term,
        column: &TableColumn,
        element: &CqlType,
    ) -> Result<TypedTerm> {
        self.named(term, format!("value({})", column.name), element.clone())
    }
}
