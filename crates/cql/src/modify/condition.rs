//! The conditions of IF on single columns.

use std::cmp::Ordering;

use bytes::Bytes;

use super::current::{CurrentRow, Element, collection_bytes};
use super::row_writer::index_of;
use super::terms::Terms;
use crate::error::invalid;
use crate::values::{TypedTerm, Value};
use crate::{CqlError, QueryOptions, Result};
use base::compat::features::releases::NEWEST;
use base::compat::texts;
use base::marshal;
use base::marshal::{
    CollectionForm, CqlType, TypeRef, list_from_bytes, map_from_bytes, tuple_from_bytes, tuple_to_bytes,
};
use base::schema::{ColumnKind, TableColumn, TableDef};
use base::util::{Release, bucket_of_pair};
use cql_syntax::{Condition, InValues, Operator, Part, Term, Test, operator_text};
use db::Database;

/// The right side of a condition on a column or on one of its elements.
#[derive(Debug)]
enum Comparand {
    Compare(Operator, TypedTerm),
    In(Vec<TypedTerm>),
    InMarker(TypedTerm),
}

/// The part of a column's value that a condition compares.
#[derive(Debug)]
enum ComparedPart {
    /// The element of a collection at an index or key.
    Element(TypedTerm),
    /// The field of a user-defined type at a position.
    Field(usize),
}

/// One condition.
#[derive(Debug)]
pub(super) struct ColumnCondition {
    pub column: TableColumn,
    /// `None`: the whole value.
    part: Option<ComparedPart>,
    wanted: Comparand,
    /// The type that compares the values, or the elements of a collection; `names` is the type of the element names.
    values: TypeRef,
    names: TypeRef,
}

/// The context in which a condition is checked.
#[derive(Clone, Copy)]
pub(super) struct ConditionContext<'a> {
    pub def: &'a TableDef,
    pub options: &'a QueryOptions,
    pub database: &'a Database,
    pub release: Release,
}

impl ColumnCondition {
    pub(super) fn new(condition: &Condition, terms: &mut Terms<'_>) -> Result<ColumnCondition> {
        let Some(column) = terms.table.def.column(&condition.column) else {
            return invalid(texts::unknown_in_if(terms.scope.line, &condition.column));
        };
        let column = column.clone();
        let part = match &condition.part {
            None => None,
            Some(Part::Element(term)) => Some(ComparedPart::Element(compared_element(term, &column, terms)?)),
            Some(Part::Field(field)) => Some(ComparedPart::Field(compared_field(field, &column)?)),
        };
        // A frozen collection is one value, unless the condition is on one of its elements.
        let has_parts = column.cql_type.is_multi_cell() || part.is_some();
        let of_values = match (&column.cql_type, &part) {
            (CqlType::List { element, .. } | CqlType::Set { element, .. }, _) if has_parts => element,
            (CqlType::Map { value, .. }, _) if has_parts => value,
            (CqlType::User { user, .. }, Some(ComparedPart::Field(at))) => &user.fields[*at].1,
            (other, _) => other,
        }
        .clone();
        let of_names = match &column.cql_type {
            CqlType::Set { element, .. } if has_parts => (**element).clone(),
            CqlType::Map { key, .. } if has_parts => (**key).clone(),
            _ => of_values.clone(),
        };
        let name = match (&condition.part, &part) {
            (Some(Part::Field(field)), _) => format!("{}.{field}", column.name),
            (_, Some(_)) => format!("value({})", column.name),
            _ => column.name.clone(),
        };
        let of_part = if part.is_some() { of_values.clone() } else { column.cql_type.clone() };
        let mut typed = |term: &Term| terms.named(term, name.clone(), of_part.clone());
        let wanted = match &condition.test {
            Test::Compare(operator, term) => Comparand::Compare(*operator, typed(term)?),
            Test::In(InValues::List(list)) => {
                Comparand::In(list.iter().map(typed).collect::<Result<_, _>>()?)
            }
            Test::In(InValues::Marker(at)) => {
                let name = match part {
                    Some(ComparedPart::Field(_)) => name,
                    _ => column.name.clone(),
                };
                Comparand::InMarker(terms.in_marker(*at, &name, of_part)?)
            }
        };
        if matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Clustering) {
            return invalid(format!("PRIMARY KEY column '{}' cannot have IF conditions", column.name));
        }
        if let Comparand::Compare(operator, _) = &wanted
            && !matches!(operator, Operator::Eq | Operator::Neq)
            && of_values.has_durations()
        {
            return invalid(match &of_values {
                CqlType::User { .. } => "Slice conditions are not supported on UDTs containing durations",
                _ => "Slice conditions are not supported on durations",
            });
        }
        let types = terms.scope.types;
        let (values, names) = (of_values.type_ref(types), of_names.type_ref(types));
        Ok(ColumnCondition { column, part, wanted, values, names })
    }

    pub(super) fn is_static(&self) -> bool {
        self.column.kind == ColumnKind::Static
    }

    /// Returns where the condition is in Cassandra's map of conditions, by its column and the element that it is on.
    pub(super) fn bucket(&self, testing: ConditionContext<'_>) -> u32 {
        let element = match &self.part {
            Some(ComparedPart::Element(term)) => term.value(testing.options, testing.database).ok(),
            _ => None,
        };
        let element = match &element {
            Some(Value::Single(bytes)) => Some(&bytes[..]),
            _ => None,
        };
        bucket_of_pair(self.column.name.as_bytes(), element)
    }

    /// Checks whether a row meets the condition.
    pub(super) fn holds(&self, row: &CurrentRow, testing: ConditionContext<'_>) -> Result<bool> {
        let value = |term: &TypedTerm| match term.value(testing.options, testing.database)? {
            Value::Unset => invalid("Invalid 'unset' value in condition"),
            Value::Fields(fields) => Ok(Value::Single(tuple_to_bytes(&fields))),
            value => Ok(value),
        };
        let is_collection = self.part.is_none() && self.column.cql_type.is_multi_cell_collection();
        let elements = match (&self.part, self.column.cql_type.is_multi_cell_collection()) {
            (_, true) => row.elements(testing.def, &self.column),
            (Some(ComparedPart::Element(_)), false) => {
                self.frozen_elements(row.single(testing.def, &self.column))
            }
            (_, false) => Vec::new(),
        };
        let found = match &self.part {
            Some(ComparedPart::Element(element)) => {
                self.element_of(&elements, &value(element)?, testing.release)?
            }
            Some(ComparedPart::Field(at)) => {
                let whole = row.value(testing.def, &self.column);
                whole.and_then(|whole| tuple_from_bytes(&whole)?.get(*at).cloned().flatten())
            }
            None if is_collection => collection_bytes(&self.column.cql_type, &elements),
            None => row.value(testing.def, &self.column),
        };
        let compare = |operator: Operator, wanted: &Value| match is_collection {
            true => self.compare_elements(operator, &elements, wanted, testing.release),
            false => self.compare(operator, found.as_ref(), wanted, testing.release),
        };
        match &self.wanted {
            Comparand::Compare(operator, term) => compare(*operator, &value(term)?),
            Comparand::In(terms) => {
                for term in terms {
                    if compare(Operator::Eq, &value(term)?)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            // A collection inside a list is frozen; its bytes equal the bytes of the stored collection.
            Comparand::InMarker(term) => match value(term)? {
                Value::List(list) if is_collection => Ok(list.iter().any(|one| Some(one) == found.as_ref())),
                Value::List(list) => {
                    let comparator = marshal::at(&*self.values, testing.release);
                    let found = found.as_ref();
                    Ok(list
                        .iter()
                        .any(|one| found.is_some_and(|found| comparator.compare(found, one).is_eq())))
                }
                _ => invalid("Invalid null list in IN condition"),
            },
        }
    }

    /// Returns the elements of a frozen list or map.
    fn frozen_elements(&self, value: Option<Bytes>) -> Vec<Element> {
        let Some(value) = value else { return Vec::new() };
        let found = match &self.column.cql_type {
            CqlType::Map { .. } => map_from_bytes(&value, CollectionForm::Long),
            _ => list_from_bytes(&value, CollectionForm::Long)
                .map(|values| values.into_iter().map(|value| (Bytes::new(), value)).collect()),
        };
        found.unwrap_or_default()
    }

    /// Returns the element at an index of a list, or with a key of a map.
    fn element_of(&self, elements: &[Element], key: &Value, release: Release) -> Result<Option<Bytes>> {
        if matches!(self.column.cql_type, CqlType::List { .. }) {
            let Some(index) = index_of(key) else {
                return invalid("Invalid null value for list element access");
            };
            let Ok(at) = usize::try_from(index) else {
                return invalid(format!("Invalid negative list index {index}"));
            };
            return Ok(elements.get(at).map(|(_, value)| value.clone()));
        }
        let Value::Single(key) = key else {
            return invalid("Invalid null value for map element access");
        };
        let names = marshal::at(&*self.names, release);
        let found = elements.iter().find(|(name, _)| names.compare(name, key).is_eq());
        Ok(found.map(|(_, value)| value.clone()))
    }

    fn compare(
        &self,
        operator: Operator,
        found: Option<&Bytes>,
        wanted: &Value,
        release: Release,
    ) -> Result<bool> {
        match (found, wanted) {
            (Some(found), Value::Single(wanted)) => {
                Ok(is_so(operator, marshal::at(&*self.values, release).compare(found, wanted)))
            }
            (None, Value::Single(_)) => Ok(operator == Operator::Neq),
            (found, _) => is_null(operator, found.is_none()),
        }
    }

    /// Compares a collection with another one, element by element.
    fn compare_elements(
        &self,
        operator: Operator,
        elements: &[Element],
        wanted: &Value,
        release: Release,
    ) -> Result<bool> {
        let (names, values) = (marshal::at(&*self.names, release), marshal::at(&*self.values, release));
        let order = match wanted {
            Value::Unset | Value::Null | Value::Single(_) | Value::Fields(_) => {
                return is_null(operator, elements.is_empty());
            }
            Value::List(list) => in_order(elements, list, |found, one| values.compare(&found.1, one)),
            Value::Set(set) => in_order(elements, set, |found, one| names.compare(&found.0, one)),
            Value::Map(map) => in_order(elements, map, |found, one| {
                names.compare(&found.0, &one.0).then_with(|| values.compare(&found.1, &one.1))
            }),
        };
        Ok(is_so(operator, order))
    }
}

/// Types the index or key of a collection's element.
fn compared_element(term: &Term, column: &TableColumn, terms: &mut Terms<'_>) -> Result<TypedTerm> {
    let what = match &column.cql_type {
        CqlType::List { .. } => return terms.index(term, column),
        CqlType::Map { key, .. } => return terms.key(term, column, key),
        CqlType::Set { .. } => "set",
        _ => "non-collection",
    };
    invalid(format!("Invalid element access syntax for {what} column {}", column.name))
}

/// Returns the position of a field.
fn compared_field(field: &str, column: &TableColumn) -> Result<usize> {
    // Cassandra fails internally if the column has no user-defined type.
    let at = match &column.cql_type {
        CqlType::User { user, .. } => user.place_of(field),
        _ => None,
    };
    at.ok_or_else(|| CqlError::invalid(format!("Unknown field {field} for column {}", column.name)))
}

fn in_order<A, B>(left: &[A], right: &[B], compare: impl Fn(&A, &B) -> Ordering) -> Ordering {
    let unequal = left.iter().zip(right).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
    unequal.unwrap_or_else(|| left.len().cmp(&right.len()))
}

fn is_so(operator: Operator, order: Ordering) -> bool {
    match operator {
        Operator::Eq => order.is_eq(),
        Operator::Neq => order.is_ne(),
        Operator::Lt => order.is_lt(),
        Operator::Lte => order.is_le(),
        Operator::Gt => order.is_gt(),
        Operator::Gte => order.is_ge(),
        Operator::Contains | Operator::ContainsKey => false,
    }
}

/// Evaluates a comparison with null, where only equal and not equal are allowed.
fn is_null(operator: Operator, is_null: bool) -> Result<bool> {
    match operator {
        Operator::Eq => Ok(is_null),
        Operator::Neq => Ok(!is_null),
        _ => invalid(format!(
            "Invalid comparison with null for operator \"{}\"",
            operator_text(operator, NEWEST)
        )),
    }
}
