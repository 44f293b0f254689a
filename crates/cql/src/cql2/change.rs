//! INSERT, UPDATE, DELETE and BATCH.

use bytes::Bytes;

use super::lookup::{Family, check_name};
use super::outcome::Cql2Outcome;
use super::values::Cql2Values;
use crate::error::invalid;
use crate::{QueryState, Result};
use base::compat::features::ConsistencyLevel;
use base::compat::features::releases::CQL_2;
use base::compat::texts;
use cql_syntax::cql2::{Change2, Changes2, Command2, NewValue2};
use db::{
    Access, ColumnOrSuper, CounterColumn, Deletion, MutationRequest, NewColumn, RowBatch, SlicePredicate,
};

pub(super) async fn run(
    state: &QueryState<'_>,
    changes: &Changes2,
    values: Cql2Values<'_>,
) -> Result<Cql2Outcome> {
    check_batch(changes)?;
    let now = state.database.next_micros();
    // The rows in the order of the statements, grouped by keyspace.
    let mut batches: Vec<(String, Vec<RowBatch>)> = Vec::new();
    for change in &changes.statements {
        let family = Family::find(state, &change.table)?;
        state.check(Access::Write { keyspace: family.keyspace(), family: family.cf.name.as_bytes() })?;
        let timestamp = change.using.timestamp.or(changes.using.timestamp).unwrap_or(now);
        let writer = Cql2Writer { family: &family, change, values, timestamp };
        let rows = writer.rows()?;
        match batches.iter_mut().find(|(keyspace, _)| *keyspace == family.cf.keyspace) {
            Some((_, batch)) => batch.extend(rows),
            None => batches.push((family.cf.keyspace.clone(), rows)),
        }
    }
    let own =
        changes.statements.first().filter(|_| !changes.is_batch).and_then(|change| change.using.consistency);
    let level = own.or(changes.using.consistency).unwrap_or(ConsistencyLevel::One);
    for (keyspace, rows) in batches {
        state.request(&keyspace, level).writes().batch_mutate(rows).await?;
    }
    Ok(Cql2Outcome::Void)
}

/// Checks which attributes are set on the batch, and which on its statements.
fn check_batch(changes: &Changes2) -> Result<()> {
    if !changes.is_batch {
        return Ok(());
    }
    if changes.using.ttl_s.is_some() {
        return invalid(texts::batch_with_ttl(CQL_2));
    }
    for change in &changes.statements {
        if change.using.consistency.is_some() {
            return invalid("Consistency level must be set on the BATCH, not individual statements");
        }
        if changes.using.timestamp.is_some() && change.using.timestamp.is_some() {
            return invalid("Timestamp must be set either on BATCH or individual statements");
        }
    }
    Ok(())
}

struct Cql2Writer<'a> {
    family: &'a Family<'a>,
    change: &'a Change2,
    values: Cql2Values<'a>,
    timestamp: i64,
}

impl Cql2Writer<'_> {
    fn rows(&self) -> Result<Vec<RowBatch>> {
        let alias = self.family.key_alias();
        if !self.change.key_name.as_ref().is_some_and(|name| name.is_key(&alias)) {
            return invalid(format!(
                "Expected key '{alias}' to be present in WHERE clause for '{}'",
                self.family.cf.name
            ));
        }
        let keys = self.change.keys.iter().map(|key| self.values.bytes(key, self.family.key_type()));
        let keys: Vec<Bytes> = keys.collect::<Result<_>>()?;
        let mutations = match &self.change.what {
            Command2::Set(columns) => {
                let columns = columns.iter().map(|(name, value)| {
                    let name = self.values.bytes(name, self.family.comparator())?;
                    check_name(&name)?;
                    self.insert(name, value)
                });
                columns.collect::<Result<Vec<_>>>()?
            }
            Command2::Delete(names) => {
                let names = names.iter().map(|name| {
                    let name = self.values.bytes(name, self.family.comparator())?;
                    check_name(&name)?;
                    Ok(name)
                });
                vec![self.deletion(names.collect::<Result<_>>()?)]
            }
        };
        let families = vec![(self.family.name(), mutations)];
        Ok(keys.into_iter().map(|key| RowBatch { key, families: families.clone() }).collect())
    }

    fn insert(&self, name: Bytes, value: &NewValue2) -> Result<MutationRequest> {
        let insert = match value {
            NewValue2::Delta(delta) => ColumnOrSuper {
                counter: Some(Box::new(CounterColumn { name, delta: *delta })),
                ..ColumnOrSuper::default()
            },
            // The value of a counter is not parsed, because it cannot be written.
            NewValue2::Value(_) if self.family.cf.is_counter() => {
                return invalid(format!(
                    "invalid operation for commutative columnfamily {}",
                    self.family.cf.name
                ));
            }
            NewValue2::Value(value) => {
                let value = self.values.bytes(value, self.family.value_type(&name))?;
                let ttl_s = self.change.using.ttl_s.filter(|ttl_s| *ttl_s != 0);
                let column = NewColumn { name, value: Some(value), timestamp: Some(self.timestamp), ttl_s };
                ColumnOrSuper { column: Some(column), ..ColumnOrSuper::default() }
            }
        };
        Ok(MutationRequest { insert: Some(insert), deletion: None })
    }

    /// Deletes columns, or the row if there are no names.
    fn deletion(&self, names: Vec<Bytes>) -> MutationRequest {
        let predicate = SlicePredicate { column_names: Some(names), slice_range: None };
        let has_names = predicate.column_names.as_ref().is_some_and(|names| !names.is_empty());
        let deletion = Deletion {
            timestamp: Some(self.timestamp),
            super_column: None,
            predicate: has_names.then_some(predicate),
        };
        MutationRequest { insert: None, deletion: Some(Box::new(deletion)) }
    }
}
