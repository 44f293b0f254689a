//! A checked SELECT, which can be executed many times.

use std::cmp::Ordering;

use bytes::Bytes;

use super::analysis::Analysis;
use super::bounds::{CellReads, Slicing};
use super::cell_source::CellSource;
use super::filter::{RowFilter, check_filter};
use super::index_lookup::{indexed_value, unsupported};
use super::keys::{Partitions, partitions};
use super::operands::BoundValues;
use super::paging::PagingState;
use super::restrictions::{Restriction, RestrictionKind, Restrictions, Target};
use super::result_rows::{ResultRow, ResultRows};
use super::row_counter::RowCounter;
use super::rows::CellColumns;
use super::selection::Projection;
use super::walk::{ByIndex, PartitionReads, Walk};
use crate::error::invalid;
use crate::values::{Markers, TableOf, TypedTerm};
use crate::{ColumnSpec, CqlError, Outcome, QueryOptions, QueryState, Result, ResultSet, system};
use base::compat::Behaviour;
use base::marshal;
use base::marshal::{CqlType, Native, TypeRef};
use base::schema::{CfDef, ColumnKind, Layout, TableColumn, TableDef};
use base::util::Release;
use cql_syntax::{Select, Term};
use db::{Access, Error};

#[derive(Debug)]
pub(crate) struct SelectPlan {
    pub(super) target: Target,
    pub(super) cells: CellColumns,
    projection: Projection,
    pub(super) restrictions: Box<Restrictions>,
    limit: Option<Box<TypedTerm>>,
    per_partition_limit: Option<Box<TypedTerm>>,
    /// Indexes of the clustering columns to sort by.
    order_by: Vec<usize>,
    is_distinct: bool,
}

/// The position at which an execution begins.
pub(super) struct Start {
    pub partitions: Partitions,
    pub index: Option<ByIndex>,
    resume: Option<PagingState>,
}

pub(super) struct Execution<'a> {
    pub walk: Walk<'a>,
    /// `None`: nothing needs to be read.
    pub start: Option<Start>,
    pub limit: usize,
    is_paged: bool,
}

impl SelectPlan {
    /// Checks a SELECT against the current schema.
    pub(crate) fn new(state: &QueryState<'_>, select: &Select, markers: &mut Markers) -> Result<SelectPlan> {
        let target = target(state, select)?;
        let catalog = state.database.catalog();
        let made_up = base::schema::KeyspaceDef::new(&target.keyspace);
        let keyspace = catalog.keyspace(&target.keyspace).unwrap_or(&made_up);
        let scope = state.type_scope(keyspace);
        let cells = CellColumns::new(target.def.clone(), state.database.types());
        let projection = Projection::new(state, &target, &cells, select)?;
        let mut number = |term: &Option<Term>, name: &str| {
            let Some(term) = term else { return Ok(None) };
            let spec = target.spec_of(name, CqlType::Native(Native::Int));
            Ok::<_, CqlError>(Some(Box::new(TypedTerm::new(term, &spec, &scope, markers)?)))
        };
        let per_partition_limit = number(&select.per_partition_limit, "[per_partition_limit]")?;
        let limit = number(&select.limit, "[limit]")?;
        if per_partition_limit.is_some() && select.is_distinct {
            return invalid("PER PARTITION LIMIT is not allowed with SELECT DISTINCT queries");
        }
        if per_partition_limit.is_some() && projection.group_by.is_some() {
            return invalid("PER PARTITION LIMIT is not supported together with GROUP BY");
        }
        if per_partition_limit.is_some() && (projection.is_count || projection.is_grouped()) {
            return invalid("PER PARTITION LIMIT is not allowed with aggregate queries.");
        }
        let mut analysis = Analysis::new(state, &target, Some(select), scope);
        for relation in &select.relations {
            analysis.take(relation, markers)?;
        }
        let restrictions = Box::new(analysis.finish(select, &projection)?);
        let order_by = select.order_by.iter().filter_map(|(name, _)| target.def.column(name));
        let order_by = order_by.map(|column| column.position).collect();
        let is_distinct = select.is_distinct;
        Ok(SelectPlan {
            target,
            cells,
            projection,
            restrictions,
            limit,
            per_partition_limit,
            order_by,
            is_distinct,
        })
    }

    /// Whether it reads partitions by key, without a scan.
    pub(crate) fn reads_by_key(&self) -> bool {
        let keys = &self.restrictions.keys;
        !keys.is_empty() && keys.iter().all(Option::is_some)
    }

    /// Whether it reads a table of the system keyspaces.
    pub(crate) fn reads_system_table(&self) -> bool {
        self.target.is_system
    }

    /// Returns the columns of the result.
    pub(crate) fn columns(&self) -> &[ColumnSpec] {
        &self.projection.specs
    }

    /// Returns the table that it reads.
    pub(crate) fn table(&self) -> TableOf<'_> {
        TableOf { keyspace: &self.target.keyspace, name: &self.target.name, def: &self.target.def }
    }

    /// Returns the warning for the client, in the words of Cassandra 2.2 and later.
    pub(crate) fn warning(&self) -> Option<&'static str> {
        let asked = &self.restrictions;
        let is_aggregate =
            self.projection.is_count || self.projection.is_grouped() && self.projection.group_by.is_none();
        if !is_aggregate {
            None
        } else if asked.token.is_none() && asked.keys.iter().all(Option::is_none) {
            Some("Aggregation query used without partition key")
        } else {
            asked.is_key_in.then_some("Aggregation query used on multiple partition keys (IN restriction)")
        }
    }

    /// Executes the statement.
    pub(crate) async fn execute(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<Outcome> {
        let mut execution = self.begin(state, options)?;
        if let Some(Start { partitions, index, resume }) = execution.start.take() {
            if self.target.is_system {
                let wanted = self.wanted(&partitions, BoundValues::new(state, options))?;
                execution.walk.system_rows(&wanted, partitions, resume)?;
            } else {
                execution.walk.run(partitions, index, resume).await?;
            }
        }
        self.end(execution)
    }

    /// Prepares all that is known before the first read.
    pub(super) fn begin<'a>(
        &'a self,
        state: &'a QueryState<'a>,
        options: &'a QueryOptions,
    ) -> Result<Execution<'a>> {
        let release = state.behaviour.release;
        let cf = &self.target.cf;
        self.check(state, options)?;
        let bound = BoundValues::new(state, options);
        let per_partition = match &self.per_partition_limit {
            Some(term) => limit_of(term, bound)?,
            None => usize::MAX,
        };
        let mut limit = self.limit(bound, release)?;
        let is_whole = self.projection.is_count || self.projection.is_grouped();
        let page_size = options.page_size.filter(|_| !is_whole);
        let resume = match &options.paging_state {
            Some(paging) if !is_whole => Some(self.resumed(cf, paging, release)?),
            _ => None,
        };
        if let Some(resume) = &resume {
            limit = limit.min(usize::try_from(resume.rows_left).unwrap_or(usize::MAX));
        }
        let slicing = Slicing { target: &self.target, restrictions: &self.restrictions, bound };
        let sliced = slicing.sliced(marshal::at(&*cf.comparator, release))?;
        // Where the slices are empty, real servers read nothing and check no more. Otherwise they look for an index before
        // they look at the keys.
        let is_empty = sliced.reads.is_empty();
        let tests = || if is_empty { Ok(Vec::new()) } else { self.tests(&sliced.rest, bound, release) };
        let index = if is_empty { None } else { self.index(cf, &sliced.rest, bound, release)? };
        let partitions = partitions(&self.target, &self.restrictions, bound, state.behaviour, !is_empty)?;
        if is_whole && self.restrictions.rules.pages_aggregates {
            self.sorted_page_size(options.page_size, &partitions, usize::MAX)?;
        }
        let page_size = self.sorted_page_size(page_size, &partitions, limit)?;
        let tests = tests()?;
        // With GROUP BY or aggregates, the limit counts whole groups, not rows.
        let is_counted_whole = self.projection.is_count && self.restrictions.rules.limits_results;
        let rows = if self.projection.is_grouped() || is_counted_whole { usize::MAX } else { limit };
        let of_page = page_size.map_or(rows, |page| rows.min(page.max(1)));
        let counter = RowCounter::new(of_page, per_partition, resume.as_ref());
        let slices = self.partition_reads(state, sliced.reads, index.as_ref());
        let (columns, now_s) = (&self.cells, state.database.now_s());
        let (keyspace, consistency, cf) = (&*self.target.keyspace, options.consistency, cf.clone());
        let source = CellSource { state, keyspace, consistency, cf, columns };
        let result = ResultRows::new(&self.projection, bound, now_s, self.sorts());
        let walk = Walk { source, slices, tests, counter, result };
        let start = (limit > 0).then_some(Start { partitions, index, resume });
        Ok(Execution { walk, start, limit, is_paged: page_size.is_some() })
    }

    /// Returns the size of a page. Rows of several partitions that are sorted together are not paged: they must fit
    /// into one page, even if each partition has as many rows as the limit allows.
    fn sorted_page_size(
        &self,
        page_size: Option<usize>,
        partitions: &Partitions,
        limit: usize,
    ) -> Result<Option<usize>> {
        let (Some(size), Partitions::Keys(keys), true) = (page_size, partitions, self.sorts()) else {
            return Ok(page_size);
        };
        if keys.len().saturating_mul(limit) <= size {
            return Ok(None);
        }
        invalid(
            "Cannot page queries with both ORDER BY and a IN restriction on the partition key; you must either remove the \
             ORDER BY or the IN and sort client side, or disable paging for this query",
        )
    }

    /// Returns which rows of the system tables need to be generated.
    fn wanted(&self, partitions: &Partitions, bound: BoundValues<'_>) -> Result<system::RequestedTables> {
        let keys = match partitions {
            Partitions::Keys(keys) => Some(keys.clone()),
            Partitions::Range(_) => None,
        };
        let first = match self.restrictions.of_clustering_at(0) {
            Some(Restriction { is_tuple: false, asked: RestrictionKind::Eq(operand), .. }) => {
                Some(operand.values(bound)?.into_iter().flatten().collect())
            }
            _ => None,
        };
        Ok(system::RequestedTables { keys, first })
    }

    fn check(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<()> {
        // Roles, and traces of the requests of other users, need a permission.
        let is_open = ![system::AUTH, system::TRACES].contains(&&*self.target.keyspace);
        if self.target.is_system && is_open {
            return Ok(());
        }
        let (keyspace, family) = (self.target.keyspace.as_bytes(), self.target.name.as_bytes());
        state.check(Access::Read { keyspace, family })?;
        if self.target.is_system {
            return Ok(());
        }
        let request = state.request(&self.target.keyspace, options.consistency);
        Ok(request.reads().check_consistency()?)
    }

    fn partition_reads(
        &self,
        state: &QueryState<'_>,
        reads: CellReads,
        index: Option<&ByIndex>,
    ) -> PartitionReads {
        let def = &self.target.def;
        let has_statics = def.static_columns().next().is_some();
        // An index on a partition key column or on a static column finds partitions; other indexes find rows.
        let is_by_rows = index.is_some_and(|index| {
            let mut of_partition = def.partition_key.iter().chain(def.static_columns());
            !of_partition.any(|column| column.cell_name == index.column)
        });
        let selects_statics =
            self.projection.has_static(def) || !state.behaviour.cql.bare_statics_need_selection;
        let shows_bare_statics =
            has_statics && selects_statics && !self.restrictions.restricts_clustering() && !is_by_rows;
        let restricts_static =
            self.restrictions.others.iter().any(|(name, _)| {
                def.others.get(name).is_some_and(|column| column.kind == ColumnKind::Static)
            });
        PartitionReads {
            reads,
            is_reversed: self.restrictions.is_reversed,
            is_distinct: self.is_distinct,
            needs_statics: shows_bare_statics || restricts_static || self.projection.has_static(def),
            shows_bare_statics,
        }
    }

    /// Builds the result from the rows that were read.
    fn end(&self, execution: Execution<'_>) -> Result<Outcome> {
        let Execution { walk: Walk { source, counter, mut result, .. }, limit, is_paged, .. } = execution;
        let bound = result.bound;
        if self.projection.is_grouped() {
            result.groups.finish(&self.projection, bound, result.now_s)?;
            let mut rows = result.groups.answered;
            rows.truncate(limit);
            return Ok(self.outcome(rows, None));
        }
        let taken = counter.taken;
        let mut rows = result.rows;
        if self.sorts() {
            self.sort(&mut rows, bound, source.state.behaviour.release);
            rows.truncate(limit);
        }
        let goes_on = is_paged && counter.is_full() && limit > taken;
        let next = if goes_on { counter.next_page(limit - taken) } else { None };
        let rows = if self.projection.is_count {
            let count = i64::try_from(taken).unwrap_or(i64::MAX);
            let values = vec![Some(Bytes::copy_from_slice(&count.to_be_bytes()))];
            vec![self.projection.result_values(values, bound)]
        } else {
            rows.into_iter().map(|row| row.values).collect()
        };
        Ok(self.outcome(rows, next))
    }

    fn outcome(&self, rows: Vec<Vec<Option<Bytes>>>, next: Option<PagingState>) -> Outcome {
        debug_assert!(
            rows.iter().all(|row| row.len() == self.projection.specs.len()),
            "values would be shown under the names of other columns"
        );
        let paging_state = next.map(|next| next.encode());
        Outcome::Rows(ResultSet { columns: self.projection.specs.clone(), rows, paging_state })
    }

    /// Whether the rows of several partitions are sorted together.
    fn sorts(&self) -> bool {
        self.restrictions.is_key_in && !self.order_by.is_empty()
    }

    /// Sorts rows by the ORDER BY columns. In descending order everything is reversed, including the order of equal
    /// rows.
    fn sort(&self, rows: &mut [ResultRow], bound: BoundValues<'_>, release: Release) {
        let types = bound.database.types();
        let columns = self.order_by.iter().filter_map(|at| self.target.def.clustering.get(*at));
        let columns: Vec<(&TableColumn, TypeRef)> =
            columns.map(|column| (column, column.cql_type.type_ref(types))).collect();
        rows.sort_by(|a, b| {
            for (column, cql_type) in &columns {
                let [a, b] = [a, b].map(|row| row.clustering.get(column.position).and_then(Option::as_ref));
                let order = match (a, b) {
                    (Some(a), Some(b)) => marshal::at(&**cql_type, release).compare(a, b),
                    (a, b) => a.is_some().cmp(&b.is_some()),
                };
                if order.is_ne() {
                    let is_turned = column.is_reversed && a.is_some() && b.is_some();
                    return if is_turned { order.reverse() } else { order };
                }
            }
            Ordering::Equal
        });
        if self.restrictions.is_reversed {
            rows.reverse();
        }
    }

    fn limit(&self, bound: BoundValues<'_>, release: Release) -> Result<usize> {
        let Some(term) = &self.limit else {
            return Ok(Behaviour::of(release).cql.default_limit.unwrap_or(usize::MAX));
        };
        limit_of(term, bound)
    }

    /// Decodes the position at which the previous page ended, and checks that its names are valid in this table.
    fn resumed(&self, cf: &CfDef, state: &Bytes, release: Release) -> Result<PagingState> {
        let state = PagingState::decode(state)?;
        if let Some(position) = &state.position {
            let outer = marshal::at(&*cf.comparator, release);
            let is_known = match cf.subcomparator() {
                Some(sub) => {
                    outer.validate(&position.super_column).is_ok()
                        && marshal::at(&**sub, release).validate(&position.name).is_ok()
                }
                None => position.super_column.is_empty() && outer.validate(&position.name).is_ok(),
            };
            if !is_known {
                return Err(CqlError::PagingState);
            }
        }
        Ok(state)
    }

    /// Returns all restrictions, each with its columns.
    fn restricted(&self) -> Vec<(Vec<&TableColumn>, &Restriction)> {
        let def = &self.target.def;
        let others = self.restrictions.others.iter();
        let others = others.filter_map(|(name, of)| Some((vec![def.column(name)?], of)));
        let clustering = self.restrictions.of_clustering.iter();
        let clustering =
            clustering.map(|of| (def.clustering.iter().skip(of.first).take(of.width).collect(), of));
        let keys = def.partition_key.iter().zip(&self.restrictions.keys);
        let keys = keys.filter_map(|(column, of)| Some((vec![column], of.as_ref()?)));
        others.chain(clustering).chain(keys).collect()
    }

    /// Returns the conditions that must be checked row by row because neither the keys nor the slices cover them.
    fn tests(
        &self,
        rest: &[&Restriction],
        bound: BoundValues<'_>,
        release: Release,
    ) -> Result<Vec<RowFilter>> {
        let mut tests = Vec::new();
        for (columns, restriction) in self.restricted() {
            let is_open = match columns.first().map(|column| column.kind) {
                _ if self.target.is_system => true,
                Some(ColumnKind::PartitionKey) => self.restrictions.is_key_range,
                Some(ColumnKind::Clustering) => rest.iter().any(|other| std::ptr::eq(*other, restriction)),
                Some(_) => true,
                None => false,
            };
            // Slices of super columns cover these restrictions, and the rows are only checked again.
            let is_covered = self.target.is_system
                || self.target.def.layout == Layout::Super && !self.restrictions.has_gap();
            if is_open && self.restrictions.rules.limits_filters && !is_covered {
                check_filter(restriction, &columns)?;
            }
            if is_open {
                tests.push(RowFilter::new(&self.cells, &columns, restriction, bound, release)?);
            }
        }
        Ok(tests)
    }

    /// Returns the index to use. As in Cassandra 2.1, the error that no index supports the relations is found only
    /// here.
    fn index(
        &self,
        cf: &CfDef,
        rest: &[&Restriction],
        bound: BoundValues<'_>,
        release: Release,
    ) -> Result<Option<ByIndex>> {
        if !self.restrictions.uses_index {
            return Ok(None);
        }
        let mut is_supported = false;
        let mut others = Vec::new();
        for (columns, restriction) in self.restricted() {
            let [column] = columns[..] else { continue };
            if self.restrictions.without_index.contains(&column.name) {
                continue;
            }
            let Some(indexed) = self.target.index(column) else { continue };
            let Some(value) = indexed_value(indexed, restriction, bound, column, release)? else {
                others.extend(unsupported(restriction, column, release));
                continue;
            };
            is_supported = true;
            if bound.database.indexes().is_usable(cf, &column.cell_name, bound.sees_new_indexes) {
                return Ok(Some(ByIndex { column: column.cell_name.clone(), value }));
            }
        }
        if is_supported || !self.restrictions.rules.conditions_need_index {
            return Ok(None);
        }
        // An invalid value is reported first.
        self.tests(rest, bound, release)?;
        invalid(format!(
            "No secondary indexes on the restricted columns support the provided operators: {}",
            others.join(", ")
        ))
    }
}

fn limit_of(term: &TypedTerm, bound: BoundValues<'_>) -> Result<usize> {
    if term.is_unset(bound.options) {
        return Ok(usize::MAX);
    }
    let Some(bytes) = bound.bytes(term)? else {
        return invalid("Invalid null value of limit");
    };
    let Ok(bytes) = <[u8; 4]>::try_from(&bytes[..]) else {
        return invalid("Invalid limit value");
    };
    match usize::try_from(i32::from_be_bytes(bytes)) {
        Ok(limit) if limit > 0 => Ok(limit),
        _ => invalid("LIMIT must be strictly positive"),
    }
}

/// Returns the table of a SELECT.
fn target(state: &QueryState<'_>, select: &Select) -> Result<Target> {
    let keyspace = state.keyspace_of(select.table.keyspace.as_deref())?;
    if let Some(cf) = system::definition(state.reported, keyspace, &select.table.name) {
        let (keyspace, name) = (cf.keyspace.clone(), cf.name.clone());
        let def = TableDef::of(cf, state.behaviour.release);
        return Ok(Target { keyspace, name, def, cf: cf.clone(), is_system: true });
    }
    let table = state.table(&select.table)?;
    if table.def.layout == Layout::Super && state.behaviour.cql.select_refuses_super {
        return Err(Error::Internal("This operation is not supported for Super Columns.".to_owned()).into());
    }
    Ok(Target {
        keyspace: table.cf.keyspace.clone(),
        name: table.cf.name.clone(),
        def: table.def,
        cf: table.cf,
        is_system: false,
    })
}
