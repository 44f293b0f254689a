//! The operations of a statement on one column.

use super::terms::Terms;
use crate::error::invalid;
use crate::values::{TypedTerm, term_text};
use crate::{CqlError, Result};
use base::compat::Behaviour;
use base::marshal::CqlType;
use base::schema::{ColumnKind, TableColumn};
use cql_syntax::{Deletion, Operation, Part, Term};

/// The kind of an operation, by how it writes cells.
#[derive(Debug)]
pub(super) enum Action {
    /// Sets the column to a value.
    Set(TypedTerm),
    /// Increments or decrements a counter.
    Count {
        by: TypedTerm,
        is_negative: bool,
    },
    /// Appends elements to a list.
    Append(TypedTerm),
    /// Prepends elements to a list.
    Prepend(TypedTerm),
    /// Removes from a list all elements that are equal to one of these.
    Discard(TypedTerm),
    /// Sets the list element at an index.
    SetIndex {
        index: TypedTerm,
        value: TypedTerm,
    },
    DeleteIndex(TypedTerm),
    /// Adds elements to a set or map.
    Put(TypedTerm),
    /// Removes elements from a set, or keys from a map.
    Remove(TypedTerm),
    /// Sets the value of a map key.
    SetKey {
        key: TypedTerm,
        value: TypedTerm,
    },
    /// Deletes one element of a set, or one key of a map.
    DeleteKey {
        key: TypedTerm,
        null_text: &'static str,
    },
    /// Sets the field at a position of a user-defined type.
    SetField {
        at: usize,
        value: TypedTerm,
    },
    /// Deletes the field at a position.
    DeleteField(usize),
    /// Deletes the whole column.
    Delete,
}

/// An action on a column.
#[derive(Debug)]
pub(super) struct ColumnOperation {
    pub column: TableColumn,
    pub action: Action,
}

/// The kind of a column, as far as operations differ by it.
enum Shape<'t> {
    Counter,
    Value,
    Frozen,
    List(&'t CqlType),
    Set(&'t CqlType),
    Map(&'t CqlType, &'t CqlType),
}

fn shape(cql_type: &CqlType) -> Shape<'_> {
    match cql_type {
        CqlType::List { is_frozen: true, .. }
        | CqlType::Set { is_frozen: true, .. }
        | CqlType::Map { is_frozen: true, .. } => Shape::Frozen,
        CqlType::List { element, .. } => Shape::List(element),
        CqlType::Set { element, .. } => Shape::Set(element),
        CqlType::Map { key, value, .. } => Shape::Map(key, value),
        other if other.is_counter() => Shape::Counter,
        _ => Shape::Value,
    }
}

/// Returns the error for an operation that a column does not support. `what` is the kind of the column.
fn refused<T>(operation: &Operation, what: &str, column: &TableColumn) -> Result<T> {
    let name = &column.name;
    let text = match operation {
        Operation::Set(term) => format!("{name} = {}", term_text(term)),
        Operation::SetElement { key, value } => format!("{name}[{}] = {}", term_text(key), term_text(value)),
        Operation::SetField { field, value } => format!("{name}.{field} = {}", term_text(value)),
        Operation::Add(term) => format!("{name} = {name} + {}", term_text(term)),
        Operation::Subtract(term) => format!("{name} = {name} - {}", term_text(term)),
        // The minus sign is Cassandra's.
        Operation::Prepend(term) => format!("{name} = {} - {name}", term_text(term)),
    };
    invalid(format!("Invalid operation ({text}) for {what} column {name}"))
}

fn unknown_field(field: &str, column: &TableColumn) -> CqlError {
    CqlError::invalid(format!("UDT column {} does not have a field named {field}", column.name))
}

/// Returns the position of a field that a DELETE names.
fn deleted_field(field: &str, column: &TableColumn) -> Result<usize> {
    match &column.cql_type {
        CqlType::User { user, is_frozen: false } => {
            user.place_of(field).ok_or_else(|| unknown_field(field, column))
        }
        CqlType::User { .. } => {
            invalid(format!("Frozen UDT column {} does not support field deletions", column.name))
        }
        _ => invalid(format!("Invalid field deletion operation for non-UDT column {}", column.name)),
    }
}

impl ColumnOperation {
    /// Analyzes `column = term`, also of an INSERT.
    pub(super) fn set(term: &Term, column: &TableColumn, terms: &mut Terms<'_>) -> Result<ColumnOperation> {
        let value = terms.of_column(term, column)?;
        if column.cql_type.is_counter() {
            return invalid(format!(
                "Cannot set the value of counter column {} (counters can only be incremented/decremented, not set)",
                column.name
            ));
        }
        Ok(ColumnOperation { column: column.clone(), action: Action::Set(value) })
    }

    /// Analyzes one assignment of an UPDATE.
    pub(super) fn assign(
        operation: &Operation,
        column: &TableColumn,
        terms: &mut Terms<'_>,
    ) -> Result<ColumnOperation> {
        let name = &column.name;
        let action = match operation {
            Operation::Set(term) => return ColumnOperation::set(term, column, terms),
            Operation::SetElement { key, value } => match shape(&column.cql_type) {
                Shape::Counter | Shape::Value => return refused(operation, "non collection", column),
                Shape::Frozen => return refused(operation, "frozen collection", column),
                Shape::Set(_) => return refused(operation, "set", column),
                Shape::List(element) => Action::SetIndex {
                    index: terms.index(key, column)?,
                    value: terms.element(value, column, element)?,
                },
                Shape::Map(of_keys, of_values) => Action::SetKey {
                    key: terms.key(key, column, of_keys)?,
                    value: terms.element(value, column, of_values)?,
                },
            },
            Operation::SetField { field, value } => {
                let CqlType::User { user, is_frozen } = &column.cql_type else {
                    return refused(operation, "non-UDT", column);
                };
                if *is_frozen {
                    return refused(operation, "frozen UDT", column);
                }
                let at = user.place_of(field).ok_or_else(|| unknown_field(field, column))?;
                let of_field = user.fields[at].1.clone();
                Action::SetField { at, value: terms.named(value, format!("{name}.{field}"), of_field)? }
            }
            Operation::Add(term) => {
                let value = terms.of_column(term, column)?;
                match shape(&column.cql_type) {
                    Shape::Value => return refused(operation, "non counter", column),
                    Shape::Counter => Action::Count { by: value, is_negative: false },
                    Shape::Frozen => return refused(operation, "frozen collection", column),
                    Shape::List(_) => Action::Append(value),
                    Shape::Set(_) | Shape::Map(..) => Action::Put(value),
                }
            }
            Operation::Subtract(term) => Self::subtract(operation, term, column, terms)?,
            Operation::Prepend(term) => {
                let value = terms.of_column(term, column)?;
                match (shape(&column.cql_type), &column.cql_type) {
                    (Shape::List(_), _) => Action::Prepend(value),
                    (_, CqlType::List { .. }) => return refused(operation, "frozen list", column),
                    _ => return refused(operation, "non list", column),
                }
            }
        };
        Ok(ColumnOperation { column: column.clone(), action })
    }

    fn subtract(
        operation: &Operation,
        term: &Term,
        column: &TableColumn,
        terms: &mut Terms<'_>,
    ) -> Result<Action> {
        match shape(&column.cql_type) {
            Shape::Value => refused(operation, "non counter", column),
            Shape::Counter => Ok(Action::Count { by: terms.of_column(term, column)?, is_negative: true }),
            Shape::Frozen => refused(operation, "frozen collection", column),
            Shape::List(_) => Ok(Action::Discard(terms.of_column(term, column)?)),
            Shape::Set(_) => Ok(Action::Remove(terms.of_column(term, column)?)),
            Shape::Map(..) if !Behaviour::of(terms.scope.release).cql.maps_lose_keys => {
                terms.of_column(term, column)?;
                refused(operation, "map", column)
            }
            Shape::Map(key, _) => {
                let keys = CqlType::Set { element: Box::new(key.clone()), is_frozen: false };
                Ok(Action::Remove(terms.named(term, column.name.clone(), keys)?))
            }
        }
    }

    /// Analyzes one column, element or field in a DELETE.
    pub(super) fn delete(
        deletion: &Deletion,
        column: &TableColumn,
        terms: &mut Terms<'_>,
    ) -> Result<ColumnOperation> {
        let refused =
            |what: &str| invalid(format!("Invalid deletion operation for {what} column {}", column.name));
        let element = match &deletion.part {
            None => None,
            Some(Part::Element(element)) => Some(element),
            Some(Part::Field(field)) => {
                let action = Action::DeleteField(deleted_field(field, column)?);
                return Ok(ColumnOperation { column: column.clone(), action });
            }
        };
        let action = match (element, shape(&column.cql_type)) {
            (None, _) => Action::Delete,
            (Some(_), Shape::Counter | Shape::Value) => return refused("non collection"),
            (Some(_), Shape::Frozen) => return refused("frozen collection"),
            (Some(index), Shape::List(_)) => Action::DeleteIndex(terms.index(index, column)?),
            (Some(element), Shape::Set(of_elements)) => Action::DeleteKey {
                key: terms.element(element, column, of_elements)?,
                null_text: "Invalid null set element",
            },
            (Some(key), Shape::Map(of_keys, _)) => {
                Action::DeleteKey { key: terms.key(key, column, of_keys)?, null_text: "Invalid null map key" }
            }
        };
        Ok(ColumnOperation { column: column.clone(), action })
    }

    pub(super) fn is_static(&self) -> bool {
        self.column.kind == ColumnKind::Static
    }

    /// Whether the list must be read first.
    pub(super) fn reads_list(&self) -> bool {
        matches!(self.action, Action::Discard(_) | Action::SetIndex { .. } | Action::DeleteIndex(_))
    }
}
