//! Statements with IF. They are serialized per partition and return a result.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::attributes;
use super::condition::{ColumnCondition, ConditionContext};
use super::current::CurrentRow;
use super::operation::ColumnOperation;
use super::row_test::RowTest;
use super::step::Step;
use crate::error::invalid;
use crate::select::RowSet;
use crate::{ColumnSpec, Outcome, QueryOptions, QueryState, Result, ResultSet, Table};
use base::marshal;
use base::marshal::{CqlType, Native};
use base::model::{Change, Mutation};
use base::schema::{ColumnKind, TableColumn, row_key_parts};
use base::util::Release;

/// All conditions on one row.
struct ConditionalRow<'p> {
    prefix: RowSet,
    test: ConditionalTest<'p>,
    /// The current row, read before the conditions are checked.
    row: Option<CurrentRow>,
}

enum ConditionalTest<'p> {
    Exists,
    NotExists,
    /// Conditions, each with the bound values of its statement.
    Columns(Vec<(&'p ColumnCondition, &'p QueryOptions)>),
}

/// A request of one or more statements on one partition.
struct ConditionalRequest<'p> {
    table: &'p Table,
    key: Bytes,
    asked: Vec<ConditionalRow<'p>>,
    /// The indexes of rows in `asked`.
    places: HashMap<RowSet, usize>,
    /// The statements, each with the row that it changes.
    steps: Vec<(Step<'p>, RowSet)>,
    /// Rows that a refusal shows although no condition needs them.
    partition: Option<ShownPartition>,
}

/// The static columns of a partition, and its first row.
struct ShownPartition {
    statics: CurrentRow,
    first: CurrentRow,
}

/// Executes statements, some with conditions: all of them if all conditions hold, otherwise none. `options` has the
/// consistency levels.
pub(super) async fn run(
    state: &QueryState<'_>,
    options: &QueryOptions,
    steps: &[Step<'_>],
    is_batch: bool,
) -> Result<Outcome> {
    if !is_batch && !options.has_conditions {
        return invalid(
            "Conditional updates are not supported by the protocol version in use. You need to upgrade to a driver using \
             the native protocol v2.",
        );
    }
    check_levels(options)?;
    let Some(mut request) = ConditionalRequest::new(state, steps)? else { return Ok(Outcome::Void) };
    let _turn = state.database.cas_turn(&request.key).await;
    for asked in &mut request.asked {
        let (key, prefix, level) = (&request.key, &asked.prefix, options.serial_consistency);
        asked.row = Some(CurrentRow::read(state, request.table, key, prefix, level).await?);
    }
    if !request.holds(state)? {
        if state.behaviour.cql.refusals_show_partition {
            request.read_partition(state, options).await?;
        }
        return Ok(Outcome::Rows(request.refusal(state, is_batch)?));
    }
    request.apply(state, options).await?;
    Ok(Outcome::Rows(answer(request.table, true)))
}

fn check_levels(options: &QueryOptions) -> Result<()> {
    if options.consistency.is_serial() {
        return invalid(format!(
            "{} is not supported as conditional update commit consistency. Use ANY if you mean \"make sure it is \
             accepted but I don't care how many replicas commit it for non-SERIAL reads\"",
            options.consistency
        ));
    }
    if !options.serial_consistency.is_serial() {
        return invalid("Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL");
    }
    Ok(())
}

fn spec(table: &Table, name: &str, cql_type: CqlType) -> ColumnSpec {
    let (keyspace, table) = (table.cf.keyspace.clone(), table.cf.name.clone());
    ColumnSpec { keyspace, table, name: name.to_owned(), cql_type, is_field: false }
}

fn answer(table: &Table, is_applied: bool) -> ResultSet {
    ResultSet {
        columns: Arc::new([spec(table, "[applied]", CqlType::Native(Native::Boolean))]),
        rows: vec![vec![Some(Bytes::copy_from_slice(&[u8::from(is_applied)]))]],
        paging_state: None,
    }
}

impl<'p> ConditionalRequest<'p> {
    /// Returns the request for these statements, or `None` if there are none.
    fn new(state: &QueryState<'_>, steps: &[Step<'p>]) -> Result<Option<ConditionalRequest<'p>>> {
        let mut request: Option<ConditionalRequest<'p>> = None;
        for step in steps {
            let Step { plan, options } = *step;
            let keys = plan.row_keys(state, options)?;
            plan.check_one_row()?;
            let [key] = &keys[..] else {
                return invalid("IN on the partition key is not supported with conditional updates");
            };
            let request = request.get_or_insert_with(|| ConditionalRequest {
                table: &plan.table,
                key: key.clone(),
                asked: Vec::new(),
                places: HashMap::new(),
                steps: Vec::new(),
                partition: None,
            });
            if request.key != *key {
                return invalid("Batch with conditions cannot span multiple partitions");
            }
            let prefixes = plan.prefixes(state, options)?;
            // A DELETE of a range, which has no conditions of its own, can have no range or several.
            for prefix in prefixes {
                request.ask(&prefix, *step)?;
                request.steps.push((*step, prefix));
            }
        }
        Ok(request)
    }

    /// Adds a statement's conditions on its row, and on the static columns.
    fn ask(&mut self, prefix: &RowSet, step: Step<'p>) -> Result<()> {
        match &step.plan.test {
            RowTest::None => Ok(()),
            RowTest::Exists => self.ask_row(prefix, ConditionalTest::Exists),
            RowTest::NotExists => self.ask_row(prefix, ConditionalTest::NotExists),
            RowTest::Columns(conditions) => {
                let valued = conditions.iter().map(|condition| (condition, step.options));
                let (statics, others): (Vec<_>, Vec<_>) =
                    valued.partition(|(condition, _)| condition.is_static());
                if !others.is_empty() {
                    self.ask_row(prefix, ConditionalTest::Columns(others))?;
                }
                if statics.is_empty() {
                    return Ok(());
                }
                self.ask_row(&RowSet::Static, ConditionalTest::Columns(statics))
            }
        }
    }

    fn ask_row(&mut self, prefix: &RowSet, test: ConditionalTest<'p>) -> Result<()> {
        let known = self.places.get(prefix).and_then(|place| self.asked.get_mut(*place));
        let Some(known) = known else {
            self.places.insert(prefix.clone(), self.asked.len());
            self.asked.push(ConditionalRow { prefix: prefix.clone(), test, row: None });
            return Ok(());
        };
        match (&mut known.test, test) {
            (ConditionalTest::Columns(known), ConditionalTest::Columns(new)) => known.extend(new),
            (ConditionalTest::Exists, ConditionalTest::Exists)
            | (ConditionalTest::NotExists, ConditionalTest::NotExists) => {}
            (ConditionalTest::Exists, ConditionalTest::NotExists)
            | (ConditionalTest::NotExists, ConditionalTest::Exists) => {
                return invalid("Cannot mix IF EXISTS and IF NOT EXISTS conditions for the same row");
            }
            _ => {
                return invalid("Cannot mix IF conditions and IF NOT EXISTS for the same row");
            }
        }
        Ok(())
    }

    fn holds(&self, state: &QueryState<'_>) -> Result<bool> {
        let testing = |options: &'p QueryOptions| ConditionContext {
            def: &self.table.def,
            options,
            database: state.database,
            release: state.behaviour.release,
        };
        for asked in &self.asked {
            let Some(row) = &asked.row else { continue };
            let holds = match &asked.test {
                ConditionalTest::Exists => row.exists(),
                ConditionalTest::NotExists => !row.exists(),
                ConditionalTest::Columns(conditions) => {
                    let mut holds = row.exists() || !state.behaviour.cql.conditions_need_row;
                    let mut conditions: Vec<_> = conditions.iter().collect();
                    if state.behaviour.cql.conditions_are_in_a_map {
                        conditions
                            .sort_by_cached_key(|(condition, options)| condition.bucket(testing(options)));
                    }
                    for (condition, options) in conditions {
                        holds = holds && condition.holds(row.named(), testing(options))?;
                    }
                    holds
                }
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    async fn apply(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<()> {
        let now = attributes::servers_now(state);
        let mut changes = Vec::new();
        for (step, prefix) in &self.steps {
            let planned = step.plan.changes_of(state, step.options, &self.key, prefix, now).await?;
            planned.take_all(|change| changes.push(change));
        }
        // All cells of a request have the same timestamp. Its range tombstones are one microsecond older, so that they
        // do not delete cells of the same request.
        let older = now.wrapping_sub(1);
        for change in &mut changes {
            match change {
                Change::Cell { cell, .. } => cell.timestamp = now,
                Change::DeleteSuper { deletion, .. } | Change::DeleteRow { deletion } => {
                    deletion.marked_for_delete_at = older;
                }
                Change::DeleteRange(range) => range.deletion.marked_for_delete_at = older,
            }
        }
        if changes.is_empty() {
            return Ok(());
        }
        let cf = self.table.cf.clone();
        let mutation = Mutation::of(self.key.clone(), cf, changes);
        let request = state.request(&self.table.cf.keyspace, options.consistency);
        request.writes().apply(vec![mutation]).await?;
        Ok(())
    }

    async fn read_partition(&mut self, state: &QueryState<'_>, options: &QueryOptions) -> Result<()> {
        let changes_statics =
            |(step, _): &(Step<'_>, RowSet)| step.plan.operations.iter().any(ColumnOperation::is_static);
        if !self.steps.iter().any(changes_statics) {
            return Ok(());
        }
        let level = options.serial_consistency;
        let statics = CurrentRow::read(state, self.table, &self.key, &RowSet::Static, level).await?;
        let first = CurrentRow::first(state, self.table, &self.key, level).await?;
        self.partition = Some(ShownPartition { statics, first });
        Ok(())
    }

    /// Returns the result if a condition does not hold: the current values.
    fn refusal(&self, state: &QueryState<'_>, is_batch: bool) -> Result<ResultSet> {
        let mut result = answer(self.table, false);
        let columns = self.shown(is_batch);
        let rows = self.rows_there(state, &columns);
        if rows.is_empty() {
            return Ok(result);
        }
        let specs = columns.iter().map(|column| spec(self.table, &column.name, column.cql_type.clone()));
        result.columns = result.columns.iter().cloned().chain(specs).collect();
        let applied = result.rows.pop().unwrap_or_default();
        result.rows = rows.into_iter().map(|row| applied.iter().cloned().chain(row).collect()).collect();
        Ok(result)
    }

    /// Returns the columns of that result: the columns with conditions, or all columns if a condition is on the whole
    /// row. In a batch the primary key is added, to distinguish the rows.
    fn shown(&self, is_batch: bool) -> Vec<&'p TableColumn> {
        let def = &self.table.def;
        let mut columns: Vec<&TableColumn> = Vec::new();
        if is_batch {
            columns.extend(def.partition_key.iter().chain(&def.clustering));
        }
        for (step, _) in &self.steps {
            let RowTest::Columns(conditions) = &step.plan.test else {
                if matches!(step.plan.test, RowTest::None) {
                    continue;
                }
                return def.columns().collect();
            };
            let (statics, others): (Vec<_>, Vec<_>) = conditions.iter().partition(|one| one.is_static());
            for condition in others.into_iter().chain(statics) {
                if !columns.iter().any(|column| column.name == condition.column.name) {
                    columns.push(&condition.column);
                }
            }
        }
        columns
    }

    fn rows_there(&self, state: &QueryState<'_>, columns: &[&TableColumn]) -> Vec<Vec<Option<Bytes>>> {
        let def = &self.table.def;
        let keys = row_key_parts(&self.key, def.partition_key.len()).unwrap_or_default();
        let there = || {
            let read = self.asked.iter().filter_map(|asked| Some((&asked.prefix, asked.row.as_ref()?)));
            read.filter(|(_, row)| row.exists())
        };
        let shared = there().find(|(prefix, _)| **prefix == RowSet::Static).map(|(_, row)| row);
        let first = self.partition.as_ref().and_then(|shown| shown.first.stored_clustering(def));
        let mut rows: Vec<(Vec<Bytes>, Option<&CurrentRow>)> = Vec::new();
        for (prefix, row) in there() {
            if let RowSet::Row(clustering) = prefix {
                rows.push((row.stored_clustering(def).unwrap_or_else(|| clustering.clone()), Some(row)));
            }
        }
        rows.sort_by(|(left, _), (right, _)| self.compare(left, right, state.behaviour.release));
        if rows.is_empty() && shared.is_some() {
            rows.push((first.unwrap_or_default(), None));
        }
        let shared = shared.or(self.partition.as_ref().map(|shown| &shown.statics));
        let value = |column: &TableColumn, clustering: &[Bytes], row: Option<&CurrentRow>| match column.kind {
            ColumnKind::PartitionKey => keys.get(column.position).cloned(),
            ColumnKind::Clustering => clustering.get(column.position).cloned(),
            ColumnKind::Static => shared?.value(def, column),
            ColumnKind::Regular | ColumnKind::CompactValue => row?.value(def, column),
        };
        rows.into_iter()
            .map(|(clustering, row)| columns.iter().map(|column| value(column, &clustering, row)).collect())
            .collect()
    }

    /// Compares rows in the order of their partition.
    fn compare(&self, left: &[Bytes], right: &[Bytes], release: Release) -> std::cmp::Ordering {
        let def = &self.table.def;
        let name = |values: &[Bytes]| {
            if def.is_compact() { def.dense_name(values) } else { def.clustering_prefix(values, 0) }
        };
        marshal::at(&*self.table.cf.comparator, release).compare(&name(left), &name(right))
    }
}
