//! The right side of a relation: one value, or a tuple of values for several columns.

use bytes::Bytes;

use crate::comma_list::comma_list;
use crate::error::invalid;
use crate::values::{Markers, TypeScope, TypedTerm, Value, check_combinations, exact_list, term_text};
use crate::{ColumnSpec, QueryOptions, QueryState, Result};
use base::compat::Line;
use base::marshal::{CqlType, tuple_from_bytes};
use cql_syntax::{InValues, Term};
use db::Database;

/// The bound values of one execution, and the database whose types they have.
#[derive(Clone, Copy)]
pub(crate) struct BoundValues<'a> {
    pub options: &'a QueryOptions,
    pub database: &'a Database,
    /// The release whose words errors have.
    pub line: Line,
    /// See `Request::sees_new_indexes`.
    pub sees_new_indexes: bool,
}

impl<'a> BoundValues<'a> {
    pub(crate) fn new(state: &QueryState<'a>, options: &'a QueryOptions) -> BoundValues<'a> {
        let (database, line) = (state.database, state.line());
        BoundValues { options, database, line, sees_new_indexes: state.sees_new_indexes }
    }

    /// Returns a term's bytes; `None` is null. Every term of a restriction must have a value.
    pub(crate) fn bytes(&self, term: &TypedTerm) -> Result<Option<Bytes>> {
        term.set_bytes(self.options, self.database, || format!("column {}", term.receiver()))
    }
}

/// Values for some columns, one for each.
#[derive(Debug)]
pub(crate) enum Operand {
    /// The value of one column.
    One(TypedTerm),
    Each(Box<[TypedTerm]>),
    /// A tuple bound to one marker, and the number of its fields.
    Whole(Box<TypedTerm>, usize),
}

impl Operand {
    /// Analyzes the operand of a multi-column relation.
    pub(crate) fn tuple(
        term: &Term,
        columns: &[ColumnSpec],
        scope: &TypeScope<'_>,
        markers: &mut Markers,
    ) -> Result<Operand> {
        let Term::Tuple(terms) = term else {
            let whole = TypedTerm::new(term, &tuple_spec(columns), scope, markers)?;
            return Ok(Operand::Whole(Box::new(whole), columns.len()));
        };
        if terms.len() != columns.len() {
            return invalid(format!(
                "Expected {} elements in value tuple, but got {}: {}",
                columns.len(),
                terms.len(),
                term_text(term)
            ));
        }
        let each =
            terms.iter().zip(columns).map(|(term, column)| TypedTerm::new(term, column, scope, markers));
        Ok(Operand::Each(each.collect::<Result<_, _>>()?))
    }

    /// Returns the text of the value as 2.1 prints terms that it has analyzed.
    pub(crate) fn noted_text(&self) -> String {
        match self {
            Operand::One(term) => term.noted_text(),
            Operand::Each(terms) => comma_list(terms.iter().map(TypedTerm::noted_text)),
            Operand::Whole(term, _) => term.noted_text(),
        }
    }

    pub(crate) fn values(&self, bound: BoundValues<'_>) -> Result<Vec<Option<Bytes>>> {
        match self {
            Operand::One(term) => Ok(vec![bound.bytes(term)?]),
            Operand::Each(terms) => terms.iter().map(|term| bound.bytes(term)).collect(),
            Operand::Whole(term, width) => match bound.bytes(term)? {
                Some(bytes) => split_tuple(&bytes, *width),
                None => Ok(vec![None; *width]),
            },
        }
    }
}

fn tuple_spec(columns: &[ColumnSpec]) -> ColumnSpec {
    let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
    let types = columns.iter().map(|column| column.cql_type.clone()).collect();
    let (keyspace, table) = columns
        .first()
        .map_or_else(Default::default, |column| (column.keyspace.clone(), column.table.clone()));
    ColumnSpec {
        keyspace,
        table,
        name: format!("({})", names.join(",")),
        cql_type: CqlType::Tuple(types),
        is_field: false,
    }
}

/// Splits a tuple's bytes into its fields. Missing fields at the end are null.
fn split_tuple(bytes: &Bytes, width: usize) -> Result<Vec<Option<Bytes>>> {
    let Some(mut fields) = tuple_from_bytes(bytes) else {
        return invalid("Not enough bytes to read a field of a tuple");
    };
    if fields.len() > width {
        let text = format!("Expected {width} elements in value tuple, but got {}", fields.len());
        return invalid(text);
    }
    fields.resize(width, None);
    Ok(fields)
}

/// The right side of IN.
#[derive(Debug)]
pub(crate) enum Operands {
    Each(Vec<Operand>),
    /// A list bound to one marker. For several columns it is a list of tuples with this number of fields.
    Whole(TypedTerm, Option<usize>),
}

impl Operands {
    /// Analyzes the values of an IN on one column.
    pub(crate) fn of_column(
        values: &InValues,
        column: &ColumnSpec,
        scope: &TypeScope<'_>,
        markers: &mut Markers,
    ) -> Result<Operands> {
        match values {
            InValues::List(terms) => {
                check_combinations(terms.len(), 1)?;
                Ok(Operands::Each(exact_list(
                    terms.iter().map(|term| TypedTerm::new(term, column, scope, markers).map(Operand::One)),
                )?))
            }
            InValues::Marker(at) => {
                let list = list_spec(column, format!("in({})", column.name));
                Ok(Operands::Whole(TypedTerm::new(&Term::Marker(*at), &list, scope, markers)?, None))
            }
        }
    }

    /// Analyzes the values of an IN on several columns.
    pub(crate) fn of_columns(
        values: &InValues,
        columns: &[ColumnSpec],
        scope: &TypeScope<'_>,
        markers: &mut Markers,
    ) -> Result<Operands> {
        match values {
            InValues::List(terms) => {
                check_combinations(terms.len(), 1)?;
                let each = terms.iter().map(|term| Operand::tuple(term, columns, scope, markers));
                Ok(Operands::Each(each.collect::<Result<_, _>>()?))
            }
            InValues::Marker(at) => {
                let tuple = tuple_spec(columns);
                let list = list_spec(&tuple, format!("in{}", tuple.name));
                let term = TypedTerm::new(&Term::Marker(*at), &list, scope, markers)?;
                Ok(Operands::Whole(term, Some(columns.len())))
            }
        }
    }

    /// Whether the text lists exactly one value.
    pub(crate) fn is_single(&self) -> bool {
        matches!(self, Operands::Each(each) if each.len() == 1)
    }

    /// Returns the values for the only column.
    pub(crate) fn column_values(&self, bound: BoundValues<'_>) -> Result<Vec<Option<Bytes>>> {
        match self {
            Operands::Each(each) => exact_list(each.iter().map(|operand| match operand {
                Operand::One(term) => bound.bytes(term),
                other => Ok(other.values(bound)?.into_iter().next().flatten()),
            })),
            Operands::Whole(term, _) => Ok(elements(term, bound)?.into_iter().map(Some).collect()),
        }
    }

    /// Returns the values of all tuples, one tuple after the other.
    pub(crate) fn joined_values(&self, bound: BoundValues<'_>) -> Result<Vec<Option<Bytes>>> {
        match self {
            Operands::Whole(_, None) => self.column_values(bound),
            Operands::Each(each) if matches!(each[..], [Operand::One(_), ..]) => self.column_values(bound),
            _ => Ok(self.values(bound)?.into_iter().flatten().collect()),
        }
    }

    pub(crate) fn values(&self, bound: BoundValues<'_>) -> Result<Vec<Vec<Option<Bytes>>>> {
        match self {
            Operands::Each(each) => each.iter().map(|operand| operand.values(bound)).collect(),
            Operands::Whole(term, width) => {
                let elements = elements(term, bound)?;
                match width {
                    Some(width) => elements.iter().map(|element| split_tuple(element, *width)).collect(),
                    None => Ok(elements.into_iter().map(|element| vec![Some(element)]).collect()),
                }
            }
        }
    }
}

/// Returns the elements of a list that is bound to the marker after IN.
fn elements(term: &TypedTerm, bound: BoundValues<'_>) -> Result<Vec<Bytes>> {
    match term.value(bound.options, bound.database)? {
        Value::List(elements) => {
            check_combinations(elements.len(), 1)?;
            Ok(elements)
        }
        Value::Unset => invalid(format!("Invalid unset value for column {}", term.receiver())),
        _ => invalid("Invalid null value for IN restriction"),
    }
}

fn list_spec(element: &ColumnSpec, name: String) -> ColumnSpec {
    let cql_type = CqlType::List { element: Box::new(element.cql_type.clone()), is_frozen: false };
    ColumnSpec { name, cql_type, ..element.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_are_split() {
        let bytes = Bytes::from_static(b"\0\0\0\x01a\xff\xff\xff\xff");
        let fields = split_tuple(&bytes, 3).unwrap();
        assert_eq!(fields, [Some(Bytes::from_static(b"a")), None, None]);
        assert!(split_tuple(&bytes, 1).is_err());
        assert!(split_tuple(&Bytes::from_static(b"\0\0\0\x02a"), 1).is_err());
    }
}
