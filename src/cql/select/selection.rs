//! What stands between SELECT and FROM: the columns of the result.

use std::sync::Arc;

use bytes::Bytes;

use super::operands::Bound;
use super::restrictions::Target;
use super::rows::{CellColumns, Held, Place, Row};
use crate::cql::syntax::{Select, Selection, Selector};
use crate::cql::values::{ResolvedFunction, find_function, list_to_bytes, map_to_bytes, tuple_from_bytes};
use crate::cql::{CollectionForm, ColumnSpec, CqlError, QueryState, Table};
use crate::marshal::{CqlType, Native};
use crate::model::{Cell, CellKind};
use crate::schema::{ColumnKind, TableColumn, TableDef};
use crate::util::Release;

/// One column of the result.
#[derive(Debug)]
enum Pick {
    Column(Place, CqlType),
    WriteTime(Place),
    Ttl(Place),
    Call(ResolvedFunction, Vec<Pick>),
    Field(Box<Pick>, usize),
}

/// The result's columns.
#[derive(Debug)]
pub(super) struct Picked {
    /// Every execution answers with them.
    pub specs: Arc<[ColumnSpec]>,
    picks: Vec<Pick>,
    /// Names of the table's columns that are needed; `None` is all.
    requested: Option<Vec<String>>,
    /// Only the number of rows is asked for.
    pub is_count: bool,
}

fn invalid<T>(why: impl Into<String>) -> Result<T, CqlError> {
    Err(CqlError::invalid(why))
}

impl Picked {
    pub fn new(
        state: &QueryState<'_>,
        target: &Target,
        cells: &CellColumns,
        select: &Select,
    ) -> Result<Picked, CqlError> {
        match &select.selection {
            Selection::All => {
                let columns = || target.def.columns();
                let pick = |column: &TableColumn| Pick::Column(cells.place(column), column.cql_type.clone());
                let specs = columns().map(|column| target.spec(column)).collect();
                let picks = columns().map(pick).collect();
                Ok(Picked { specs, picks, requested: None, is_count: false })
            }
            Selection::Count { alias } => {
                let name = alias.as_deref().unwrap_or("count");
                let specs = Arc::new([target.spec_of(name, CqlType::Native(Native::Bigint))]);
                Ok(Picked { specs, picks: Vec::new(), requested: None, is_count: true })
            }
            Selection::Some(selected) => {
                let mut picker = Picker { state, target, cells, requested: Vec::new() };
                let (mut specs, mut picks) = (Vec::new(), Vec::new());
                for one in selected {
                    let (pick, cql_type, name) = picker.pick(&one.selector)?;
                    let cql_type = told_as(cql_type, state.behaviour.release);
                    specs.push(target.spec_of(one.alias.as_deref().unwrap_or(&name), cql_type));
                    picks.push(pick);
                }
                Ok(Picked { specs: specs.into(), picks, requested: Some(picker.requested), is_count: false })
            }
        }
    }

    /// The table's columns that are needed.
    pub fn columns<'t>(&self, def: &'t TableDef) -> Vec<&'t TableColumn> {
        let is_requested = |column: &&TableColumn| {
            self.requested.as_ref().is_none_or(|requested| requested.contains(&column.name))
        };
        def.columns().filter(is_requested).collect()
    }

    pub fn has_collection(&self, def: &TableDef) -> bool {
        self.columns(def).iter().any(|column| column.cql_type.is_multi_cell())
    }

    pub fn has_static(&self, def: &TableDef) -> bool {
        self.columns(def).iter().any(|column| column.kind == ColumnKind::Static)
    }

    /// Whether nothing but the partition key and static columns is asked for by name.
    pub fn is_static_only(&self, def: &TableDef) -> bool {
        let columns = self.columns(def);
        let is_of_partition =
            |column: &&TableColumn| matches!(column.kind, ColumnKind::Static | ColumnKind::PartitionKey);
        self.requested.is_some()
            && columns.iter().all(is_of_partition)
            && columns.iter().any(|column| column.kind == ColumnKind::Static)
    }

    /// The result's values for a row.
    pub fn values(&self, row: &Row, bound: Bound<'_>, now_s: i32) -> Result<Vec<Option<Bytes>>, CqlError> {
        self.picks.iter().map(|pick| pick.value(row, bound, now_s)).collect()
    }
}

struct Picker<'a> {
    state: &'a QueryState<'a>,
    target: &'a Target,
    cells: &'a CellColumns,
    requested: Vec<String>,
}

impl<'a> Picker<'a> {
    fn column(&mut self, name: &str) -> Result<&'a TableColumn, CqlError> {
        match self.target.def.column(name) {
            Some(column) => {
                self.requested.push(column.name.clone());
                Ok(column)
            }
            None => invalid(format!("Undefined name {name} in selection clause")),
        }
    }

    /// A selector, its type and the name that its values get.
    fn pick(&mut self, selector: &Selector) -> Result<(Pick, CqlType, String), CqlError> {
        match selector {
            Selector::Column(name) => {
                let column = self.column(name)?;
                let cql_type = column.cql_type.clone();
                Ok((Pick::Column(self.cells.place(column), cql_type.clone()), cql_type, name.clone()))
            }
            Selector::WriteTime(name) => {
                let place = self.cell(name, "writeTime")?;
                let cql_type = CqlType::Native(Native::Bigint);
                Ok((Pick::WriteTime(place), cql_type, format!("writetime({name})")))
            }
            Selector::Ttl(name) => {
                let place = self.cell(name, "ttl")?;
                Ok((Pick::Ttl(place), CqlType::Native(Native::Int), format!("ttl({name})")))
            }
            Selector::Function { name, arguments, .. } => {
                let mut picks = Vec::new();
                let mut shown = Vec::new();
                for argument in arguments {
                    let (pick, cql_type, name) = self.pick(argument)?;
                    picks.push(pick);
                    shown.push((name, cql_type));
                }
                let table = Table { cf: self.target.cf.clone(), def: self.target.def.clone() };
                let function = find_function(name, &shown, Some(&table), self.state.database)?;
                let cql_type = function.return_type().clone();
                let names: Vec<String> = shown.into_iter().map(|(name, _)| name).collect();
                Ok((Pick::Call(function, picks), cql_type, format!("{name}({})", names.join(", "))))
            }
            Selector::Field { of, field } => {
                let (pick, cql_type, name) = self.pick(of)?;
                let CqlType::User(user) = &cql_type else {
                    return invalid(format!(
                        "Invalid field selection: {name} of type {cql_type} is not a user type"
                    ));
                };
                let Some(at) = user.fields.iter().position(|(known, _)| known == field) else {
                    return invalid(format!("{name} of type {cql_type} has no field {field}"));
                };
                let field_type = user.fields[at].1.clone();
                Ok((Pick::Field(Box::new(pick), at), field_type, format!("{name}.{field}")))
            }
        }
    }

    /// A column whose cell has a timestamp.
    fn cell(&mut self, name: &str, function: &str) -> Result<Place, CqlError> {
        let column = self.column(name)?;
        match column.kind {
            ColumnKind::PartitionKey | ColumnKind::Clustering => {
                invalid(format!("Cannot use selection function {function} on PRIMARY KEY part {name}"))
            }
            _ if column.cql_type.is_multi_cell() => {
                invalid(format!("Cannot use selection function {function} on collections"))
            }
            _ => Ok(self.cells.place(column)),
        }
    }
}

impl Pick {
    fn value(&self, row: &Row, bound: Bound<'_>, now_s: i32) -> Result<Option<Bytes>, CqlError> {
        let cell = |place: Place| match row.held(place) {
            Some(Held::One(cell)) => Some(cell),
            _ => None,
        };
        Ok(match self {
            Pick::Column(place, cql_type) => match row.held(*place) {
                Some(Held::Many(elements)) => Some(collection(elements, cql_type)),
                _ => row.value(*place).cloned(),
            },
            Pick::WriteTime(place) => {
                cell(*place).map(|cell| Bytes::copy_from_slice(&cell.timestamp.to_be_bytes()))
            }
            Pick::Ttl(place) => {
                let left = cell(*place).and_then(|cell| seconds_left(cell, now_s));
                left.map(|seconds| Bytes::copy_from_slice(&seconds.to_be_bytes()))
            }
            Pick::Call(function, arguments) => {
                let values: Result<Vec<_>, CqlError> =
                    arguments.iter().map(|pick| pick.value(row, bound, now_s)).collect();
                function.call(&values?, bound.database)?
            }
            Pick::Field(of, at) => {
                let value = of.value(row, bound, now_s)?;
                value.and_then(|value| tuple_from_bytes(&value)?.get(*at).cloned().flatten())
            }
        })
    }
}

/// How long an expiring cell will still be there.
fn seconds_left(cell: &Cell, now_s: i32) -> Option<i32> {
    match cell.kind {
        CellKind::Expiring { expires_at_s, .. } => Some(expires_at_s.saturating_sub(now_s)),
        _ => None,
    }
}

/// The value of a collection that is kept in many cells.
fn collection(elements: &[(Bytes, Cell)], cql_type: &CqlType) -> Bytes {
    match cql_type {
        CqlType::Map { .. } => {
            let entries: Vec<(Bytes, Bytes)> =
                elements.iter().map(|(key, cell)| (key.clone(), cell.value.clone())).collect();
            map_to_bytes(&entries, CollectionForm::Long)
        }
        CqlType::Set { .. } => {
            let names: Vec<Bytes> = elements.iter().map(|(element, _)| element.clone()).collect();
            list_to_bytes(&names, CollectionForm::Long)
        }
        _ => {
            let values: Vec<Bytes> = elements.iter().map(|(_, cell)| cell.value.clone()).collect();
            list_to_bytes(&values, CollectionForm::Long)
        }
    }
}

/// What a function answers with: up to 1.2 a timestamp has the older class.
fn told_as(cql_type: CqlType, release: Release) -> CqlType {
    match cql_type {
        CqlType::Native(Native::Timestamp) if release < Release::V2_0 => {
            CqlType::Native(Native::OldTimestamp)
        }
        other => other,
    }
}
