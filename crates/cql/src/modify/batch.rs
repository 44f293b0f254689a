//! BATCH: statements that are applied together.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use bytes::Bytes;

use super::attributes::{self, Attributes};
use super::conditional;
use super::plan::{ModifyPlan, check_consistency};
use super::step::Step;
use super::terms::Terms;
use crate::error::invalid;
use crate::values::{Markers, TableOf};
use crate::{Outcome, QueryOptions, QueryState, Result};
use base::compat::rules::CqlRules;
use base::compat::{Behaviour, texts};
use base::model::{CfMutation, Changes, Mutation};
use base::schema::CfDef;
use base::util::Release;
use base::util::meter::MeterError;
use cql_syntax::{Batch, BatchKind};

/// Maximum number of partitions of an unlogged batch without a warning: Cassandra's default.
const UNWARNED_PARTITIONS_MAX: usize = 10;

/// A checked BATCH.
#[derive(Debug)]
pub(crate) struct BatchPlan {
    kind: BatchKind,
    /// `None` for a batch without statements, where the attributes have no effect.
    attributes: Option<Attributes>,
    statements: Vec<ModifyPlan>,
}

impl BatchPlan {
    /// Checks a batch and its statements. Only the first one, which has the table, is left in `batch`: a statement takes as
    /// much memory as its plan.
    pub(crate) fn new(state: &QueryState<'_>, batch: &mut Batch, markers: &mut Markers) -> Result<BatchPlan> {
        let mut statements = Vec::with_capacity(batch.statements.len());
        for modify in std::mem::take(&mut batch.statements) {
            statements.push(ModifyPlan::new(state, &modify, markers)?);
            if batch.statements.is_empty() {
                batch.statements.push(modify);
            }
        }
        let attributes = match statements.first() {
            None => None,
            Some(first) => {
                let table = &first.table;
                let catalog = state.database.catalog();
                let Some(keyspace) = catalog.keyspace(&table.cf.keyspace) else {
                    return invalid(texts::unknown_keyspace(state.behaviour, &table.cf.keyspace));
                };
                let scope = state.type_scope(keyspace);
                let mut terms = Terms { table, scope, markers };
                Some(Attributes::new(batch.timestamp.as_deref(), batch.ttl.as_deref(), &mut terms)?)
            }
        };
        if batch.ttl.is_some() {
            return invalid(texts::batch_with_ttl(state.behaviour));
        }
        let release = state.behaviour.release;
        let plans: Vec<&ModifyPlan> = statements.iter().collect();
        check_shape(batch.kind, release, &plans, batch.timestamp.is_some())?;
        Ok(BatchPlan { kind: batch.kind, attributes, statements })
    }

    /// Returns the table that the batch changes, or `None` if it changes several tables or none.
    pub(crate) fn table(&self) -> Option<TableOf<'_>> {
        let first = self.statements.first()?;
        let is_one = self.statements.iter().all(|plan| plan.changes_table_of(first));
        is_one.then(|| first.table())
    }

    /// Executes the batch. The changes in one keyspace are applied atomically.
    pub(crate) async fn execute(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<Outcome> {
        let steps: Vec<Step<'_>> = self.statements.iter().map(|plan| Step { plan, options }).collect();
        let Some(attributes) = &self.attributes else { return Ok(Outcome::Void) };
        if steps.iter().any(|step| step.plan.has_conditions()) {
            return run_steps(state, self.kind, &steps, options, None).await;
        }
        // All statements without a timestamp of their own share one.
        let now = attributes.timestamp(attributes::now(state, options), options, state.database)?;
        run_steps(state, self.kind, &steps, options, Some(now)).await
    }
}

/// Executes statements that were checked separately as a batch. `options` has the consistency levels and the timestamp,
/// not the values.
pub(crate) async fn run_batch(
    state: &QueryState<'_>,
    kind: BatchKind,
    steps: &[Step<'_>],
    options: &QueryOptions,
) -> Result<Outcome> {
    let plans: Vec<&ModifyPlan> = steps.iter().map(|step| step.plan).collect();
    check_shape(kind, state.behaviour.release, &plans, false)?;
    run_steps(state, kind, steps, options, None).await
}

/// Executes the statements. `now` is the timestamp of the statements without one of their own, if it is already known.
async fn run_steps(
    state: &QueryState<'_>,
    kind: BatchKind,
    steps: &[Step<'_>],
    options: &QueryOptions,
    now: Option<i64>,
) -> Result<Outcome> {
    let mut of_json = HashMap::new();
    for (at, step) in steps.iter().enumerate() {
        step.plan.check(state)?;
        let mut own = Cow::Borrowed(step.options);
        step.plan.bind_json(&mut own, state)?;
        if let Cow::Owned(own) = own {
            of_json.insert(at, own);
        }
    }
    let mut steps = Cow::Borrowed(steps);
    for (at, own) in &of_json {
        steps.to_mut()[*at].options = own;
    }
    let steps = &steps[..];
    if steps.iter().any(|step| step.plan.has_conditions()) {
        return conditional::run(state, options, steps, true).await;
    }
    let now = now.unwrap_or_else(|| attributes::now(state, options));
    let mut gathered = KeyspaceMutations::default();
    for Step { plan, options: own } in steps {
        let cf = &plan.table.cf;
        check_consistency(options.consistency, cf, state.behaviour)?;
        let rows = plan.rows(state, own)?;
        for key in rows.keys {
            let changes = plan.changes(state, own, &key, &rows.prefixes, now).await?;
            gathered.add(cf, key, changes)?;
        }
    }
    let warning = if kind == BatchKind::Unlogged { gathered.warning() } else { None };
    for (keyspace, mutations) in gathered.keyspaces {
        state.request(&keyspace, options.consistency).writes().apply(mutations).await?;
    }
    Ok(warning.map_or(Outcome::Void, Outcome::Warned))
}

/// Checks which statements may be combined, in the order of the old servers' checks.
fn check_shape(kind: BatchKind, release: Release, plans: &[&ModifyPlan], has_timestamp: bool) -> Result<()> {
    let has_conditions = plans.iter().any(|plan| plan.has_conditions());
    if has_timestamp && has_conditions {
        return invalid("Cannot provide custom timestamp for conditional BATCH");
    }
    let rules = &Behaviour::of(release).cql;
    let is_timed = has_timestamp && !rules.counters_ignore_timestamps;
    if is_timed && kind == BatchKind::Counter {
        return invalid("Cannot provide custom timestamp for counter BATCH");
    }
    if rules.batch_keeps_counters_apart {
        check_counters_apart(kind, plans, rules)?;
    }
    let is_counter = |plan: &ModifyPlan| counts(plan, rules);
    for plan in plans {
        if is_timed && is_counter(plan) {
            return invalid("Cannot provide custom timestamp for a BATCH containing counters");
        }
        if has_timestamp && plan.attributes.has_timestamp() {
            return invalid("Timestamp must be set either on BATCH or individual statements");
        }
        if kind == BatchKind::Counter && !is_counter(plan) {
            return invalid("Cannot include non-counter statement in a counter batch");
        }
        if kind == BatchKind::Logged && is_counter(plan) {
            return invalid("Cannot include a counter statement in a logged batch");
        }
    }
    let counters = plans.iter().filter(|plan| is_counter(plan)).count();
    if counters > 0 && counters < plans.len() {
        return invalid("Counter and non-counter mutations cannot exist in the same batch");
    }
    if has_conditions && plans.iter().any(|plan| !plan.changes_table_of(plans[0])) {
        return invalid("Batch with conditions cannot span multiple tables");
    }
    Ok(())
}

/// Checks that counters are only changed in counter batches, as in Cassandra 1.2 and 2.0. CASSANDRA-7351 changed that
/// in 2.1.
fn check_counters_apart(kind: BatchKind, plans: &[&ModifyPlan], rules: &CqlRules) -> Result<()> {
    let is_of_counters = kind == BatchKind::Counter;
    if plans.iter().all(|plan| counts(plan, rules) == is_of_counters) {
        return Ok(());
    }
    invalid(if is_of_counters {
        "Only counter mutations are allowed in COUNTER batches"
    } else {
        "Counter mutations are only allowed in COUNTER batches"
    })
}

/// Returns whether a statement counts as a counter update in a batch.
fn counts(plan: &ModifyPlan, rules: &CqlRules) -> bool {
    plan.is_counter() && (rules.batch_counts_deletions || !plan.is_deletion())
}

/// The changes of a batch, grouped by keyspace and row key.
#[derive(Default)]
struct KeyspaceMutations {
    keyspaces: Vec<(String, Vec<Mutation>)>,
    /// For a keyspace and a row key, the index of the mutation.
    places: HashMap<(usize, Bytes), usize>,
}

impl KeyspaceMutations {
    /// Returns Cassandra's warning for an unlogged batch over many partitions.
    fn warning(&self) -> Option<String> {
        let mutations = || self.keyspaces.iter().flat_map(|(_, mutations)| mutations);
        if mutations().count() <= UNWARNED_PARTITIONS_MAX {
            return None;
        }
        let keys: HashSet<&Bytes> = mutations().map(|mutation| &mutation.key).collect();
        if keys.len() <= UNWARNED_PARTITIONS_MAX {
            return None;
        }
        let families = mutations().flat_map(|mutation| &mutation.families);
        let tables: BTreeSet<String> =
            families.map(|family| format!("{}.{}", family.cf.keyspace, family.cf.name)).collect();
        let s = if tables.len() == 1 { "" } else { "s" };
        Some(format!(
            "Unlogged batch covering {} partitions detected against table{s} [{}]. You should use a logged batch for \
             atomicity, or asynchronous writes for performance.",
            keys.len(),
            tables.into_iter().collect::<Vec<_>>().join(", ")
        ))
    }

    /// Adds the changes of a row.
    ///
    /// # Errors
    /// `OutOfMemory` if the list of a row, which grows with each statement, cannot grow further.
    fn add(&mut self, cf: &Arc<CfDef>, key: Bytes, changes: Changes) -> Result<(), MeterError> {
        if changes.is_empty() {
            return Ok(());
        }
        let found = self.keyspaces.iter().position(|(keyspace, _)| *keyspace == cf.keyspace);
        let keyspace = found.unwrap_or_else(|| {
            self.keyspaces.push((cf.keyspace.clone(), Vec::new()));
            self.keyspaces.len() - 1
        });
        let mutations = &mut self.keyspaces[keyspace].1;
        let at = *self.places.entry((keyspace, key.clone())).or_insert_with(|| {
            mutations.push(Mutation { key, families: Vec::new() });
            mutations.len() - 1
        });
        let families = &mut mutations[at].families;
        match families.iter_mut().find(|family| Arc::ptr_eq(&family.cf, cf) || family.cf.name == cf.name) {
            Some(family) => family.changes.append(changes)?,
            None => families.push(CfMutation { cf: cf.clone(), changes }),
        }
        Ok(())
    }
}
