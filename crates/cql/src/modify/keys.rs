//! The rows that a statement changes: the restrictions on the primary key.

use std::collections::HashSet;

use bytes::Bytes;

use super::terms::Terms;
use crate::values::{Combinations, TypedTerm, Value, term_text};
use crate::{CqlError, QueryOptions, Table};
use base::compat::features::releases::NEWEST;
use base::compat::texts;
use base::schema::{ColumnKind, TableColumn, TableDef, row_key};
use base::util::Release;
use cql_syntax::{InValues, Operator, Relation, operator_text};
use db::Database;
use db::limits::NAME_BYTES_MAX;

/// The row, or rows, of a partition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Prefix {
    /// The static columns.
    Static,
    /// The row with these clustering values. With fewer values than clustering columns: all rows with this prefix.
    Row(Vec<Bytes>),
    /// The rows whose cells have names from `start` to `finish`, which a DELETE of 3.0 and later can have. An empty bound
    /// is open.
    Range { start: Bytes, finish: Bytes },
}

/// The restriction on one partition key column.
#[derive(Debug)]
enum Part {
    Eq(TypedTerm),
    In(Vec<TypedTerm>),
    InMarker(TypedTerm),
}

/// The restrictions on the columns of the primary key.
#[derive(Debug)]
pub(super) struct Keys {
    partition: Vec<Option<Part>>,
    clustering: Vec<Option<TypedTerm>>,
    /// Whether any column of the partition key may have an IN.
    has_in_anywhere: bool,
}

impl Keys {
    pub fn new(def: &TableDef, has_in_anywhere: bool) -> Keys {
        Keys {
            has_in_anywhere,
            partition: def.partition_key.iter().map(|_| None).collect(),
            clustering: def.clustering.iter().map(|_| None).collect(),
        }
    }

    /// Whether any clustering column is given.
    pub fn has_clustering(&self) -> bool {
        self.clustering.iter().any(Option::is_some)
    }

    pub fn has_clustering_at(&self, position: usize) -> bool {
        self.clustering.get(position).is_some_and(Option::is_some)
    }

    pub fn has_partition_at(&self, position: usize) -> bool {
        self.partition.get(position).is_some_and(Option::is_some)
    }

    /// Sets the value of a primary key column.
    pub fn set(&mut self, column: &TableColumn, value: TypedTerm) -> Result<(), CqlError> {
        self.put(column, Part::Eq(value))
    }

    fn put(&mut self, column: &TableColumn, part: Part) -> Result<(), CqlError> {
        let is_new = match (column.kind, part) {
            (ColumnKind::PartitionKey, part) => {
                self.partition.get_mut(column.position).is_some_and(|place| place.replace(part).is_none())
            }
            (_, Part::Eq(value)) => {
                self.clustering.get_mut(column.position).is_some_and(|place| place.replace(value).is_none())
            }
            _ => false,
        };
        if is_new {
            return Ok(());
        }
        Err(CqlError::invalid(format!("Multiple definitions found for PRIMARY KEY part {}", column.name)))
    }

    /// Takes the restrictions from the WHERE clause of an UPDATE or DELETE.
    pub fn restrict(
        &mut self,
        relations: &[Relation],
        table: &Table,
        terms: &mut Terms<'_>,
    ) -> Result<(), CqlError> {
        for relation in relations {
            let (name, operator) = match relation {
                Relation::Column { column, operator, .. } => (column, Some(*operator)),
                Relation::In { column, .. } => (column, None),
                Relation::Columns { .. } | Relation::ColumnsIn { .. } => {
                    return Err(CqlError::invalid(format!(
                        "Multi-column relations cannot be used in WHERE clauses for UPDATE and DELETE statements: {}",
                        relation_text(relation)
                    )));
                }
                Relation::Token { .. } => {
                    return Err(CqlError::invalid(format!(
                        "The token function cannot be used in WHERE clauses for UPDATE and DELETE statements: {}",
                        relation_text(relation)
                    )));
                }
            };
            let Some(column) = table.def.column(name) else {
                return Err(CqlError::invalid(format!("Unknown key identifier {name}")));
            };
            if !matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Clustering) {
                return Err(CqlError::invalid(format!("Non PRIMARY KEY {name} found in where clause")));
            }
            let part = match relation {
                Relation::Column { value, operator: Operator::Eq, element: None, .. } => {
                    Part::Eq(terms.of_column(value, column)?)
                }
                Relation::In { values, .. } if column.kind == ColumnKind::PartitionKey => match values {
                    InValues::Marker(at) => {
                        Part::InMarker(terms.in_marker(*at, &column.name, column.cql_type.clone())?)
                    }
                    InValues::List(list) => {
                        let typed = list.iter().map(|term| terms.of_column(term, column));
                        Part::In(typed.collect::<Result<_, _>>()?)
                    }
                },
                _ => {
                    let operator = operator_word(operator, terms.scope.release);
                    return Err(CqlError::invalid(format!(
                        "Invalid operator {operator} for PRIMARY KEY part {name}"
                    )));
                }
            };
            self.put(column, part)?;
        }
        Ok(())
    }

    /// Returns the keys of the partitions.
    pub fn row_keys(
        &self,
        def: &TableDef,
        options: &QueryOptions,
        database: &Database,
    ) -> Result<Vec<Bytes>, CqlError> {
        if self.has_in_anywhere {
            return self.all_row_keys(def, options, database);
        }
        let mut values = Vec::with_capacity(self.partition.len());
        for (at, (column, part)) in def.partition_key.iter().zip(&self.partition).enumerate() {
            let Some(part) = part else { return Err(missing(column)) };
            let is_last = at + 1 == def.partition_key.len();
            if let Part::Eq(term) = part {
                values.push(key_value(term, column, options, database)?);
                continue;
            }
            let several = part.values(column, options, database)?;
            if is_last {
                let each = Combinations::default().with(values.len(), values)?.with(1, several)?;
                return each.iter().map(checked_key).collect();
            }
            let Ok([value]) = <[Bytes; 1]>::try_from(several) else {
                return Err(CqlError::invalid(
                    "IN is only supported on the last column of the partition key",
                ));
            };
            values.push(value);
        }
        Ok(vec![checked_key(&values)?])
    }

    /// Returns the keys of all combinations of values, each once.
    fn all_row_keys(
        &self,
        def: &TableDef,
        options: &QueryOptions,
        database: &Database,
    ) -> Result<Vec<Bytes>, CqlError> {
        let mut each = Combinations::default();
        for (column, part) in def.partition_key.iter().zip(&self.partition) {
            let Some(part) = part else { return Err(missing(column)) };
            each = each.with(1, part.values(column, options, database)?)?;
        }
        let mut known = HashSet::new();
        each.iter().filter(|values| known.insert(*values)).map(checked_key).collect()
    }

    /// Returns the row's clustering values that are given; `needs_all` requires all of them.
    pub fn clustering(
        &self,
        def: &TableDef,
        needs_all: bool,
        options: &QueryOptions,
        database: &Database,
    ) -> Result<Vec<Bytes>, CqlError> {
        let mut values = Vec::with_capacity(self.clustering.len());
        let mut first_empty: Option<&TableColumn> = None;
        for (column, term) in def.clustering.iter().zip(&self.clustering) {
            match (term, first_empty) {
                (None, _) if needs_all => return Err(missing(column)),
                (None, _) => first_empty = first_empty.or(Some(column)),
                (Some(_), Some(empty)) => {
                    return Err(CqlError::invalid(format!(
                        "Missing PRIMARY KEY part {} since {} is set",
                        empty.name, column.name
                    )));
                }
                (Some(term), None) => match term.value(options, database)? {
                    Value::Single(value) => values.push(value),
                    Value::Unset => return Err(unset(column)),
                    _ => {
                        return Err(CqlError::invalid(format!(
                            "Invalid null value for clustering key part {}",
                            column.name
                        )));
                    }
                },
            }
        }
        Ok(values)
    }
}

impl Part {
    fn values(
        &self,
        column: &TableColumn,
        options: &QueryOptions,
        database: &Database,
    ) -> Result<Vec<Bytes>, CqlError> {
        let single = |term: &TypedTerm| key_value(term, column, options, database);
        match self {
            Part::Eq(term) => Ok(vec![single(term)?]),
            Part::In(terms) => terms.iter().map(single).collect(),
            Part::InMarker(term) => match term.value(options, database)? {
                Value::List(values) => Ok(values),
                Value::Unset => Err(unset(column)),
                _ => Err(CqlError::invalid("Invalid null value for IN restriction")),
            },
        }
    }
}

fn key_value(
    term: &TypedTerm,
    column: &TableColumn,
    options: &QueryOptions,
    database: &Database,
) -> Result<Bytes, CqlError> {
    match term.value(options, database)? {
        Value::Single(value) => Ok(value),
        Value::Unset => Err(unset(column)),
        _ => Err(CqlError::invalid(format!("Invalid null value for partition key part {}", column.name))),
    }
}

fn unset(column: &TableColumn) -> CqlError {
    CqlError::invalid(format!("Invalid unset value for column {}", column.name))
}

fn missing(column: &TableColumn) -> CqlError {
    CqlError::invalid(format!("Missing mandatory PRIMARY KEY part {}", column.name))
}

fn checked_key(values: &[Bytes]) -> Result<Bytes, CqlError> {
    let length = match values {
        [value] => value.len(),
        values => values.iter().map(|value| value.len() + 3).sum(),
    };
    if length == 0 {
        return Err(CqlError::invalid(texts::empty_key(NEWEST)));
    }
    if length > NAME_BYTES_MAX {
        return Err(CqlError::invalid(texts::long_key(NEWEST, length, NAME_BYTES_MAX)));
    }
    Ok(row_key(values))
}

/// Returns an operator as messages print it; `None` is IN.
pub(super) fn operator_word(operator: Option<Operator>, release: Release) -> &'static str {
    operator.map_or("IN", |operator| operator_text(operator, release))
}

/// Returns a relation on several columns, or on their token, as messages print it.
fn relation_text(relation: &Relation) -> String {
    let list = |values: &InValues| match values {
        InValues::Marker(_) => "?".to_owned(),
        InValues::List(terms) => format!("({})", terms.iter().map(term_text).collect::<Vec<_>>().join(", ")),
    };
    let compared = |columns: &[String], operator: Operator, value| {
        let sign = operator_text(operator, NEWEST);
        format!("({}) {sign} {}", columns.join(", "), term_text(value))
    };
    match relation {
        Relation::Columns { columns, operator, value } => compared(columns, *operator, value),
        Relation::ColumnsIn { columns, values } => format!("({}) IN {}", columns.join(", "), list(values)),
        Relation::Token { columns, operator, value } => {
            format!("token{}", compared(columns, *operator, value))
        }
        Relation::Column { column, operator, value, .. } => {
            format!("{column} {} {}", operator_text(*operator, NEWEST), term_text(value))
        }
        Relation::In { column, values } => format!("{column} IN {}", list(values)),
    }
}
