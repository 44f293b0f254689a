//! The select clause: the columns of the result.
//!
//! ```text
//!   SELECT k, max(v), writetime(v) FROM t GROUP BY k
//!
//!   specs         k                 max(v)           writetime(v)      the metadata of the result
//!   picks         Column(Key 0)     Aggregate(0)     WriteTime(v)      where each value comes from
//!   aggregates    max of Column(v)
//!   group_by      Key 0
//! ```
//!
//! Without aggregates and groups each row becomes a row of the result. Otherwise the rows are tallied one by one, and a
//! group becomes a row when the next one begins. Its values outside of aggregates are from its first row.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;

use super::operands::BoundValues;
use super::restrictions::Target;
use super::rows::{CellColumns, ColumnCells, TableRow, ValuePlace};
use crate::error::invalid;
use crate::json::{column_key, to_json};
use crate::limits::{SELECTED_COLUMNS_MAX, TABLE_TYPES_TEXT_BYTES_MAX};
use crate::values::{Aggregate, AggregateTally, Function, ResolvedFunction, find_function};
use crate::{ColumnSpec, QueryState, Result, Table, TypesOf};
use base::compat::{Behaviour, texts};
use base::marshal::{
    CollectionForm, CqlType, Native, list_to_bytes, map_to_bytes, tuple_from_bytes, whole_from_fields,
};
use base::model::{Cell, CellKind};
use base::schema::{ColumnKind, TableColumn, TableDef};
use base::util::Release;
use cql_syntax::{Operator, Relation, Select, Selection, Selector};

/// The source of one column of the result.
#[derive(Debug)]
enum ProjectedColumn {
    Column(ValuePlace, CqlType),
    WriteTime(ValuePlace),
    Ttl(ValuePlace),
    Call(ResolvedFunction, Vec<ProjectedColumn>),
    /// The result of an aggregate, by its index.
    Aggregate(usize),
    Field(Box<ProjectedColumn>, usize),
}

/// An aggregate and its argument.
#[derive(Debug)]
pub(super) struct AggregateColumn {
    aggregate: Aggregate,
    /// `None`: the aggregate counts rows.
    argument: Option<ProjectedColumn>,
}

/// The inputs of a result's values other than the row.
#[derive(Clone, Copy)]
struct ValueContext<'a> {
    bound: BoundValues<'a>,
    now_s: i32,
    release: Release,
    /// The results of the aggregates.
    aggregated: &'a [Option<Bytes>],
}

/// The columns of the result.
#[derive(Debug)]
pub(super) struct Projection {
    /// The column specifications that every result contains.
    pub specs: Arc<[ColumnSpec]>,
    picks: Vec<ProjectedColumn>,
    /// Names of the table's columns that are needed; `None` means all.
    requested: Option<HashSet<String>>,
    /// Whether the result is only the number of rows.
    pub is_count: bool,
    pub aggregates: Vec<AggregateColumn>,
    /// The places of the values by which rows are grouped.
    pub group_by: Option<Vec<ValuePlace>>,
    /// For `SELECT JSON`, the key and type of each column in the JSON value.
    json: Option<Vec<(String, CqlType)>>,
    release: Release,
}

impl Projection {
    pub(super) fn new(
        state: &QueryState<'_>,
        target: &Target,
        cells: &CellColumns,
        select: &Select,
    ) -> Result<Projection> {
        let projection = Projection::of_selection(state, target, cells, select)?;
        let projection = Projection { group_by: group_by(target, cells, select)?, ..projection };
        Ok(if select.is_json { projection.into_json(target) } else { projection })
    }

    fn of_selection(
        state: &QueryState<'_>,
        target: &Target,
        cells: &CellColumns,
        select: &Select,
    ) -> Result<Projection> {
        let release = state.behaviour.release;
        let simple = |specs, picks, is_count| Projection {
            specs,
            picks,
            requested: None,
            is_count,
            aggregates: Vec::new(),
            group_by: None,
            json: None,
            release,
        };
        match &select.selection {
            Selection::All => {
                let columns = || target.def.columns();
                let specs = columns().map(|column| target.spec(column)).collect();
                let picks = columns()
                    .map(|column| ProjectedColumn::Column(cells.place(column), column.cql_type.clone()))
                    .collect();
                Ok(simple(specs, picks, false))
            }
            Selection::Count { alias } => {
                let name = alias.as_deref().unwrap_or("count");
                let specs = Arc::new([target.spec_of(name, CqlType::Native(Native::Bigint))]);
                if select.group_by.is_empty() {
                    return Ok(simple(specs, Vec::new(), true));
                }
                let aggregate = Aggregate::of_rows(types_of(state));
                let aggregates = vec![AggregateColumn { aggregate, argument: None }];
                Ok(Projection { aggregates, ..simple(specs, vec![ProjectedColumn::Aggregate(0)], false) })
            }
            Selection::Some(selected) => {
                check_count(selected.len())?;
                let requested = HashSet::new();
                let mut type_bytes = 0usize;
                let mut picker = ProjectionBuilder {
                    state,
                    target,
                    cells,
                    requested,
                    aggregates: Vec::new(),
                    is_inside: false,
                };
                let (mut specs, mut picks) = (Vec::new(), Vec::new());
                for one in selected {
                    let (pick, cql_type, name) = picker.pick(&one.selector)?;
                    let cql_type = reported_type(cql_type, release);
                    type_bytes = type_bytes.saturating_add(cql_type.size().text_bytes);
                    check_types(type_bytes)?;
                    let spec = target.spec_of(one.alias.as_deref().unwrap_or(&name), cql_type);
                    specs.push(ColumnSpec { is_field: matches!(pick, ProjectedColumn::Field(..)), ..spec });
                    picks.push(pick);
                }
                let (requested, aggregates) = (Some(picker.requested), picker.aggregates);
                Ok(Projection { requested, aggregates, ..simple(specs.into(), picks, false) })
            }
        }
    }

    /// Returns the table's columns that are needed.
    pub(super) fn columns<'t>(&self, def: &'t TableDef) -> Vec<&'t TableColumn> {
        def.columns()
            .filter(|column| self.requested.as_ref().is_none_or(|requested| requested.contains(&column.name)))
            .collect()
    }

    pub(super) fn has_collection(&self, def: &TableDef) -> bool {
        self.columns(def).iter().any(|column| column.cql_type.is_multi_cell())
    }

    pub(super) fn has_static(&self, def: &TableDef) -> bool {
        self.columns(def).iter().any(|column| column.kind == ColumnKind::Static)
    }

    /// Whether the statement names only partition key columns and static columns, and the table has static columns.
    pub(super) fn is_static_only(&self, def: &TableDef) -> bool {
        let columns = self.columns(def);
        let is_of_partition =
            |column: &&TableColumn| matches!(column.kind, ColumnKind::Static | ColumnKind::PartitionKey);
        self.requested.is_some()
            && columns.iter().all(is_of_partition)
            && def.static_columns().next().is_some()
    }

    /// Combines all columns into the one column of `SELECT JSON`.
    fn into_json(self, target: &Target) -> Projection {
        let json = self.specs.iter().map(|spec| (column_key(&spec.name), spec.cql_type.clone())).collect();
        let specs = Arc::new([target.spec_of("[json]", CqlType::Native(Native::Text))]);
        Projection { specs, json: Some(json), ..self }
    }

    /// Whether rows are combined into groups.
    pub(super) fn is_grouped(&self) -> bool {
        !self.aggregates.is_empty() || self.group_by.is_some()
    }

    /// Returns the result's values for a row.
    pub(super) fn values(
        &self,
        row: &TableRow,
        bound: BoundValues<'_>,
        now_s: i32,
    ) -> Result<Vec<Option<Bytes>>> {
        self.seen(row, ValueContext { bound, now_s, release: self.release, aggregated: &[] })
    }

    fn seen(&self, row: &TableRow, sight: ValueContext<'_>) -> Result<Vec<Option<Bytes>>> {
        let values = self.picks.iter().map(|pick| pick.value(row, sight)).collect::<Result<_>>()?;
        Ok(self.result_values(values, sight.bound))
    }

    /// Returns the values of a result row; for `SELECT JSON` combines them into one.
    pub(super) fn result_values(
        &self,
        values: Vec<Option<Bytes>>,
        bound: BoundValues<'_>,
    ) -> Vec<Option<Bytes>> {
        let Some(json) = &self.json else { return values };
        let types = TypesOf { types: bound.database.types(), release: self.release };
        let texts: Vec<String> = json
            .iter()
            .zip(&values)
            .map(|((key, cql_type), value)| format!("{key}: {}", to_json(cql_type, value.as_ref(), types)))
            .collect();
        vec![Some(Bytes::from(format!("{{{}}}", texts.join(", "))))]
    }

    /// Adds a row to the aggregates.
    pub(super) fn tally(
        &self,
        tallies: &mut [AggregateTally],
        row: &TableRow,
        bound: BoundValues<'_>,
        now_s: i32,
    ) -> Result<()> {
        let sight = ValueContext { bound, now_s, release: self.release, aggregated: &[] };
        let types = TypesOf { types: bound.database.types(), release: self.release };
        debug_assert!(self.aggregates.len() == tallies.len(), "an aggregate would leave out rows");
        for (AggregateColumn { aggregate, argument }, tally) in self.aggregates.iter().zip(tallies) {
            let value = match argument {
                Some(pick) => pick.value(row, sight)?,
                None => Some(Bytes::new()),
            };
            aggregate.add(tally, value, types)?;
        }
        Ok(())
    }

    /// Returns the result's values for a group.
    pub(super) fn grouped(
        &self,
        first: &TableRow,
        tallies: Vec<AggregateTally>,
        bound: BoundValues<'_>,
        now_s: i32,
    ) -> Result<Vec<Option<Bytes>>> {
        let results = self.aggregates.iter().zip(tallies).map(|(of, tally)| of.aggregate.result(tally));
        let aggregated = results.collect::<Result<Vec<_>>>()?;
        self.seen(first, ValueContext { bound, now_s, release: self.release, aggregated: &aggregated })
    }
}

/// Checks that a result does not have too many columns.
fn check_count(columns: usize) -> Result<()> {
    if columns > SELECTED_COLUMNS_MAX {
        return invalid(format!(
            "The statement selects {columns} columns, and at most {SELECTED_COLUMNS_MAX} are allowed: select each column \
             once, or use several statements"
        ));
    }
    Ok(())
}

/// Checks the total size of the column types of a result.
fn check_types(bytes: usize) -> Result<()> {
    if bytes > TABLE_TYPES_TEXT_BYTES_MAX {
        return invalid(format!(
            "The class names of the selected columns' types have more than {TABLE_TYPES_TEXT_BYTES_MAX} bytes together: \
             select each column once, or use several statements"
        ));
    }
    Ok(())
}

struct ProjectionBuilder<'a> {
    state: &'a QueryState<'a>,
    target: &'a Target,
    cells: &'a CellColumns,
    requested: HashSet<String>,
    aggregates: Vec<AggregateColumn>,
    /// Whether the argument of an aggregate is being analyzed.
    is_inside: bool,
}

fn types_of<'s>(state: &'s QueryState<'_>) -> TypesOf<'s> {
    TypesOf { types: state.database.types(), release: state.behaviour.release }
}

/// Returns the places of the GROUP BY columns. They must be in the order of the primary key; columns that are
/// restricted by `=` may be left out.
fn group_by(target: &Target, cells: &CellColumns, select: &Select) -> Result<Option<Vec<ValuePlace>>> {
    if select.group_by.is_empty() {
        return Ok(None);
    }
    let def = &target.def;
    let is_fixed = |name: &str| {
        select.relations.iter().any(|relation| matches!(relation, Relation::Column { column, element: None, operator: Operator::Eq, .. } if column == name))
    };
    let mut keys = def.partition_key.iter().chain(&def.clustering);
    let mut places = Vec::with_capacity(select.group_by.len());
    let mut last = None;
    for name in &select.group_by {
        let Some(column) = def.column(name) else {
            return invalid(format!("Undefined column name {name} in GROUP BY clause"));
        };
        if !matches!(column.kind, ColumnKind::PartitionKey | ColumnKind::Clustering) {
            return invalid(format!(
                "Group by is currently only supported on the columns of the PRIMARY KEY, got {name}"
            ));
        }
        let mut is_in_order = false;
        for key in keys.by_ref() {
            is_in_order = key.name == *name;
            if is_in_order || !is_fixed(&key.name) {
                break;
            }
        }
        if !is_in_order || places.contains(&cells.place(column)) {
            return invalid(
                "Group by currently only support groups of columns following their declared order in the PRIMARY KEY",
            );
        }
        places.push(cells.place(column));
        last = Some(column);
    }
    if let Some(last) = last.filter(|column| column.kind == ColumnKind::PartitionKey)
        && def.partition_key.iter().any(|key| key.position > last.position && !is_fixed(&key.name))
    {
        return invalid("Group by is not supported on only a part of the partition key");
    }
    Ok(Some(places))
}

impl<'a> ProjectionBuilder<'a> {
    fn column(&mut self, name: &str) -> Result<&'a TableColumn> {
        match self.target.def.column(name) {
            Some(column) => {
                if !self.requested.contains(&column.name) {
                    self.requested.insert(column.name.clone());
                }
                Ok(column)
            }
            None => invalid(texts::unknown_in_selection(self.state.line(), name)),
        }
    }

    /// Analyzes a selector. Returns it with its type and the name of its result column.
    fn pick(&mut self, selector: &Selector) -> Result<(ProjectedColumn, CqlType, String)> {
        match selector {
            Selector::Column(name) => {
                let column = self.column(name)?;
                let cql_type = column.cql_type.clone();
                Ok((
                    ProjectedColumn::Column(self.cells.place(column), cql_type.clone()),
                    cql_type,
                    name.clone(),
                ))
            }
            Selector::WriteTime(name) => {
                let place = self.cell(name, "writeTime")?;
                let cql_type = CqlType::Native(Native::Bigint);
                Ok((ProjectedColumn::WriteTime(place), cql_type, format!("writetime({name})")))
            }
            Selector::Ttl(name) => {
                let place = self.cell(name, "ttl")?;
                Ok((ProjectedColumn::Ttl(place), CqlType::Native(Native::Int), format!("ttl({name})")))
            }
            Selector::CountRows => {
                self.check_depth()?;
                let aggregate = Aggregate::of_rows(types_of(self.state));
                let pick = self.aggregate(AggregateColumn { aggregate, argument: None });
                Ok((pick, CqlType::Native(Native::Bigint), "count".to_owned()))
            }
            Selector::Cast { of, cql_type } => self.pick_cast(of, cql_type),
            Selector::Function { keyspace, name, arguments } if is_aggregate(keyspace.as_deref(), name) => {
                self.pick_aggregate(name, arguments)
            }
            Selector::Function { keyspace: Some(keyspace), name, .. } if keyspace != "system" => invalid(
                format!("Unknown function '{keyspace}.{name}': this server has no functions but its own"),
            ),
            Selector::Function { name, arguments, .. } => self.pick_call(name, arguments),
            Selector::Field { of, field } => {
                let (pick, cql_type, name) = self.pick(of)?;
                let CqlType::User { user, .. } = &cql_type else {
                    return invalid(format!(
                        "Invalid field selection: {name} of type {} is not a user type",
                        self.state.type_text(&cql_type)
                    ));
                };
                let Some(at) = user.place_of(field) else {
                    let cql_type = self.state.type_text(&cql_type);
                    return invalid(format!("{name} of type {cql_type} has no field {field}"));
                };
                let field_type = user.fields[at].1.clone();
                Ok((ProjectedColumn::Field(Box::new(pick), at), field_type, format!("{name}.{field}")))
            }
        }
    }

    fn pick_cast(&mut self, of: &Selector, cql_type: &str) -> Result<(ProjectedColumn, CqlType, String)> {
        let (pick, given, name) = self.pick(of)?;
        let Some(to) = Native::named(cql_type) else {
            return invalid(format!("{given} cannot be cast to {cql_type}"));
        };
        let to = CqlType::Native(to);
        let function = Function::cast(&given, &to)?.resolved(self.state.database.types());
        Ok((ProjectedColumn::Call(function, vec![pick]), to, format!("cast({name} as {cql_type})")))
    }

    fn pick_aggregate(
        &mut self,
        name: &str,
        arguments: &[Selector],
    ) -> Result<(ProjectedColumn, CqlType, String)> {
        self.check_depth()?;
        self.is_inside = true;
        let projection: Result<Vec<_>> = arguments.iter().map(|argument| self.pick(argument)).collect();
        self.is_inside = false;
        let (mut picks, mut types, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for (pick, cql_type, name) in projection? {
            picks.push(pick);
            types.push(cql_type);
            names.push(name);
        }
        let aggregate = Aggregate::named(name, &types, types_of(self.state))?;
        let cql_type = aggregate.return_type();
        let pick = self.aggregate(AggregateColumn { aggregate, argument: picks.pop() });
        let name = name.to_ascii_lowercase();
        Ok((pick, cql_type, format!("system.{name}({})", names.join(", "))))
    }

    fn pick_call(
        &mut self,
        name: &str,
        arguments: &[Selector],
    ) -> Result<(ProjectedColumn, CqlType, String)> {
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
        let is_full = function.is_new() || self.state.behaviour.cql.functions_have_full_names;
        let prefix = if is_full { "system." } else { "" };
        let name = if is_full { name.to_ascii_lowercase() } else { name.to_owned() };
        let name = format!("{prefix}{name}({})", names.join(", "));
        Ok((ProjectedColumn::Call(function, picks), cql_type, name))
    }

    fn aggregate(&mut self, aggregated: AggregateColumn) -> ProjectedColumn {
        self.aggregates.push(aggregated);
        ProjectedColumn::Aggregate(self.aggregates.len() - 1)
    }

    /// Checks that an aggregate is not inside another one.
    fn check_depth(&self) -> Result<()> {
        if self.is_inside {
            return invalid("aggregate functions cannot be used as arguments of aggregate functions");
        }
        Ok(())
    }

    /// Returns the place of a column whose cell has a timestamp.
    fn cell(&mut self, name: &str, function: &str) -> Result<ValuePlace> {
        let column = self.column(name)?;
        match column.kind {
            ColumnKind::PartitionKey | ColumnKind::Clustering => {
                invalid(format!("Cannot use selection function {function} on PRIMARY KEY part {name}"))
            }
            _ if column.cql_type.multi_cell_user_type().is_some() => {
                invalid(format!("Cannot use selection function {function} on non-frozen UDT {name}"))
            }
            _ if column.cql_type.is_multi_cell()
                || column.cql_type.is_frozen_collection() && self.state.is_in_words_of_2_1() =>
            {
                invalid(format!("Cannot use selection function {function} on collections"))
            }
            _ => Ok(self.cells.place(column)),
        }
    }
}

impl ProjectedColumn {
    fn value(&self, row: &TableRow, sight: ValueContext<'_>) -> Result<Option<Bytes>> {
        let cell = |place: ValuePlace| match row.held(place) {
            Some(ColumnCells::One(cell)) => Some(cell),
            _ => None,
        };
        Ok(match self {
            ProjectedColumn::Column(place, cql_type) => match row.held(*place) {
                Some(ColumnCells::Many(elements)) => Some(collection(elements, cql_type)),
                _ => row.value(*place).cloned(),
            },
            ProjectedColumn::WriteTime(place) => {
                cell(*place).map(|cell| Bytes::copy_from_slice(&cell.timestamp.to_be_bytes()))
            }
            ProjectedColumn::Ttl(place) => {
                let left = cell(*place).and_then(|cell| seconds_left(cell, sight.now_s));
                left.map(|seconds| Bytes::copy_from_slice(&seconds.to_be_bytes()))
            }
            ProjectedColumn::Call(function, arguments) => {
                let values: Result<Vec<_>> = arguments.iter().map(|pick| pick.value(row, sight)).collect();
                function.call(&values?, sight.bound.database, sight.release)?
            }
            ProjectedColumn::Aggregate(at) => sight.aggregated.get(*at).cloned().flatten(),
            ProjectedColumn::Field(of, at) => {
                let value = of.value(row, sight)?;
                value.and_then(|value| tuple_from_bytes(&value)?.get(*at).cloned().flatten())
            }
        })
    }
}

/// Whether a function is an aggregate.
fn is_aggregate(keyspace: Option<&str>, name: &str) -> bool {
    keyspace.is_none_or(|keyspace| keyspace == "system") && Aggregate::is_named(name)
}

/// Returns the seconds until a cell expires, or `None` if it does not expire.
fn seconds_left(cell: &Cell, now_s: i32) -> Option<i32> {
    match cell.kind {
        CellKind::Expiring { expires_at_s, .. } => Some(expires_at_s.saturating_sub(now_s)),
        _ => None,
    }
}

/// Returns the value of a collection or user-defined type that is stored in many cells.
pub(super) fn collection(elements: &[(Bytes, Cell)], cql_type: &CqlType) -> Bytes {
    match cql_type {
        CqlType::Map { .. } => {
            let entries: Vec<(Bytes, Bytes)> =
                elements.iter().map(|(key, cell)| (key.clone(), cell.value.clone())).collect();
            map_to_bytes(&entries, CollectionForm::Long)
        }
        CqlType::User { user, .. } => {
            let fields = elements.iter().map(|(name, cell)| (name, &cell.value));
            whole_from_fields(fields, user.fields.len())
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

/// Returns the type under which a function's result is reported: up to 1.2 a timestamp has the older class.
fn reported_type(cql_type: CqlType, release: Release) -> CqlType {
    match cql_type {
        CqlType::Native(Native::Timestamp) if Behaviour::of(release).cql.timestamps_are_dates => {
            CqlType::Native(Native::OldTimestamp)
        }
        other => other,
    }
}
