//! From a statement's text to its outcome.

use std::sync::{Arc, Weak};

use super::access;
use super::define::define;
use super::modify::{BatchPlan, ModifyPlan};
use super::select::SelectPlan;
use super::syntax::{self, Parsed, Statement};
use super::values::Markers;
use super::{ColumnSpec, CqlError, Outcome, QueryOptions, QueryState};
use crate::schema::Catalog;
use crate::util::Release;

/// A statement that has been read and checked, and may be run many times.
pub struct Prepared {
    pub text: String,
    /// The keyspace that was used when it was prepared: its tables stay those.
    pub keyspace: Option<String>,
    pub parsed: Parsed,
    /// What each marker stands for.
    pub markers: Vec<ColumnSpec>,
    plan: Plan,
    /// The schema that it was planned for. Held weakly: a dropped table waits for whoever holds a schema.
    schema: Weak<Catalog>,
}

/// What was found out about a statement before it runs.
enum Plan {
    Select(SelectPlan),
    Modify(ModifyPlan),
    Batch(BatchPlan),
    /// A statement that is looked at when it runs.
    Late,
}

impl Prepared {
    /// Whether the schema has not changed since.
    pub fn is_for(&self, catalog: &Arc<Catalog>) -> bool {
        std::ptr::eq(self.schema.as_ptr(), Arc::as_ptr(catalog))
    }

    /// The columns of its result, where it is known beforehand that it has one.
    pub fn columns(&self) -> &[ColumnSpec] {
        match &self.plan {
            Plan::Select(plan) => plan.columns(),
            Plan::Modify(_) | Plan::Batch(_) | Plan::Late => &[],
        }
    }

    /// The same statement, planned for the schema of now.
    pub fn again(&self, state: &QueryState<'_>) -> Result<Arc<Prepared>, CqlError> {
        prepare(&QueryState { keyspace: self.keyspace.as_deref(), ..*state }, &self.text)
    }
}

/// Reads a statement and checks it against the schema.
pub fn prepare(state: &QueryState<'_>, text: &str) -> Result<Arc<Prepared>, CqlError> {
    let parsed = syntax::parse_as(text, state.behaviour.release)?;
    // Taken before the plan is made: should it change meanwhile, the plan counts as old and is made again.
    let schema = Arc::downgrade(&state.database.catalog());
    let mut markers = Markers::new(parsed.markers.len());
    let plan = match &parsed.statement {
        Statement::Select(select) => Plan::Select(SelectPlan::new(state, select, &mut markers)?),
        Statement::Modify(modify) => Plan::Modify(ModifyPlan::new(state, modify, &mut markers)?),
        Statement::Batch(batch) => Plan::Batch(BatchPlan::new(state, batch, &mut markers)?),
        _ => Plan::Late,
    };
    let markers = named(markers, &parsed.markers)?;
    let (text, keyspace) = (text.to_owned(), state.keyspace.map(str::to_owned));
    Ok(Arc::new(Prepared { text, keyspace, parsed, markers, plan, schema }))
}

/// What the markers stand for. One with a name of its own is told by that, not by its column's.
fn named(markers: Markers, names: &[Option<String>]) -> Result<Vec<ColumnSpec>, CqlError> {
    let spec = |(spec, name): (Option<ColumnSpec>, &Option<String>)| {
        let spec = spec.ok_or_else(|| CqlError::invalid("a marker (?) stands where no value may"))?;
        Ok(match name {
            Some(name) => ColumnSpec { name: name.clone(), ..spec },
            None => spec,
        })
    };
    markers.specs.into_iter().zip(names).map(spec).collect()
}

/// Runs a statement.
pub async fn execute(
    state: &QueryState<'_>,
    prepared: &Prepared,
    options: &QueryOptions,
) -> Result<Outcome, CqlError> {
    if matches!(prepared.plan, Plan::Late) {
        return run_late(state, &prepared.parsed.statement).await;
    }
    // Whoever drops a table waits for those that hold the schema with it.
    let catalog = state.database.catalog();
    if prepared.is_for(&catalog) {
        return run(state, &prepared.plan, options).await;
    }
    let again = prepared.again(state)?;
    run(state, &again.plan, options).await
}

async fn run(state: &QueryState<'_>, plan: &Plan, options: &QueryOptions) -> Result<Outcome, CqlError> {
    match plan {
        Plan::Select(plan) => plan.execute(state, options).await,
        Plan::Modify(plan) => plan.execute(state, options).await,
        Plan::Batch(plan) => plan.execute(state, options).await,
        Plan::Late => Ok(Outcome::Void),
    }
}

async fn run_late(state: &QueryState<'_>, statement: &Statement) -> Result<Outcome, CqlError> {
    match statement {
        Statement::Use(keyspace) => access::use_keyspace(state, keyspace),
        Statement::Access(statement) => access::run(state, statement).await,
        Statement::Refused(what) => Err(CqlError::invalid(format!(
            "{what} is not there: this server has neither functions nor triggers"
        ))),
        other => define(state, other).await,
    }
}

/// Runs a statement whose text comes with it.
pub async fn query(state: &QueryState<'_>, text: &str, options: &QueryOptions) -> Result<Outcome, CqlError> {
    let prepared = prepare(state, text)?;
    if options.values.len() != prepared.markers.len() {
        return Err(CqlError::invalid(match state.behaviour.release {
            release if release < Release::V2_0 => "Cannot execute query with bind variables",
            _ => "Invalid amount of bind variables",
        }));
    }
    execute(state, &prepared, options).await
}

/// Runs a prepared statement with the values that its markers stand for.
pub async fn execute_prepared(
    state: &QueryState<'_>,
    prepared: &Prepared,
    options: &QueryOptions,
) -> Result<Outcome, CqlError> {
    let (markers, values) = (prepared.markers.len(), options.values.len());
    if markers != values {
        return Err(CqlError::invalid(format!(
            "there were {markers} markers(?) in CQL but {values} bound variables"
        )));
    }
    execute(state, prepared, options).await
}
