//! SELECT.

use std::collections::{HashMap, HashSet};

use bytes::Bytes;

use super::lookup::{Family, check_name, short_name};
use super::outcome::{Cql2Column, Cql2Outcome, Cql2Result, Cql2Row};
use super::values::Cql2Values;
use crate::error::invalid;
use crate::{CqlError, QueryState, Result};
use base::model::{Cell, Row, RowColumns};
use cql_syntax::cql2::{Columns2, Comparison2, Relation2, Select2, Term2};
use db::{Access, ColumnParent, IndexExpression, IndexOperator, KeyRange, RequestedRange, SlicePredicate};

/// The default maximum number of columns of each row, without FIRST.
const COLUMNS: i32 = 10_000;

const ONLY_ROWS: &str = "Only COUNT(*) and COUNT(1) operations are currently supported.";

/// The timestamp of the row key when it is shown as a column.
const KEY_TIMESTAMP: i64 = -1;

/// The conditions of WHERE.
#[derive(Default)]
struct Where {
    keys: Vec<Bytes>,
    known_keys: HashSet<Bytes>,
    is_by_key: bool,
    /// Whether some keys are from an IN.
    is_by_list: bool,
    /// Bounds on the row key, and whether each is inclusive.
    start: Option<(Bytes, bool)>,
    finish: Option<(Bytes, bool)>,
    expressions: Vec<IndexExpression>,
}

impl Where {
    /// Adds a key. The old servers store keys in a set, so duplicates are dropped.
    fn add_key(&mut self, key: Bytes) {
        self.is_by_key = true;
        if self.known_keys.insert(key.clone()) {
            self.keys.push(key);
        }
    }
}

pub(super) async fn run(
    state: &QueryState<'_>,
    select: &Select2,
    values: Cql2Values<'_>,
) -> Result<Cql2Outcome> {
    let family = Family::find(state, &select.table)?;
    state.check(Access::Read { keyspace: family.keyspace(), family: family.cf.name.as_bytes() })?;
    let reader = Select2Reader { state, family: &family, select, values };
    if reader.counts_columns() {
        return reader.count_columns().await;
    }
    if let Columns2::Count(counted) = &select.columns {
        reader.check_counted(counted)?;
    }
    // Real servers read the names of columns before the conditions.
    reader.predicate()?;
    let conditions = reader.conditions()?;
    let rows = reader.rows(&conditions).await?;
    if matches!(select.columns, Columns2::Count(_)) {
        return Ok(Cql2Outcome::Rows(count(rows.len())));
    }
    let absent = reader.absent_rows(&conditions, &rows).await?;
    Ok(Cql2Outcome::Rows(reader.result(rows, &absent)?))
}

/// Returns the number of rows as a result with one row.
fn count(rows: usize) -> Cql2Result {
    let name = Bytes::from_static(b"count");
    let value = Bytes::copy_from_slice(&(rows as u64).to_be_bytes());
    let column = Cql2Column { name: name.clone(), value: Some(value), timestamp: None };
    Cql2Result {
        rows: vec![Cql2Row { key: name, columns: vec![column] }],
        default_name_type: "AsciiType".to_owned(),
        default_value_type: "LongType".to_owned(),
        ..Cql2Result::default()
    }
}

struct Select2Reader<'a> {
    state: &'a QueryState<'a>,
    family: &'a Family<'a>,
    select: &'a Select2,
    values: Cql2Values<'a>,
}

impl Select2Reader<'_> {
    /// Returns whether the statement counts the columns of a row, as COUNT does in 0.8.
    fn counts_columns(&self) -> bool {
        matches!(self.select.columns, Columns2::Count(_))
            && self.state.behaviour.reads.count_of_cql2_is_of_columns
    }

    async fn count_columns(&self) -> Result<Cql2Outcome> {
        let conditions = self.conditions()?;
        if conditions.keys.len() != 1 {
            return invalid("Counts can only be performed for a single record (Hint: KEY=term)");
        }
        let rows = self.rows(&conditions).await?;
        let columns: usize = rows.iter().map(|row| row.columns.len()).sum();
        Ok(Cql2Outcome::Count(i32::try_from(columns).unwrap_or(i32::MAX)))
    }

    /// Checks what COUNT counts: `*`, or 1, which a real server takes for a column name, which must be valid.
    fn check_counted(&self, counted: &Columns2) -> Result<()> {
        match counted {
            Columns2::All => Ok(()),
            Columns2::Names(names) => match &names[..] {
                [one @ Term2::Text(text)] if text == "1" => {
                    self.values.bytes(one, self.family.comparator()).map(drop)
                }
                _ => invalid(ONLY_ROWS),
            },
            Columns2::Range(..) | Columns2::Count(_) => invalid(ONLY_ROWS),
        }
    }

    fn conditions(&self) -> Result<Where> {
        let mut conditions = Where::default();
        let alias = self.family.key_alias();
        for relation in &self.select.relations {
            match relation {
                Relation2::In { name, values } if name.is_key(&alias) => {
                    for value in values {
                        let key = self.key(value)?;
                        conditions.add_key(key);
                    }
                    conditions.is_by_list = true;
                }
                Relation2::In { .. } => {
                    return invalid("IN is only supported on the row key");
                }
                Relation2::Compare { name, operator, value } if name.is_key(&alias) => {
                    self.add_key_condition(&mut conditions, *operator, value)?;
                }
                Relation2::Compare { name, operator, value } => {
                    let column_name = self.values.bytes(name, self.family.comparator());
                    // A name that the comparator cannot parse is not indexed.
                    let column_name = column_name.map_err(|_| not_indexed())?;
                    let value = self.values.bytes(value, self.family.value_type(&column_name))?;
                    let operator = index_operator(*operator);
                    conditions.expressions.push(IndexExpression { column_name, operator, value });
                }
            }
        }
        self.check(&conditions)?;
        Ok(conditions)
    }

    fn key(&self, term: &Term2) -> Result<Bytes> {
        self.values.bytes(term, self.family.key_type())
    }

    fn add_key_condition(&self, conditions: &mut Where, operator: Comparison2, value: &Term2) -> Result<()> {
        let key = self.key(value)?;
        match operator {
            Comparison2::Eq => conditions.add_key(key),
            Comparison2::Gt | Comparison2::Gte => {
                conditions.start = Some((key, operator == Comparison2::Gte));
            }
            Comparison2::Lt | Comparison2::Lte => {
                conditions.finish = Some((key, operator == Comparison2::Lte));
            }
        }
        Ok(())
    }

    fn check(&self, conditions: &Where) -> Result<()> {
        if conditions.keys.len() > 1 && !conditions.is_by_list {
            return invalid("You cannot use more than one KEY = in a SELECT");
        }
        if conditions.start.is_none() && conditions.finish.is_some() {
            return invalid("Key range clauses must include a start key (i.e. KEY > term)");
        }
        if conditions.start.is_some() && conditions.is_by_key {
            return invalid("You cannot combine key range and by-key clauses in a SELECT");
        }
        if conditions.finish.is_some() && !conditions.expressions.is_empty() {
            return invalid("You cannot combine key range and by-column clauses in a SELECT");
        }
        let is_indexed = conditions.expressions.iter().any(|expression| {
            let column = self.family.cf.column_metadata.get(&expression.column_name);
            expression.operator == IndexOperator::Eq && column.is_some_and(|column| column.index.is_some())
        });
        if !conditions.expressions.is_empty() && !is_indexed {
            return Err(not_indexed());
        }
        self.check_key_order(conditions)
    }

    /// Checks that the first key of a range comes before the last one in the ring.
    fn check_key_order(&self, conditions: &Where) -> Result<()> {
        let (Some((start, _)), Some((finish, _))) = (&conditions.start, &conditions.finish) else {
            return Ok(());
        };
        let database = self.state.database;
        let ring = database.ring_order();
        if finish.is_empty() || (ring.token(start), start) <= (ring.token(finish), finish) {
            return Ok(());
        }
        invalid(if database.partitioner().class_name().ends_with("RandomPartitioner") {
            "Start key sorts after end key. This is not allowed; you probably should not specify end key at all, \
                 under RandomPartitioner"
        } else {
            "Start key must sort before (or equal to) finish key in your partitioner!"
        })
    }

    fn check_column_order(&self, start: &Bytes, finish: &Bytes) -> Result<()> {
        let order = self.family.comparator().compare(start, finish);
        let order = if self.select.is_reversed { order.reverse() } else { order };
        if start.is_empty() || finish.is_empty() || order.is_le() {
            return Ok(());
        }
        invalid("range finish must come after start in traversal order")
    }

    fn predicate(&self) -> Result<SlicePredicate> {
        let comparator = self.family.comparator();
        let columns = match &self.select.columns {
            Columns2::Count(counted) if self.counts_columns() => counted,
            columns => columns,
        };
        let (start, finish) = match columns {
            Columns2::Names(names) => {
                let alias = self.family.key_alias();
                let names = names.iter().filter(|name| !name.is_key(&alias));
                let names = names.map(|name| {
                    let name = self.values.bytes(name, comparator)?;
                    check_name(&name)?;
                    Ok(name)
                });
                let column_names = Some(names.collect::<Result<_>>()?);
                return Ok(SlicePredicate { column_names, slice_range: None });
            }
            Columns2::Range(start, finish) => {
                (self.values.bytes(start, comparator)?, self.values.bytes(finish, comparator)?)
            }
            Columns2::All | Columns2::Count(_) => (Bytes::new(), Bytes::new()),
        };
        self.check_column_order(&start, &finish)?;
        let count = self.select.first.unwrap_or(COLUMNS);
        let range = RequestedRange { start, finish, reversed: self.select.is_reversed, count };
        Ok(SlicePredicate { column_names: None, slice_range: Some(range) })
    }

    async fn rows(&self, conditions: &Where) -> Result<Vec<Row>> {
        let predicate = self.predicate()?;
        if conditions.is_by_key && conditions.expressions.is_empty() {
            return self.rows_by_key(&conditions.keys, &predicate).await;
        }
        if !conditions.is_by_key {
            return self.rows_of_range(conditions, &predicate).await;
        }
        let mut found = Vec::new();
        for key in &conditions.keys {
            let mut range = KeyRange::of_keys(key.clone(), key.clone(), 1);
            range.row_filter.clone_from(&conditions.expressions);
            found.extend(self.range(&predicate, &range).await?);
        }
        Ok(found)
    }

    fn parent(&self) -> ColumnParent {
        ColumnParent { column_family: self.family.name(), super_column: None }
    }

    /// Returns rows in the order of the keys in the statement, including missing rows. LIMIT does not count them, as on
    /// the old servers.
    async fn rows_by_key(&self, keys: &[Bytes], predicate: &SlicePredicate) -> Result<Vec<Row>> {
        let request = self.state.request(&self.family.cf.keyspace, self.select.consistency);
        let found = request.reads().multiget_slice(keys, &self.parent(), predicate).await?;
        let found: HashMap<Bytes, RowColumns> = found.into_iter().collect();
        let mut rows = Vec::with_capacity(keys.len());
        for key in keys {
            let columns = found.get(key).cloned().unwrap_or_else(|| RowColumns::Cells(Vec::new()));
            rows.push(Row { key: key.clone(), columns });
        }
        Ok(rows)
    }

    /// Returns the rows with no stored data for the requested names: neither a cell with such a name, nor a tombstone
    /// of such a cell or of the row. For them, the result does not even contain the names (`row.cf == null`).
    async fn absent_rows(&self, conditions: &Where, rows: &[Row]) -> Result<HashSet<Bytes>> {
        let is_by_names = matches!(self.select.columns, Columns2::Names(_));
        let mut absent = HashSet::new();
        if !is_by_names || !conditions.is_by_key || !conditions.expressions.is_empty() {
            return Ok(absent);
        }
        let names = self.predicate()?.column_names.unwrap_or_default();
        let request = self.state.request(&self.family.cf.keyspace, self.select.consistency);
        for row in rows.iter().filter(|row| row.columns.is_empty()) {
            if !request.reads().has_traces_of(&self.family.cf, &row.key, &names).await? {
                absent.insert(row.key.clone());
            }
        }
        Ok(absent)
    }

    async fn range(&self, predicate: &SlicePredicate, range: &KeyRange) -> Result<Vec<Row>> {
        let request = self.state.request(&self.family.cf.keyspace, self.select.consistency);
        Ok(request.ranges().get_range_slices(&self.parent(), predicate, range).await?)
    }

    async fn rows_of_range(&self, conditions: &Where, predicate: &SlicePredicate) -> Result<Vec<Row>> {
        let limit = self.select.limit;
        let bound = |bound: &Option<(Bytes, bool)>| bound.clone().map_or_else(Bytes::new, |(key, _)| key);
        // Exclusive bounds are read too and then removed from the result. LIMIT 0 is not refused.
        let count = limit.saturating_add(if conditions.start.is_some() { 1 } else { 0 }).max(1);
        let mut range = KeyRange::of_keys(bound(&conditions.start), bound(&conditions.finish), count);
        range.row_filter.clone_from(&conditions.expressions);
        let mut rows = self.range(predicate, &range).await?;
        let is_left_out = |row: &Row, bound: &Option<(Bytes, bool)>| {
            bound.as_ref().is_some_and(|(key, is_in)| !is_in && row.key == *key)
        };
        rows.retain(|row| !is_left_out(row, &conditions.start) && !is_left_out(row, &conditions.finish));
        rows.truncate(usize::try_from(limit).unwrap_or(0));
        Ok(rows)
    }

    fn result(&self, rows: Vec<Row>, absent: &HashSet<Bytes>) -> Result<Cql2Result> {
        let mut result = Cql2Result {
            default_name_type: short_name(self.family.comparator().class_name()),
            default_value_type: short_name(self.family.default_type().class_name()),
            ..Cql2Result::default()
        };
        for row in rows {
            let cells = match row.columns {
                RowColumns::Cells(cells) => cells,
                RowColumns::Supers(_) => Vec::new(),
            };
            let mut columns = match &self.select.columns {
                Columns2::Names(names) => {
                    let is_absent = absent.contains(&row.key);
                    self.named_columns(names, &row.key, cells, is_absent, &mut result)?
                }
                _ => self.all_columns(&row.key, cells, &mut result),
            };
            if self.select.is_reversed {
                columns.reverse();
            }
            result.rows.push(Cql2Row { key: row.key, columns });
        }
        Ok(result)
    }

    /// Returns the row key as a column with this name.
    fn key_column(&self, name: Bytes, key: &Bytes, result: &mut Cql2Result) -> Cql2Column {
        result.name_types.insert(name.clone(), "AsciiType".to_owned());
        result.value_types.insert(name.clone(), short_name(self.family.key_type().class_name()));
        Cql2Column { name, value: Some(key.clone()), timestamp: Some(KEY_TIMESTAMP) }
    }

    fn note_type(&self, name: &Bytes, result: &mut Cql2Result) {
        if let Some(declared) = self.family.declared_name(name) {
            result.value_types.insert(name.clone(), declared);
        }
    }

    /// Returns the columns in the comparator's order; only for `*` the key comes first.
    fn all_columns(&self, key: &Bytes, mut cells: Vec<Cell>, result: &mut Cql2Result) -> Vec<Cql2Column> {
        let mut columns = Vec::new();
        if matches!(self.select.columns, Columns2::All) && self.select.first.is_none() {
            columns.push(self.key_column(Bytes::from(self.family.key_alias()), key, result));
        }
        let comparator = self.family.comparator();
        cells.sort_by(|left, right| comparator.compare(&left.name, &right.name));
        for cell in cells {
            self.note_type(&cell.name, result);
            columns.push(column_of(cell));
        }
        columns
    }

    /// Returns the columns in the order of the names in the statement.
    fn named_columns(
        &self,
        names: &[Term2],
        key: &Bytes,
        cells: Vec<Cell>,
        is_absent: bool,
        result: &mut Cql2Result,
    ) -> Result<Vec<Cql2Column>> {
        let alias = self.family.key_alias();
        let by_name: HashMap<Bytes, Cell> = cells.into_iter().map(|cell| (cell.name.clone(), cell)).collect();
        let mut columns = Vec::new();
        for term in names {
            if let Term2::Text(text) = term
                && term.is_key(&alias)
            {
                columns.push(self.key_column(Bytes::from(text.clone()), key, result));
                continue;
            }
            // For a missing row not even the names are returned.
            if is_absent {
                continue;
            }
            let name = self.values.bytes(term, self.family.comparator())?;
            self.note_type(&name, result);
            match by_name.get(&name) {
                Some(cell) => columns.push(column_of(cell.clone())),
                None => columns.push(Cql2Column { name, value: None, timestamp: None }),
            }
        }
        Ok(columns)
    }
}

fn index_operator(comparison: Comparison2) -> IndexOperator {
    match comparison {
        Comparison2::Eq => IndexOperator::Eq,
        Comparison2::Lt => IndexOperator::Lt,
        Comparison2::Lte => IndexOperator::Lte,
        Comparison2::Gt => IndexOperator::Gt,
        Comparison2::Gte => IndexOperator::Gte,
    }
}

fn not_indexed() -> CqlError {
    CqlError::invalid("No indexed columns present in by-columns clause with \"equals\" operator")
}

fn column_of(cell: Cell) -> Cql2Column {
    Cql2Column { name: cell.name, value: Some(cell.value), timestamp: Some(cell.timestamp) }
}
