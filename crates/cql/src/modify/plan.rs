//! A checked INSERT, UPDATE or DELETE: which rows it changes, and how.

use std::borrow::Cow;

use bytes::Bytes;

use super::attributes::{self, Attributes};
use super::body::{delete, insert, update};
use super::changed_keys::ChangedKeys;
use super::condition::ColumnCondition;
use super::conditional;
use super::current::CurrentPartition;
use super::json::JsonValues;
use super::kind::ModifyKind;
use super::operation::ColumnOperation;
use super::row_test::RowTest;
use super::row_writer::{Lists, RowWriter, WriteContext};
use super::step::Step;
use super::terms::Terms;
use crate::error::invalid;
use crate::limits::CONDITIONS_MAX;
use crate::select::RowSet;
use crate::system::is_system;
use crate::values::{Markers, TableOf, check_combinations};
use crate::{CqlError, Outcome, QueryOptions, QueryState, Result, Table};
use base::compat::features::ConsistencyLevel;
use base::compat::{Behaviour, texts};
use base::model::{CfMutation, Changes, Mutation};
use base::schema::{CfDef, ColumnKind, Layout};
use base::util::meter;
use cql_syntax::{Change as Written, Conditions, Modify};
use db::{Access, check_counter_level};

/// Partitions whose changes a statement makes and writes at once.
const PARTITIONS_AT_ONCE: usize = 1024;

/// The rows that a statement changes: in each partition, those of each prefix.
pub(super) struct RowsToChange {
    pub keys: Vec<Bytes>,
    pub prefixes: Vec<RowSet>,
}

/// A checked INSERT, UPDATE or DELETE.
#[derive(Debug)]
pub(crate) struct ModifyPlan {
    pub(super) table: Table,
    pub(super) kind: ModifyKind,
    pub(super) attributes: Attributes,
    pub(super) keys: ChangedKeys,
    pub(super) operations: Vec<ColumnOperation>,
    pub(super) test: RowTest,
    /// Whether it sets, or has conditions on, static columns; `has_regulars`: other columns.
    pub(super) has_statics: bool,
    pub(super) has_regulars: bool,
    /// The values of an `INSERT ... JSON`.
    json: Option<Box<JsonValues>>,
}

impl ModifyPlan {
    /// Checks a statement, in the order of the old servers.
    pub(crate) fn new(state: &QueryState<'_>, modify: &Modify, markers: &mut Markers) -> Result<ModifyPlan> {
        let keyspace = modify.table.keyspace.as_deref().or(state.keyspace);
        if let Some(keyspace) = keyspace.filter(|keyspace| is_system(keyspace)) {
            return Err(CqlError::Unauthorized(texts::own_keyspace_in_cql(state.behaviour, keyspace)));
        }
        let table = state.table(&modify.table)?;
        let catalog = state.database.catalog();
        let Some(keyspace) = catalog.keyspace(&table.cf.keyspace) else {
            return invalid(texts::unknown_table(state.line(), &modify.table.name));
        };
        let scope = state.type_scope(keyspace);
        let mut terms = Terms { table: &table, scope, markers };
        let attributes = Attributes::new(modify.timestamp.as_deref(), modify.ttl.as_deref(), &mut terms)?;
        let mut json = None;
        let (kind, keys, operations) = match &modify.change {
            Written::Insert { columns, values } => insert(columns, values, &mut terms)?,
            Written::InsertJson { json: text, keeps_omitted } => {
                let (values, body) = JsonValues::new(text, *keeps_omitted, &mut terms)?;
                json = Some(Box::new(values));
                body
            }
            Written::Update { assignments, relations } => update(state, assignments, relations, &mut terms)?,
            Written::Delete { deletions, relations } => delete(state, deletions, relations, &mut terms)?,
        };
        let test = row_test(&modify.conditions, &attributes, &mut terms)?;
        let tested = match &test {
            RowTest::Columns(conditions) => &conditions[..],
            _ => &[],
        };
        let has_statics = operations.iter().any(ColumnOperation::is_static)
            || tested.iter().any(ColumnCondition::is_static);
        // A DELETE of whole rows leaves the static columns alone.
        let deletes_rows = kind == ModifyKind::Delete && operations.is_empty();
        let has_regulars = deletes_rows
            || !operations.iter().all(ColumnOperation::is_static)
            || !tested.iter().all(ColumnCondition::is_static);
        let plan =
            ModifyPlan { table, kind, attributes, keys, operations, test, has_statics, has_regulars, json };
        plan.check_keys(state)?;
        Ok(plan)
    }

    /// Returns the table that it changes.
    pub(crate) fn table(&self) -> TableOf<'_> {
        TableOf { keyspace: &self.table.cf.keyspace, name: &self.table.cf.name, def: &self.table.def }
    }

    /// Whether both statements change the same table.
    pub(super) fn changes_table_of(&self, other: &ModifyPlan) -> bool {
        let [own, of_other] = [self, other].map(|plan| (&plan.table.cf.keyspace, &plan.table.cf.name));
        own == of_other
    }

    /// Whether the statement has IF, and runs as a lightweight transaction.
    pub(crate) fn has_conditions(&self) -> bool {
        !matches!(self.test, RowTest::None)
    }

    /// Whether it is DELETE.
    pub(crate) fn is_deletion(&self) -> bool {
        self.kind == ModifyKind::Delete
    }

    /// Whether its table has counters, which only UPDATE and DELETE change.
    pub(crate) fn is_counter(&self) -> bool {
        self.table.cf.is_counter()
    }

    /// Runs the checks at execution: the user's permissions, and the settings of counters.
    pub(super) fn check(&self, state: &QueryState<'_>) -> Result<()> {
        let (keyspace, family) = (self.table.cf.keyspace.as_bytes(), self.table.cf.name.as_bytes());
        state.check(Access::Write { keyspace, family })?;
        if self.has_conditions() {
            state.check(Access::Read { keyspace, family })?;
        }
        if !self.is_counter() || state.behaviour.cql.counters_ignore_timestamps {
            return Ok(());
        }
        if self.attributes.has_timestamp() {
            return invalid("Cannot provide custom timestamp for counter updates");
        }
        if self.attributes.has_ttl() {
            return invalid("Cannot provide custom TTL for counter updates");
        }
        Ok(())
    }

    /// Appends the values of `INSERT ... JSON` to the bound values.
    pub(super) fn bind_json(
        &self,
        options: &mut Cow<'_, QueryOptions>,
        state: &QueryState<'_>,
    ) -> Result<()> {
        match &self.json {
            Some(json) => json.bind(options, &self.table, state),
            None => Ok(()),
        }
    }

    /// Executes the statement.
    pub(crate) async fn execute(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<Outcome> {
        self.check(state)?;
        let mut options = Cow::Borrowed(options);
        self.bind_json(&mut options, state)?;
        let options = &*options;
        let now = attributes::now(state, options);
        if self.has_conditions() {
            return conditional::run(state, options, &[Step { plan: self, options }], false).await;
        }
        check_consistency(options.consistency, &self.table.cf, state.behaviour)?;
        let rows = self.rows(state, options)?;
        let request = state.request(&self.table.cf.keyspace, options.consistency);
        // The changes of many partitions take more memory than their keys. If one of them cannot be made, as the index of
        // a list's element is too large, nothing is written.
        let at_once = if self.operations.iter().any(ColumnOperation::reads_list) {
            rows.keys.len()
        } else {
            PARTITIONS_AT_ONCE
        };
        for keys in rows.keys.chunks(at_once.max(1)) {
            let held_before = meter::mark();
            let mut mutations = Vec::with_capacity(keys.len());
            for key in keys {
                let changes = self.changes(state, options, key, &rows.prefixes, now).await?;
                if !changes.is_empty() {
                    let families = vec![CfMutation { cf: self.table.cf.clone(), changes }];
                    mutations.push(Mutation { key: key.clone(), families });
                }
            }
            request.writes().apply(mutations).await?;
            held_before.restore();
        }
        Ok(Outcome::Void)
    }

    /// Returns the rows that the statement changes.
    pub(super) fn rows(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<RowsToChange> {
        let keys = self.row_keys(state, options)?;
        let prefixes = self.prefixes(state, options)?;
        check_combinations(keys.len(), prefixes.len())?;
        Ok(RowsToChange { keys, prefixes })
    }

    /// Returns the changes to the rows of one partition.
    pub(super) async fn changes(
        &self,
        state: &QueryState<'_>,
        options: &QueryOptions,
        key: &Bytes,
        prefixes: &[RowSet],
        now: i64,
    ) -> Result<Changes> {
        let mut changes = Changes::default();
        for prefix in prefixes {
            changes.append(self.changes_of(state, options, key, prefix, now).await?)?;
        }
        Ok(changes)
    }

    /// Returns the changes to one row.
    pub(super) async fn changes_of(
        &self,
        state: &QueryState<'_>,
        options: &QueryOptions,
        key: &Bytes,
        prefix: &RowSet,
        now: i64,
    ) -> Result<Changes> {
        let mut reading = Vec::new();
        for operation in &self.operations {
            if operation.reads_list() {
                reading.push(&operation.column);
            }
        }
        let lists = if reading.is_empty() {
            Lists::new()
        } else {
            let level = options.consistency;
            if matches!(level, ConsistencyLevel::Any | ConsistencyLevel::EachQuorum) {
                return invalid(format!(
                    "Write operation require a read but consistency {level} is not supported on reads"
                ));
            }
            let partition = CurrentPartition { state, table: &self.table, key, consistency: level };
            partition.lists(prefix, &reading).await?
        };
        let is_counter = self.is_counter();
        let database = state.database;
        let is_counted =
            is_counter && self.kind == ModifyKind::Update && state.behaviour.cql.counters_ignore_timestamps;
        let timestamp = match is_counted {
            true => attributes::servers_now(state),
            false => self.attributes.timestamp(now, options, database)?,
        };
        if timestamp == i64::MIN && state.behaviour.cql.smallest_timestamp_is_refused {
            return invalid(format!("Out of bound timestamp, must be in [{}, {}]", i64::MIN + 1, i64::MAX));
        }
        let ttl_s = if is_counter { None } else { self.attributes.ttl_s(state, options, &self.table.cf)? };
        let writing = WriteContext {
            table: &self.table,
            options,
            database,
            release: state.behaviour.release,
            line: state.line(),
            prefix,
            timestamp,
            ttl_s,
            now_s: database.now_s(),
        };
        let mut writer = RowWriter::new(writing, &lists);
        match self.kind {
            ModifyKind::Delete => self.write_deletions(writing, &mut writer)?,
            ModifyKind::Insert | ModifyKind::Update => self.write_row(writing, &mut writer)?,
        }
        Ok(writer.changes)
    }

    /// Writes the changes of an INSERT or UPDATE.
    fn write_row(&self, writing: WriteContext<'_>, writer: &mut RowWriter<'_>) -> Result<()> {
        let def = &self.table.def;
        let clustering = match writing.prefix {
            RowSet::Static | RowSet::Range { .. } => None,
            RowSet::Row(values) => Some(values),
        };
        let marks = self.kind == ModifyKind::Insert
            || (Behaviour::of(writing.release).cql.update_marks_rows && !self.is_counter());
        if def.layout == Layout::Sparse && marks && clustering.is_some() {
            writer.write_marker()?;
        }
        let clustering = clustering.map_or(&[][..], Vec::as_slice);
        let lacking = match def.layout {
            Layout::Sparse | Layout::StaticCompact => None,
            Layout::CompositeDense => def.clustering.first().filter(|_| clustering.is_empty()),
            Layout::Dense | Layout::Super => {
                let mut columns = def.clustering.iter();
                columns.find(|column| clustering.get(column.position).is_none_or(Bytes::is_empty))
            }
        };
        if let Some(column) = lacking {
            return invalid(texts::missing_clustering(writing.line, &column.name));
        }
        let is_dense = matches!(def.layout, Layout::Dense | Layout::CompositeDense)
            || def.layout == Layout::Super && def.clustering.len() > 1;
        if is_dense && self.operations.is_empty() {
            return match def.compact_value() {
                None => writer.write_dense_row(),
                Some(value) => {
                    invalid(format!("Column {} is mandatory for this COMPACT STORAGE table", value.name))
                }
            };
        }
        self.operations.iter().try_for_each(|operation| writer.apply(operation))
    }

    /// Writes the changes of a DELETE.
    fn write_deletions(&self, writing: WriteContext<'_>, writer: &mut RowWriter<'_>) -> Result<()> {
        if self.operations.is_empty() {
            return writer.delete_rows();
        }
        let may_lack_row = Behaviour::of(writing.release).cql.delete_may_lack_clustering;
        let lacking = match writing.prefix {
            RowSet::Static | RowSet::Range { .. } => None,
            RowSet::Row(values) => self.table.def.clustering.get(values.len()),
        };
        for operation in &self.operations {
            let name = &operation.column.name;
            match lacking.filter(|_| operation.column.kind != ColumnKind::Static) {
                None => writer.apply(operation)?,
                Some(first) if first.position == 0 && may_lack_row => {}
                Some(first) => {
                    return invalid(texts::deleted_column_without_row(writing.release, &first.name, name));
                }
            }
        }
        Ok(())
    }
}

/// Refuses consistency levels that writes of a table do not support.
pub(super) fn check_consistency(level: ConsistencyLevel, cf: &CfDef, behaviour: &Behaviour) -> Result<()> {
    if cf.is_counter() {
        return Ok(check_counter_level(cf, level, behaviour)?);
    }
    if level.is_serial() {
        return invalid("You must use conditional updates for serializable writes");
    }
    Ok(())
}

fn row_test(conditions: &Conditions, attributes: &Attributes, terms: &mut Terms<'_>) -> Result<RowTest> {
    if matches!(conditions, Conditions::None) {
        return Ok(RowTest::None);
    }
    if terms.table.cf.is_counter() {
        return invalid("Conditional updates are not supported on counter tables");
    }
    if attributes.has_timestamp() {
        return invalid("Cannot provide custom timestamp for conditional updates");
    }
    Ok(match conditions {
        Conditions::None => RowTest::None,
        Conditions::IfExists => RowTest::Exists,
        Conditions::IfNotExists => RowTest::NotExists,
        Conditions::If(list) if list.len() > CONDITIONS_MAX => {
            return invalid(format!(
                "The statement has {} conditions, and at most {CONDITIONS_MAX} are allowed: use several statements in a \
                 batch",
                list.len()
            ));
        }
        Conditions::If(list) => {
            let typed = list.iter().map(|condition| ColumnCondition::new(condition, terms));
            RowTest::Columns(typed.collect::<Result<_, _>>()?)
        }
    })
}
