//! Conditions on the elements of a collection: CONTAINS, CONTAINS KEY, and the value of a key of a map.

use bytes::Bytes;

use super::operands::BoundValues;
use super::restrictions::IndexedBy;
use super::rows::ColumnCells;
use crate::values::TypedTerm;
use crate::{CqlError, QueryOptions, Result};
use base::marshal;
use base::marshal::{CollectionForm, CqlType, TypeRef, list_from_bytes, map_from_bytes};
use base::schema::TableColumn;
use base::util::Release;
use cql_syntax::{Operator, operator_text};
use db::entry_value;

/// A condition, with the terms of the statement.
#[derive(Debug)]
pub(super) enum ElementCondition {
    /// `c CONTAINS x`.
    Value(TypedTerm),
    /// `m CONTAINS KEY x`.
    Key(TypedTerm),
    /// `m[x] = y`.
    Entry { key: TypedTerm, value: TypedTerm, value_type: CqlType },
}

impl ElementCondition {
    /// Whether one of its values is bound as unset.
    pub(super) fn is_unset(&self, options: &QueryOptions) -> bool {
        match self {
            ElementCondition::Value(term) | ElementCondition::Key(term) => term.is_unset(options),
            ElementCondition::Entry { key, value, .. } => key.is_unset(options) || value.is_unset(options),
        }
    }

    /// Whether an index finds it.
    pub(super) fn is_found_by(&self, indexed: IndexedBy) -> bool {
        matches!(
            (self, indexed),
            (ElementCondition::Value(_), IndexedBy::Elements)
                | (ElementCondition::Key(_), IndexedBy::Keys)
                | (ElementCondition::Entry { .. }, IndexedBy::Entries)
        )
    }

    /// Returns the condition as messages about indexes print it.
    pub(super) fn text(&self, column: &TableColumn, release: Release) -> String {
        let operator = |operator| operator_text(operator, release);
        let name = &column.name;
        match self {
            ElementCondition::Value(_) => format!("'{name} {} <value>'", operator(Operator::Contains)),
            ElementCondition::Key(_) => format!("'{name} {} <value>'", operator(Operator::ContainsKey)),
            ElementCondition::Entry { .. } => format!("'{name}[<key>] = <value>'"),
        }
    }

    /// Returns the condition with its values.
    pub(super) fn bound(
        &self,
        bound: BoundValues<'_>,
        column: &TableColumn,
        release: Release,
    ) -> Result<WantedElement> {
        let present = |term: &TypedTerm, what: &str| {
            bound
                .bytes(term)?
                .ok_or_else(|| CqlError::invalid(format!("Unsupported null {what} column {}", column.name)))
        };
        Ok(match self {
            ElementCondition::Value(term) => WantedElement::Value(present(term, "value for indexed")?),
            ElementCondition::Key(term) => WantedElement::Key(present(term, "value for indexed")?),
            ElementCondition::Entry { key, value, value_type } => WantedElement::Entry {
                key: present(key, "map key for")?,
                value: present(value, "map value for")?,
                comparator: value_type.type_ref(bound.database.types()),
                release,
            },
        })
    }
}

/// A condition with its values.
#[derive(Debug)]
pub(super) enum WantedElement {
    Value(Bytes),
    Key(Bytes),
    Entry { key: Bytes, value: Bytes, comparator: TypeRef, release: Release },
}

impl WantedElement {
    /// Returns the value to look up in an index that finds it.
    pub(super) fn indexed_value(self) -> Bytes {
        match self {
            WantedElement::Value(value) | WantedElement::Key(value) => value,
            WantedElement::Entry { key, value, .. } => entry_value(&key, &value),
        }
    }

    /// Checks the elements of a collection with a cell for each element. The elements of a set are the names of the
    /// cells.
    pub(super) fn is_in(&self, cells: Option<&ColumnCells>, is_set: bool) -> bool {
        let Some(ColumnCells::Many(elements)) = cells else { return false };
        elements.iter().any(|(name, cell)| match self {
            WantedElement::Value(wanted) if is_set => name == wanted,
            WantedElement::Value(wanted) => cell.value == *wanted,
            WantedElement::Key(wanted) => name == wanted,
            WantedElement::Entry { key, value, comparator, release } => {
                name == key && marshal::at(&**comparator, *release).compare(&cell.value, value).is_eq()
            }
        })
    }

    /// Checks a frozen collection. Returns `None` if the value is not a valid collection. There are no conditions on
    /// the entries of a frozen map.
    pub(super) fn is_in_frozen(&self, cql_type: &CqlType, value: &Bytes) -> Option<bool> {
        if let CqlType::Map { .. } = cql_type {
            let entries = map_from_bytes(value, CollectionForm::Long)?;
            return Some(entries.iter().any(|(key, value)| match self {
                WantedElement::Value(wanted) => value == wanted,
                WantedElement::Key(wanted) => key == wanted,
                WantedElement::Entry { .. } => false,
            }));
        }
        let elements = list_from_bytes(value, CollectionForm::Long)?;
        Some(matches!(self, WantedElement::Value(wanted) if elements.contains(wanted)))
    }
}
