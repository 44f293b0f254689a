//! BATCH: statements that are applied together.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;

use super::attributes::{self, Attributes};
use super::conditional;
use super::plan::{ModifyPlan, check_consistency};
use super::terms::Terms;
use crate::cql::syntax::{Batch, BatchKind};
use crate::cql::values::{Markers, TableOf, TypeScope};
use crate::cql::{CqlError, Outcome, QueryOptions, QueryState};
use crate::model::{CfMutation, Change, Mutation};
use crate::schema::CfDef;

/// A batch.
#[derive(Debug)]
pub struct BatchPlan {
    kind: BatchKind,
    /// `None` for a batch without statements: it says nothing that matters.
    attributes: Option<Attributes>,
    statements: Vec<ModifyPlan>,
}

impl BatchPlan {
    /// Checks a batch and its statements.
    pub fn new(state: &QueryState<'_>, batch: &Batch, markers: &mut Markers) -> Result<BatchPlan, CqlError> {
        let statements = batch.statements.iter().map(|modify| ModifyPlan::new(state, modify, markers));
        let statements: Vec<ModifyPlan> = statements.collect::<Result<_, _>>()?;
        let attributes = match statements.first() {
            None => None,
            Some(first) => {
                let table = &first.table;
                let catalog = state.database.catalog();
                let Some(keyspace) = catalog.keyspace(&table.cf.keyspace) else {
                    return Err(CqlError::invalid(format!("Keyspace {} does not exist", table.cf.keyspace)));
                };
                let release = state.behaviour.release;
                let scope = TypeScope { keyspace, types: state.database.types(), release };
                let mut terms = Terms { table, scope, markers };
                Some(Attributes::new(batch.timestamp.as_ref(), batch.ttl.as_ref(), &mut terms)?)
            }
        };
        if batch.ttl.is_some() {
            return Err(CqlError::invalid("Global TTL on the BATCH statement is not supported."));
        }
        let plan = BatchPlan { kind: batch.kind, attributes, statements };
        plan.check_shape(batch.timestamp.is_some())?;
        Ok(plan)
    }

    /// The table that it changes; `None` where there are several, or none.
    pub fn table(&self) -> Option<TableOf<'_>> {
        let name = |plan: &ModifyPlan| (plan.table.cf.keyspace.clone(), plan.table.cf.name.clone());
        let first = self.statements.first()?;
        let is_one = self.statements.iter().all(|plan| name(plan) == name(first));
        is_one.then(|| first.table())
    }

    fn has_conditions(&self) -> bool {
        self.statements.iter().any(ModifyPlan::has_conditions)
    }

    /// What may stand together, in the order of the old servers' checks.
    fn check_shape(&self, has_timestamp: bool) -> Result<(), CqlError> {
        let has_conditions = self.has_conditions();
        if has_timestamp && has_conditions {
            return Err(CqlError::invalid("Cannot provide custom timestamp for conditional BATCH"));
        }
        if has_timestamp && self.kind == BatchKind::Counter {
            return Err(CqlError::invalid("Cannot provide custom timestamp for counter BATCH"));
        }
        for statement in &self.statements {
            if has_timestamp && statement.attributes.has_timestamp() {
                return Err(CqlError::invalid(
                    "Timestamp must be set either on BATCH or individual statements",
                ));
            }
            if self.kind == BatchKind::Counter && !statement.is_counter() {
                return Err(CqlError::invalid("Cannot include non-counter statement in a counter batch"));
            }
            if self.kind == BatchKind::Logged && statement.is_counter() {
                return Err(CqlError::invalid("Cannot include a counter statement in a logged batch"));
            }
        }
        let counters = self.statements.iter().filter(|statement| statement.is_counter()).count();
        if counters > 0 && counters < self.statements.len() {
            return Err(CqlError::invalid(
                "Counter and non-counter mutations cannot exist in the same batch",
            ));
        }
        let table = |plan: &ModifyPlan| (plan.table.cf.keyspace.clone(), plan.table.cf.name.clone());
        let mut tables = self.statements.iter().map(table);
        if let Some(first) = tables.next()
            && has_conditions
            && tables.any(|other| other != first)
        {
            return Err(CqlError::invalid("Batch with conditions cannot span multiple tables"));
        }
        Ok(())
    }

    /// Runs it. What changes one keyspace is applied whole or not at all.
    pub async fn execute(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<Outcome, CqlError> {
        for statement in &self.statements {
            statement.check(state)?;
        }
        let Some(attributes) = &self.attributes else { return Ok(Outcome::Void) };
        let mut options = Cow::Borrowed(options);
        for statement in &self.statements {
            statement.bind_json(&mut options, state)?;
        }
        let options = &*options;
        if self.has_conditions() {
            let plans: Vec<&ModifyPlan> = self.statements.iter().collect();
            return conditional::run(state, options, &plans, true).await;
        }
        // All statements that do not say another have one timestamp.
        let now = attributes::now(state, options);
        let now = attributes.timestamp(now, options, state.database)?;
        let mut gathered = Gathered::default();
        for statement in &self.statements {
            let cf = &statement.table.cf;
            check_consistency(options.consistency, statement.is_counter().then_some(&*cf.name))?;
            for (key, changes) in statement.changes(state, options, now).await? {
                gathered.add(cf, key, changes);
            }
        }
        for (keyspace, mutations) in gathered.keyspaces {
            let level = (options.consistency, state.behaviour);
            state.database.apply_mutations(&keyspace, mutations, level).await?;
        }
        Ok(Outcome::Void)
    }
}

/// The changes of a batch by keyspaces, and in each by row keys.
#[derive(Default)]
struct Gathered {
    keyspaces: Vec<(String, Vec<Mutation>)>,
    /// Where the mutation of a keyspace and a row key is.
    places: HashMap<(usize, Bytes), usize>,
}

impl Gathered {
    fn add(&mut self, cf: &Arc<CfDef>, key: Bytes, changes: Vec<Change>) {
        if changes.is_empty() {
            return;
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
            Some(family) => family.changes.extend(changes),
            None => families.push(CfMutation { cf: cf.clone(), changes }),
        }
    }
}
