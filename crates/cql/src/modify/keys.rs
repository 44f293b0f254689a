//! The rows that a statement changes: the restrictions on the primary key.

use std::collections::HashSet;

use bytes::Bytes;

use super::terms::Terms;
use crate::error::invalid;
use crate::relation_text::relation_text;
use crate::select::{BoundValues, Operands, present};
use crate::values::{Combinations, TypedTerm, Value, checked_row_key};
use crate::{CqlError, Result, Table};
use base::compat::features::releases::NEWEST;
use base::compat::{Line, texts};
use base::schema::{ColumnKind, TableColumn, TableDef};
use base::util::Release;
use cql_syntax::{Operator, Relation, operator_text};

/// The restriction on one partition key column.
#[derive(Debug)]
enum KeyPart {
    Eq(TypedTerm),
    In(Box<Operands>),
}

/// The restrictions on the columns of the primary key.
#[derive(Debug)]
pub(super) struct Keys {
    partition: Vec<Option<KeyPart>>,
    clustering: Vec<Option<TypedTerm>>,
    /// Whether any column of the partition key may have an IN.
    has_in_anywhere: bool,
}

impl Keys {
    pub(super) fn new(def: &TableDef, has_in_anywhere: bool) -> Keys {
        Keys {
            has_in_anywhere,
            partition: def.partition_key.iter().map(|_| None).collect(),
            clustering: def.clustering.iter().map(|_| None).collect(),
        }
    }

    /// Whether any clustering column is given.
    pub(super) fn has_clustering(&self) -> bool {
        self.clustering.iter().any(Option::is_some)
    }

    pub(super) fn has_clustering_at(&self, position: usize) -> bool {
        self.clustering.get(position).is_some_and(Option::is_some)
    }

    pub(super) fn has_partition_at(&self, position: usize) -> bool {
        self.partition.get(position).is_some_and(Option::is_some)
    }

    /// Sets the value of a primary key column.
    pub(super) fn set(&mut self, column: &TableColumn, value: TypedTerm) -> Result<()> {
        self.put(column, KeyPart::Eq(value))
    }

    fn put(&mut self, column: &TableColumn, part: KeyPart) -> Result<()> {
        let is_new = match (column.kind, part) {
            (ColumnKind::PartitionKey, part) => {
                self.partition.get_mut(column.position).is_some_and(|place| place.replace(part).is_none())
            }
            (_, KeyPart::Eq(value)) => {
                self.clustering.get_mut(column.position).is_some_and(|place| place.replace(value).is_none())
            }
            _ => false,
        };
        if is_new {
            return Ok(());
        }
        invalid(format!("Multiple definitions found for PRIMARY KEY part {}", column.name))
    }

    /// Takes the restrictions from the WHERE clause of an UPDATE or DELETE.
    pub(super) fn restrict(
        &mut self,
        relations: &[Relation],
        table: &Table,
        terms: &mut Terms<'_>,
    ) -> Result<()> {
        for relation in relations {
            let (name, operator) = match relation {
                Relation::Column { column, operator, .. } => (column, Some(*operator)),
                Relation::In { column, .. } => (column, None),
                Relation::Columns { .. } | Relation::ColumnsIn { .. } => {
                    return invalid(format!(
                        "Multi-column relations cannot be used in WHERE clauses for UPDATE and DELETE statements: {}",
                        relation_text(relation, NEWEST)
                    ));
                }
                Relation::Token { .. } => {
                    return invalid(format!(
                        "The token function cannot be used in WHERE clauses for UPDATE and DELETE statements: {}",
                        relation_text(relation, NEWEST)
                    ));
                }
            };
            let Some(column) = table.def.column(name) else {
                return invalid(format!("Unknown key identifier {name}"));
            };
            if !matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Clustering) {
                return invalid(format!("Non PRIMARY KEY {name} found in where clause"));
            }
            let part = match relation {
                Relation::Column { value, operator: Operator::Eq, element: None, .. } => {
                    KeyPart::Eq(terms.of_column(value, column)?)
                }
                Relation::In { values, .. } if column.kind == ColumnKind::PartitionKey => {
                    let spec = terms.spec(column.name.clone(), column.cql_type.clone());
                    KeyPart::In(Box::new(Operands::of_column(values, &spec, &terms.scope, terms.markers)?))
                }
                _ => {
                    let operator = operator_word(operator, terms.scope.release);
                    return invalid(format!("Invalid operator {operator} for PRIMARY KEY part {name}"));
                }
            };
            self.put(column, part)?;
        }
        Ok(())
    }

    /// Returns the keys of the partitions.
    pub(super) fn row_keys(&self, def: &TableDef, line: Line, bound: BoundValues<'_>) -> Result<Vec<Bytes>> {
        let null_in_key = |column: &TableColumn| texts::null_in_partition_key(line, &column.name);
        let mut each = Combinations::default();
        for (at, (column, part)) in def.partition_key.iter().zip(&self.partition).enumerate() {
            let Some(part) = part else { return Err(missing(column)) };
            let values = match part {
                KeyPart::Eq(term) => match term.value(bound.options, bound.database)? {
                    Value::Single(value) => vec![value],
                    Value::Unset => return Err(unset(column)),
                    _ => return invalid(null_in_key(column)),
                },
                KeyPart::In(operands) => present(operands.column_values(bound)?, |_| null_in_key(column))?,
            };
            let may_be_several = self.has_in_anywhere || at + 1 == def.partition_key.len();
            if values.len() != 1 && !may_be_several {
                return invalid("IN is only supported on the last column of the partition key");
            }
            each = each.with(1, values)?;
        }
        if !self.has_in_anywhere {
            return each.into_row_keys();
        }
        let mut known = HashSet::new();
        each.iter().filter(|values| known.insert(*values)).map(checked_row_key).collect()
    }

    /// Returns the row's clustering values that are given; `needs_all` requires all of them.
    pub(super) fn clustering(
        &self,
        def: &TableDef,
        needs_all: bool,
        line: Line,
        bound: BoundValues<'_>,
    ) -> Result<Vec<Bytes>> {
        let mut values = Vec::with_capacity(self.clustering.len());
        let mut first_empty: Option<&TableColumn> = None;
        for (column, term) in def.clustering.iter().zip(&self.clustering) {
            match (term, first_empty) {
                (None, _) if needs_all => return Err(missing(column)),
                (None, _) => first_empty = first_empty.or(Some(column)),
                (Some(_), Some(empty)) => {
                    return invalid(format!(
                        "Missing PRIMARY KEY part {} since {} is set",
                        empty.name, column.name
                    ));
                }
                (Some(term), None) => match term.value(bound.options, bound.database)? {
                    Value::Single(value) => values.push(value),
                    Value::Unset => return Err(unset(column)),
                    _ => return invalid(texts::null_in_clustering(line, &column.name)),
                },
            }
        }
        Ok(values)
    }
}

fn unset(column: &TableColumn) -> CqlError {
    CqlError::invalid(format!("Invalid unset value for column {}", column.name))
}

fn missing(column: &TableColumn) -> CqlError {
    CqlError::invalid(format!("Missing mandatory PRIMARY KEY part {}", column.name))
}

/// Returns an operator as messages print it; `None` is IN.
pub(super) fn operator_word(operator: Option<Operator>, release: Release) -> &'static str {
    operator.map_or("IN", |operator| operator_text(operator, release))
}
