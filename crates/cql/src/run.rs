//! Prepares and executes statements.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use bytes::Bytes;
use bytestring::ByteString;
use futures_util::future::BoxFuture;

use super::define::{check_prepared, define};
use super::describe::describe;
use super::journal_arguments::{note_batch, note_query, note_values};
use super::modify::{BatchPlan, ModifyPlan, Step, run_batch};
use super::select::{AccessPath, Reach, SelectPlan};
use super::values::Markers;
use super::{ColumnSpec, CqlError, Outcome, QueryOptions, QueryState, access};
use crate::Result;
use crate::error::invalid;
use base::compat::features::restrictions::MATERIALIZED_VIEWS;
use base::compat::{Behaviour, Line, texts};
use base::model::BoundValue;
use base::schema::Catalog;
use base::util::meter;
use base::util::meter::RequestKind;
use cql_syntax::{self, BatchKind, Change, Parsed, Statement, StatementTarget};
use db::faults::{JournalResult, note_result, note_statement};

/// The execution of a statement. It is boxed, so that its code is compiled in this crate, and not again in each crate that
/// executes statements.
pub type Execution<'a, T = Outcome> = BoxFuture<'a, Result<T>>;

/// A parsed and checked statement, which can be executed many times.
pub struct Prepared {
    /// The text as the client sent it.
    pub text: ByteString,
    /// The keyspace of the session when it was prepared. The names in the statement stay in that keyspace.
    pub keyspace: Option<String>,
    /// The statement, with the names of its markers.
    pub parsed: Parsed,
    /// The receiver of each marker.
    pub markers: Vec<ColumnSpec>,
    /// See `pk_indices`.
    key_places: Vec<u16>,
    plan: Plan,
    /// The schema that it was planned for. The reference is weak because dropping a table waits for all holders of its
    /// schema.
    schema: Weak<Catalog>,
    /// The line of the reported version, if the statement reads a system table, whose columns depend on it.
    line: Option<Line>,
    /// The line whose features the plan has; `None` if it has no plan.
    features: Option<Line>,
    had_other_columns: AtomicBool,
    columns_id: OnceLock<Bytes>,
}

/// The result of checking a statement, before it is executed.
enum Plan {
    Select(Box<SelectPlan>),
    Modify(ModifyPlan),
    Batch(BatchPlan),
    /// A statement that is checked when it is executed.
    Late,
}

impl Plan {
    fn kind(&self) -> RequestKind {
        match self {
            Plan::Select(plan) if plan.reads_by_key() => RequestKind::Read,
            Plan::Select(_) => RequestKind::Range,
            Plan::Modify(_) | Plan::Batch(_) | Plan::Late => RequestKind::Write,
        }
    }
}

impl Prepared {
    /// Whether it was planned for this schema, and for a session with the same system tables and features.
    pub fn is_for(&self, state: &QueryState<'_>, catalog: &Arc<Catalog>) -> bool {
        std::ptr::eq(self.schema.as_ptr(), Arc::as_ptr(catalog))
            && self.line.is_none_or(|line| line == state.reported.line())
            && self.features.is_none_or(|line| line == state.line())
    }

    /// Returns the columns of its result, if they are known before the execution.
    pub fn columns(&self) -> &[ColumnSpec] {
        match &self.plan {
            Plan::Select(plan) => plan.columns(),
            Plan::Modify(_) | Plan::Batch(_) | Plan::Late => &[],
        }
    }

    /// Returns the id of its result columns in a protocol. `name` computes it once.
    pub fn columns_id(&self, name: fn(&[ColumnSpec]) -> Bytes) -> &Bytes {
        self.columns_id.get_or_init(|| name(self.columns()))
    }

    /// Whether its result had other columns under an earlier schema, which clients may still have cached.
    pub fn had_other_columns(&self) -> bool {
        self.had_other_columns.load(Ordering::Relaxed)
    }

    /// Records whether its result had other columns before a schema change.
    pub fn comes_after(&self, before: &Prepared) {
        let column = |column: &ColumnSpec| (column.name.clone(), column.cql_type.clone());
        if before.had_other_columns()
            || !self.columns().iter().map(column).eq(before.columns().iter().map(column))
        {
            self.had_other_columns.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the warning for the client, which does not depend on the result.
    pub fn warning(&self) -> Option<&'static str> {
        match &self.plan {
            Plan::Select(plan) => plan.warning(),
            Plan::Modify(_) | Plan::Batch(_) | Plan::Late => None,
        }
    }

    /// Returns how much a SELECT may read; `None` for other statements and for system tables.
    pub fn reach(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<Option<Reach>> {
        match &self.plan {
            Plan::Select(plan) => plan.reach(state, options),
            Plan::Modify(_) | Plan::Batch(_) | Plan::Late => Ok(None),
        }
    }

    /// Returns how a SELECT finds its rows; `None` for other statements and for system tables.
    pub fn path(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<Option<AccessPath>> {
        match &self.plan {
            Plan::Select(plan) => plan.path(state, options),
            Plan::Modify(_) | Plan::Batch(_) | Plan::Late => Ok(None),
        }
    }

    /// Returns whether the statement only reads, whatever its values are: SELECT, DESCRIBE and USE.
    pub fn only_reads(&self) -> bool {
        matches!(self.parsed.statement, Statement::Select(_) | Statement::Describe(_) | Statement::Use(_))
    }

    /// Returns the kind of the statement and the element that it works on.
    pub fn target(&self) -> StatementTarget {
        self.parsed.statement.target()
    }

    /// Returns whether the statement is a SELECT of a table of the system keyspaces, whose rows are made for it.
    pub fn reads_system_table(&self) -> bool {
        matches!(&self.plan, Plan::Select(plan) if plan.reads_system_table())
    }

    /// Returns the marker index for each partition key column; empty unless every column has exactly one marker.
    pub fn pk_indices(&self) -> &[u16] {
        &self.key_places
    }

    /// Returns the write type in the words of the native protocol, or `None` if the statement writes no data.
    pub fn write_type(&self) -> Option<&'static str> {
        match (&self.plan, &self.parsed.statement) {
            (Plan::Modify(plan), _) if plan.has_conditions() => Some("CAS"),
            (Plan::Modify(plan), _) if plan.is_counter() => Some("COUNTER"),
            (Plan::Modify(_), _) => Some("SIMPLE"),
            (Plan::Batch(_), Statement::Batch(batch)) => Some(batch.kind.write_type()),
            _ => None,
        }
    }

    /// Returns the first word of a statement about rows; `OTHER` for all others.
    fn first_word(&self) -> &'static str {
        match &self.parsed.statement {
            Statement::Select(_) => "SELECT",
            Statement::Modify(modify) => match modify.change {
                Change::Insert { .. } | Change::InsertJson { .. } => "INSERT",
                Change::Update { .. } => "UPDATE",
                Change::Delete { .. } => "DELETE",
            },
            Statement::Batch(_) => "BEGIN",
            Statement::Truncate(_) => "TRUNCATE",
            _ => "OTHER",
        }
    }

    /// Whether it is TRUNCATE, whose timeout has an error code of its own.
    pub fn is_truncate(&self) -> bool {
        matches!(self.parsed.statement, Statement::Truncate(_))
    }

    /// Returns named values in the order of the markers. Markers without a value are left out, so that the check of the
    /// number of values fails.
    fn ordered(&self, options: &QueryOptions) -> Vec<BoundValue> {
        let places: HashMap<&str, usize> =
            options.names.iter().enumerate().rev().map(|(at, name)| (name.as_str(), at)).collect();
        let places = self.markers.iter().filter_map(|marker| places.get(marker.name.as_str()));
        places.filter_map(|at| options.values.get(*at).cloned()).collect()
    }

    /// Returns the options with the values in the order of the markers.
    fn bound<'o>(&self, options: &'o QueryOptions) -> Cow<'o, QueryOptions> {
        if options.names.is_empty() {
            return Cow::Borrowed(options);
        }
        let values = self.ordered(options);
        Cow::Owned(QueryOptions { values, names: Vec::new(), ..options.clone() })
    }

    /// Plans the same statement for the current schema.
    pub fn again(&self, state: &QueryState<'_>) -> Result<Arc<Prepared>> {
        let state = QueryState { keyspace: self.keyspace.as_deref(), ..*state };
        prepare_shared(&state, self.text.clone())
    }
}

/// Parses a statement and checks it against the schema.
pub fn prepare(state: &QueryState<'_>, text: &str) -> Result<Arc<Prepared>> {
    prepare_shared(state, text.into())
}

/// Parses a statement without copying its text, and checks it against the schema.
pub fn prepare_shared(state: &QueryState<'_>, text: ByteString) -> Result<Arc<Prepared>> {
    note_query(state.database, &text);
    let mut parsed = cql_syntax::parse_as(&text, state.behaviour.release, state.language)?;
    if let Some((message, place)) = parsed.before_views.clone().filter(|_| !state.has(MATERIALIZED_VIEWS)) {
        return Err(CqlError::Syntax { message, place });
    }
    if let Some((feature, message, place)) = parsed.before_feature.clone()
        && !state.has(feature)
    {
        return Err(CqlError::Syntax { message, place });
    }
    // The schema is read before the plan is made: if it changes meanwhile, the plan counts as outdated and is made
    // again.
    let schema = Arc::downgrade(&state.database.catalog());
    let mut markers = Markers::new(parsed.markers.len());
    let plan = match &mut parsed.statement {
        Statement::Select(select) => Plan::Select(Box::new(SelectPlan::new(state, select, &mut markers)?)),
        Statement::Modify(modify) => Plan::Modify(ModifyPlan::new(state, modify, &mut markers)?),
        Statement::Batch(batch) => Plan::Batch(BatchPlan::new(state, batch, &mut markers)?),
        other => {
            check_prepared(state, other)?;
            Plan::Late
        }
    };
    let key_places = match &plan {
        Plan::Select(plan) => markers.key_places(&plan.table(), false),
        Plan::Modify(plan) => markers.key_places(&plan.table(), false),
        Plan::Batch(plan) => plan.table().map(|table| markers.key_places(&table, true)).unwrap_or_default(),
        Plan::Late => Vec::new(),
    };
    let line = match &plan {
        Plan::Select(plan) if plan.reads_system_table() => Some(state.reported.line()),
        _ => None,
    };
    let features = (!matches!(plan, Plan::Late)).then(|| state.line());
    let markers = named(markers, &parsed.markers)?;
    if !matches!(plan, Plan::Late) {
        // The plan has the terms: of a long list, they take more memory than the text.
        parsed.statement.free_terms();
    }
    let keyspace = state.keyspace.map(str::to_owned);
    let had_other_columns = AtomicBool::new(false);
    let columns_id = OnceLock::new();
    Ok(Arc::new(Prepared {
        text,
        keyspace,
        parsed,
        markers,
        key_places,
        plan,
        schema,
        line,
        features,
        had_other_columns,
        columns_id,
    }))
}

/// Returns the receivers of the markers. A named marker has its own name instead of its column's.
fn named(markers: Markers, names: &[Option<String>]) -> Result<Vec<ColumnSpec>> {
    let mut specs = Vec::with_capacity(names.len());
    for (spec, name) in markers.specs.into_iter().zip(names) {
        let Some(mut spec) = spec else { return invalid("a bind marker (?) is not allowed in this place") };
        if let Some(name) = name {
            spec.name.clone_from(name);
        }
        specs.push(spec);
    }
    Ok(specs)
}

/// Executes a statement.
async fn execute(state: &QueryState<'_>, prepared: &Prepared, options: &QueryOptions) -> Result<Outcome> {
    note_statement(state.database, prepared.first_word());
    let outcome = if matches!(prepared.plan, Plan::Late) {
        // Its names are in the keyspace in which it was prepared, whatever keyspace the session uses now.
        let state = QueryState { keyspace: prepared.keyspace.as_deref().or(state.keyspace), ..*state };
        Box::pin(run_late(&state, &prepared.parsed.statement, options)).await?
    } else {
        // Held until the statement ends: dropping a table waits for all holders of the schema that contains it.
        let catalog = state.database.catalog();
        if prepared.is_for(state, &catalog) {
            run(state, &prepared.plan, options).await?
        } else {
            run(state, &prepared.again(state)?.plan, options).await?
        }
    };
    if let Outcome::Rows(result) = &outcome {
        let size = JournalResult { rows: Some(result.rows.len()), ..JournalResult::default() };
        note_result(state.database, || Some(size));
    }
    Ok(outcome)
}

async fn run(state: &QueryState<'_>, plan: &Plan, options: &QueryOptions) -> Result<Outcome> {
    meter::within(Some(plan.kind()), run_plan(state, plan, options)).await
}

async fn run_plan(state: &QueryState<'_>, plan: &Plan, options: &QueryOptions) -> Result<Outcome> {
    match plan {
        // The state of a SELECT is three times as large as the others, so it is boxed.
        Plan::Select(plan) => Box::pin(plan.execute(state, options)).await,
        Plan::Modify(plan) => plan.execute(state, options).await,
        Plan::Batch(plan) => plan.execute(state, options).await,
        Plan::Late => Ok(Outcome::Void),
    }
}

async fn run_late(state: &QueryState<'_>, statement: &Statement, options: &QueryOptions) -> Result<Outcome> {
    match statement {
        Statement::Describe(describe) => self::describe(state, describe, options),
        Statement::Use(keyspace) => access::use_keyspace(state, keyspace),
        Statement::Access(statement) => access::run(state, statement).await,
        Statement::Refused(what) => invalid(format!(
            "{what} is not supported: this server has no functions, aggregates, triggers or materialized views"
        )),
        Statement::Truncate(_) => {
            let truncating = define(state, statement);
            meter::within(Some(RequestKind::Truncate), truncating).await
        }
        other => define(state, other).await,
    }
}

/// Parses and executes a statement.
pub fn query<'a>(state: &'a QueryState<'a>, text: &'a str, options: &'a QueryOptions) -> Execution<'a> {
    Box::pin(async move {
        let prepared = meter::retried(|| prepare(state, text)).await?;
        execute_once(state, &prepared, options).await
    })
}

/// Executes a statement that was prepared for one execution.
pub fn execute_once<'a>(
    state: &'a QueryState<'a>,
    prepared: &'a Prepared,
    options: &'a QueryOptions,
) -> Execution<'a> {
    let wrong_count: WrongCount = |behaviour, _, _| texts::wrong_value_count(behaviour);
    Box::pin(execute_with_values(state, prepared, options, wrong_count))
}

/// Executes a prepared statement with the values of its markers.
pub fn execute_prepared<'a>(
    state: &'a QueryState<'a>,
    prepared: &'a Prepared,
    options: &'a QueryOptions,
) -> Execution<'a> {
    let wrong_count: WrongCount =
        |behaviour, markers, values| texts::wrong_bound_count(behaviour, markers, values);
    Box::pin(execute_with_values(state, prepared, options, wrong_count))
}

/// Returns the text of the error for a number of markers and another number of values.
type WrongCount = fn(&Behaviour, usize, usize) -> String;

async fn execute_with_values(
    state: &QueryState<'_>,
    prepared: &Prepared,
    options: &QueryOptions,
    wrong_count: WrongCount,
) -> Result<Outcome> {
    let options = &*prepared.bound(options);
    note_values(state.database, prepared, options);
    let (markers, values) = (prepared.markers.len(), options.values.len());
    if markers != values {
        return invalid(wrong_count(state.behaviour, markers, values));
    }
    execute(state, prepared, options).await
}

/// Checks that a statement of a batch has a value for each marker. Cassandra does it before it reads the next statement.
pub fn check_batch_values(prepared: &Prepared, values: usize) -> Result<()> {
    match prepared.markers.len() {
        markers if markers == values => Ok(()),
        markers => invalid(format!("There were {markers} markers(?) in CQL but {values} bound variables")),
    }
}

/// Executes prepared statements as a batch. Only the values of each statement's own options are used; their number was
/// checked by `check_batch_values`. `options` has the consistency levels and the timestamp of the batch.
pub fn execute_batch<'a>(
    state: &'a QueryState<'a>,
    kind: BatchKind,
    statements: &'a [(Arc<Prepared>, QueryOptions)],
    options: &'a QueryOptions,
) -> Execution<'a> {
    Box::pin(async move {
        note_batch(state.database, statements);
        // Held to the end: creating an index and dropping a table wait for all holders of the previous schema.
        let catalog = state.database.catalog();
        let mut planned = Vec::with_capacity(statements.len());
        for (prepared, own) in statements {
            let prepared =
                if prepared.is_for(state, &catalog) { prepared.clone() } else { prepared.again(state)? };
            planned.push((prepared, own));
        }
        let mut steps = Vec::with_capacity(planned.len());
        for (prepared, options) in &planned {
            let Plan::Modify(plan) = &prepared.plan else {
                return invalid(
                    "Invalid statement in batch: only UPDATE, INSERT and DELETE statements are allowed.",
                );
            };
            steps.push(Step { plan, options });
        }
        meter::within(Some(RequestKind::Write), run_batch(state, kind, &steps, options)).await
    })
}
