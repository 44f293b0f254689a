//! A term that knows what receives it.

use bytes::Bytes;

use crate::cql::syntax::{Term, TypeName};
use crate::cql::{ColumnSpec, CqlError, QueryOptions};
use crate::db::Database;
use crate::marshal::{CqlType, Types};
use crate::schema::KeyspaceDef;
use crate::util::Release;

/// A value of the type of what receives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Null,
    /// The bytes of one cell; a frozen collection too.
    Single(Bytes),
    /// Collections that are not frozen: the elements' bytes. A set's are in order and different, a map's by its keys.
    List(Vec<Bytes>),
    Set(Vec<Bytes>),
    Map(Vec<(Bytes, Bytes)>),
}

/// What the markers of a statement stand for, as far as it has been looked at.
#[derive(Debug, Clone, Default)]
pub struct Markers {
    pub specs: Vec<Option<ColumnSpec>>,
}

impl Markers {
    /// For a statement with so many markers.
    pub fn new(count: usize) -> Markers {
        Markers { specs: vec![None; count] }
    }

    /// Says what a marker stands for.
    pub fn set(&mut self, at: usize, spec: ColumnSpec) {
        if let Some(place) = self.specs.get_mut(at) {
            *place = Some(spec);
        }
    }
}

/// Where the names of types are looked up.
#[derive(Clone, Copy)]
pub struct TypeScope<'a> {
    /// The keyspace of the table that is meant: its types may be named.
    pub keyspace: &'a KeyspaceDef,
    pub types: &'a Types,
    pub release: Release,
}

impl TypeScope<'_> {
    /// The type of a name.
    pub fn resolve(&self, name: &TypeName) -> Result<CqlType, CqlError> {
        Err(CqlError::invalid(format!("Unknown type {name:?}")))
    }
}

/// A term that has been checked against what receives it.
#[derive(Debug, Clone)]
pub struct TypedTerm {
    value: Value,
}

impl TypedTerm {
    /// Checks a term; its markers get to know what they stand for.
    pub fn new(
        term: &Term,
        receiver: &ColumnSpec,
        _scope: &TypeScope<'_>,
        _markers: &mut Markers,
    ) -> Result<TypedTerm, CqlError> {
        Err(CqlError::invalid(format!("{term:?} for {}", receiver.name)))
    }

    /// What it is in one execution.
    pub fn value(&self, _options: &QueryOptions, _database: &Database) -> Result<Value, CqlError> {
        Ok(self.value.clone())
    }
}
