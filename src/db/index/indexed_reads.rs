//! Reads of rows that meet conditions.

use std::cmp::Ordering;
use std::sync::Arc;

use bytes::Bytes;

use super::indexes::{index_key, is_exact, meets};
use crate::compat::Behaviour;
use crate::compat::features::ConsistencyLevel;
use crate::db::args::{ColumnParent, IndexClause, IndexExpression, IndexOperator, SlicePredicate};
use crate::db::{Database, Error};
use crate::marshal::{self, AbstractType, PACKAGE};
use crate::model::{
    Bounds, Cell, CellKind, Predicate, RangeCommand, ReadCommand, Row, RowColumns, SliceRange,
};
use crate::schema::{CfDef, ColumnDef};
use crate::storage::IndexLookup;
use crate::util::limits::ROW_WORK;
use crate::util::meter;

/// Rows or index entries that are looked at in one go, at least and at most.
const PAGE: (usize, usize) = (16, 1024);

/// A stretch of the ring by tokens: from (with the token itself, or after it), and to, inclusive.
struct RingRange {
    from: Option<(Vec<u8>, bool)>,
    to: Option<Vec<u8>>,
}

/// A read of the rows of a column family that meet conditions.
struct Filter<'a> {
    database: &'a Database,
    expressions: &'a [IndexExpression],
    max_rows: usize,
    read: ReadCommand,
    consistency: ConsistencyLevel,
    found: Vec<Row>,
}

impl Database {
    /// Rows that meet all conditions, in ring order from a key on (0.7 and later).
    pub async fn get_indexed_slices(
        &self,
        keyspace: &[u8],
        parent: &ColumnParent,
        clause: &IndexClause,
        predicate: &SlicePredicate,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<Vec<Row>, Error> {
        let catalog = self.catalog();
        let checks = self.validation(&catalog, behaviour);
        let cf = checks.written_family(keyspace, &parent.column_family, false)?;
        checks.parent_in(cf, parent)?;
        let predicate = checks.predicate(cf, parent.super_column.as_ref(), predicate)?;
        checks.index_clause(cf, clause)?;
        checks.read_consistency(keyspace, consistency)?;
        self.check_replicas(&catalog, keyspace, consistency, false, behaviour)?;
        let bounds = Bounds::Keys { start: clause.start_key.clone(), end: Bytes::new() };
        // Cassandra fails inside, whatever it finds.
        let max_rows = usize::try_from(clause.count)
            .map_err(|_| Error::invalid("the count of an index clause must not be negative"))?;
        let read = self.command(cf, parent.super_column.clone(), predicate, behaviour);
        self.rows_that_meet(&clause.expressions, bounds, max_rows, read, consistency).await
    }

    /// Rows of a range that meet all conditions, by an index where one helps.
    pub(in crate::db) async fn rows_that_meet(
        &self,
        expressions: &[IndexExpression],
        bounds: Bounds,
        max_rows: usize,
        read: ReadCommand,
        consistency: ConsistencyLevel,
    ) -> Result<Vec<Row>, Error> {
        let filter = Filter { database: self, expressions, max_rows, read, consistency, found: Vec::new() };
        match filter.index() {
            Some((expression, ..)) if self.store().capabilities().indexes.is_some() => {
                filter.by_index_of_store(expression, bounds).await
            }
            Some((expression, column, index)) => filter.by_index(expression, column, index, bounds).await,
            None => filter.by_scan(bounds).await,
        }
    }
}

impl<'a> Filter<'a> {
    /// A condition that an index answers.
    fn index(&self) -> Option<(&'a IndexExpression, ColumnDef, Arc<CfDef>)> {
        let cf = &self.read.cf;
        self.expressions.iter().find_map(|expression| {
            let name = &expression.column_name;
            let (column, index) = (cf.column_metadata.get(name)?, cf.index_families.get(name)?);
            let helps = expression.operator == IndexOperator::Eq
                && is_exact(column)
                && !self.database.is_being_built(index);
            helps.then(|| (expression, column.clone(), index.clone()))
        })
    }

    fn page(&self) -> usize {
        (self.max_rows - self.found.len()).clamp(PAGE.0, PAGE.1)
    }

    /// The same read with another predicate.
    fn command(&self, cf: &Arc<CfDef>, predicate: Predicate) -> ReadCommand {
        self.database.command(cf, None, predicate, self.read.behaviour)
    }

    /// The columns that the conditions are about.
    fn conditions(&self) -> ReadCommand {
        let names = self.expressions.iter().map(|expression| expression.column_name.clone()).collect();
        let mut command = self.command(&self.read.cf, Predicate::Names(names));
        command.with_tombstones = true;
        command
    }

    async fn by_index(
        mut self,
        expression: &IndexExpression,
        column: ColumnDef,
        index: Arc<CfDef>,
        bounds: Bounds,
    ) -> Result<Vec<Row>, Error> {
        let key = index_key(&column, &expression.value);
        for stretch in self.database.stretches(&bounds, self.read.behaviour) {
            let mut start = match &stretch.from {
                Some((token, _)) => self.database.ring_name_of_token(token),
                None => Bytes::new(),
            };
            while self.found.len() < self.max_rows {
                let page = self.page();
                let range = SliceRange { start, count: page, ..SliceRange::all() };
                let command = self.command(&index, Predicate::Range(range));
                let before = meter::mark();
                let read = self.database.store().read(key.clone(), command, self.consistency).await?;
                let held_for_a_while = before.since();
                let RowColumns::Cells(entries) = read else { break };
                let Some(last) = entries.last() else { break };
                // The smallest name after the last.
                start = [&last.name[..], &[0]].concat().into();
                let is_last_page = entries.len() < page;
                let is_over = self.take_entries(&entries, &key, (expression, &index), &stretch).await?;
                meter::release(held_for_a_while);
                if is_last_page || is_over {
                    break;
                }
            }
        }
        Ok(self.found)
    }

    /// Looks at the rows of index entries. Returns whether the stretch or the wanted number has ended.
    async fn take_entries(
        &mut self,
        entries: &[Cell],
        key: &Bytes,
        (expression, index): (&IndexExpression, &Arc<CfDef>),
        stretch: &RingRange,
    ) -> Result<bool, Error> {
        let mut stale = Vec::new();
        let mut is_over = false;
        for entry in entries {
            let row = &entry.value;
            let mut token = Vec::new();
            self.database.parts.partitioner.token(row, &mut token);
            if stretch.to.as_ref().is_some_and(|to| token > *to) {
                is_over = true;
                break;
            }
            if matches!(&stretch.from, Some((from, false)) if token == *from) {
                continue;
            }
            let conditions = self.conditions();
            let before = meter::mark();
            let columns = self.database.store().read(row.clone(), conditions, self.consistency).await?;
            before.restore();
            meter::breathe(ROW_WORK + columns.len()).await?;
            if !self.is_current(&columns, expression) {
                stale.push(entry);
                continue;
            }
            if !self.all_hold(&columns) {
                continue;
            }
            self.take_rows(vec![row.clone()]).await?;
            if self.found.len() >= self.max_rows {
                is_over = true;
                break;
            }
        }
        for entry in stale {
            let behaviour = self.read.behaviour;
            // A write that is under way may show its entry and not yet its column.
            if let Err(error) = self.database.await_writes(&entry.value, behaviour).await {
                // Reads go on where nothing can be written.
                tracing::debug!("stale index entries stay: {error}");
                break;
            }
            let command = self.conditions();
            let columns = self.database.store().read(entry.value.clone(), command, self.consistency).await?;
            if !self.is_current(&columns, expression) {
                self.database.remove_entry((index, key), entry, behaviour).await;
            }
        }
        Ok(is_over)
    }

    /// By an index of the store's own: nothing in it is stale.
    async fn by_index_of_store(
        mut self,
        expression: &IndexExpression,
        mut bounds: Bounds,
    ) -> Result<Vec<Row>, Error> {
        let Some(indexes) = self.database.store().capabilities().indexes else { return Ok(self.found) };
        while self.found.len() < self.max_rows {
            let max_keys = self.page();
            let lookup = IndexLookup {
                read: self.conditions(),
                column: expression.column_name.clone(),
                value: expression.value.clone(),
                bounds: bounds.clone(),
                max_keys,
            };
            let keys = indexes.indexed_keys(lookup, self.consistency).await?;
            let Some(last) = keys.last().cloned() else { break };
            let is_last_page = keys.len() < max_keys;
            let keys = match self.expressions {
                // The index has looked at it.
                [_] => keys,
                _ => self.those_that_meet_all(keys).await?,
            };
            self.take_rows(keys).await?;
            match self.database.after_key(&bounds, &last, self.read.behaviour) {
                Some(after) if !is_last_page => bounds = after,
                _ => break,
            }
        }
        Ok(self.found)
    }

    async fn those_that_meet_all(&self, keys: Vec<Bytes>) -> Result<Vec<Bytes>, Error> {
        let rows = self.database.read_each(keys, &self.conditions(), self.consistency).await?;
        let meet_all = rows.into_iter().filter(|(_, columns)| self.all_hold(columns));
        Ok(meet_all.map(|(key, _)| key).collect())
    }

    async fn by_scan(mut self, bounds: Bounds) -> Result<Vec<Row>, Error> {
        if !self.sees_its_columns() {
            return Ok(self.found);
        }
        let mut bounds = bounds;
        while self.found.len() < self.max_rows {
            let max_rows = PAGE.1;
            let command =
                RangeCommand { bounds: bounds.clone(), max_rows, read: self.conditions(), skip_empty: false };
            let before = meter::mark();
            let page = self.database.store().scan(command, self.consistency).await?;
            let Some(last) = page.last().map(|row| row.key.clone()) else { break };
            let is_last_page = page.len() < max_rows;
            meter::breathe(ROW_WORK * page.len()).await?;
            let meet_all = page.into_iter().filter(|row| self.all_hold(&row.columns));
            let keys = meet_all.map(|row| row.key).collect();
            before.restore();
            self.take_rows(keys).await?;
            match self.database.after_key(&bounds, &last, self.read.behaviour) {
                Some(after) if !is_last_page => bounds = after,
                _ => break,
            }
        }
        Ok(self.found)
    }

    /// Whether the conditions can be looked at. Without an index, 1.1 and 1.2 look at the columns that were asked
    /// for by name, and at no others.
    fn sees_its_columns(&self) -> bool {
        let Predicate::Names(names) = &self.read.predicate else { return true };
        self.read.behaviour.reads.conditions_see_all_columns
            || self.expressions.iter().all(|expression| names.contains(&expression.column_name))
    }

    /// Reads what was asked for of rows that meet all conditions, of as many as are still wanted.
    async fn take_rows(&mut self, mut keys: Vec<Bytes>) -> Result<(), Error> {
        keys.truncate(self.max_rows - self.found.len());
        let is_reversed = matches!(&self.read.predicate, Predicate::Range(range) if range.reversed);
        for (key, mut columns) in self.database.read_each(keys, &self.read, self.consistency).await? {
            if is_reversed && self.read.behaviour.reads.conditions_turn_reversed_slices {
                // With conditions, 2.0 and later turn a reversed slice round once more.
                columns.reverse();
            }
            self.found.push(Row { key, columns });
        }
        Ok(())
    }

    fn all_hold(&self, columns: &RowColumns) -> bool {
        self.expressions.iter().all(|expression| self.holds(columns, expression))
    }

    /// Whether a row still has the value under which it stands in the index.
    fn is_current(&self, columns: &RowColumns, expression: &IndexExpression) -> bool {
        let RowColumns::Cells(cells) = columns else { return false };
        let live = cells.iter().filter(|cell| cell.is_live()).cloned().collect();
        self.holds(&RowColumns::Cells(live), expression)
    }

    /// Whether a row's columns meet one condition. A column that is not there meets none. One that was deleted
    /// and is not forgotten yet does as if its value were the four bytes of the second of its deletion: so the
    /// old servers see it, where the condition is not the one that the index answers.
    fn holds(&self, columns: &RowColumns, expression: &IndexExpression) -> bool {
        let RowColumns::Cells(cells) = columns else { return false };
        let (cf, release) = (&self.read.cf, self.read.behaviour.release);
        let comparator = marshal::at(&*cf.comparator, release);
        let validator = marshal::at(&**cf.value_validator(&expression.column_name), release);
        cells.iter().any(|cell| {
            let order = match cell.kind {
                CellKind::Deleted { local_deletion_time } => {
                    compare_deletion(validator, local_deletion_time, &expression.value)
                }
                _ => validator.compare(&cell.value, &expression.value),
            };
            comparator.compare(&cell.name, &expression.column_name).is_eq()
                && meets(expression.operator, order)
        })
    }
}

/// How the second of a deletion compares to a value. Java compares numbers of different lengths by their first
/// byte, signed, and then byte by byte.
fn compare_deletion(validator: &dyn AbstractType, deleted_at_s: i32, value: &[u8]) -> Ordering {
    let bytes = deleted_at_s.to_be_bytes();
    let short = validator.class_name().trim_start_matches(PACKAGE);
    if ["LongType", "Int32Type", "CounterColumnType"].contains(&short) && !value.is_empty() {
        let first = |bytes: &[u8]| bytes.first().map(|byte| byte.cast_signed());
        return first(&bytes).cmp(&first(value)).then_with(|| bytes[..].cmp(value));
    }
    validator.compare(&bytes, value)
}

impl Database {
    /// The stretches of the ring that bounds mean, in order.
    fn stretches(&self, bounds: &Bounds, behaviour: &Behaviour) -> Vec<RingRange> {
        let partitioner = &self.parts.partitioner;
        let token = |key: &Bytes| {
            let mut token = Vec::new();
            partitioner.token(key, &mut token);
            token
        };
        let from_key = |start: &Bytes| (!start.is_empty()).then(|| (token(start), true));
        match bounds {
            Bounds::Keys { start, end } => {
                vec![RingRange { from: from_key(start), to: (!end.is_empty()).then(|| token(end)) }]
            }
            Bounds::KeyToToken { start, end } => {
                vec![RingRange { from: from_key(start), to: end.clone() }]
            }
            Bounds::Tokens { start, end } => {
                let minimum = partitioner.minimum_token(behaviour.release);
                let from = Some((start.clone(), false));
                if *end == minimum {
                    vec![RingRange { from, to: None }]
                } else if start < end {
                    vec![RingRange { from, to: Some(end.clone()) }]
                } else {
                    vec![RingRange { from, to: None }, RingRange { from: None, to: Some(end.clone()) }]
                }
            }
        }
    }
}
