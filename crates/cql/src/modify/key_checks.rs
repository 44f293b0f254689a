//! Checks of the keys of a statement, and the rows that they name.

use bytes::Bytes;

use super::changed_keys::ChangedKeys;
use super::condition::ColumnCondition;
use super::keys::Keys;
use super::kind::ModifyKind;
use super::operation::ColumnOperation;
use super::plan::ModifyPlan;
use super::row_test::RowTest;
use crate::error::invalid;
use crate::select::{BoundValues, ChangedRows, RowSet, missing};
use crate::{QueryOptions, QueryState, Result};
use base::compat::features::restrictions::CHANGES_OF_SEVERAL_ROWS;
use base::schema::{Layout, TableColumn};

const RANGE_OF_COLUMNS: &str = "Range deletions are not supported for specific columns";

impl ModifyPlan {
    fn is_static_only(&self) -> bool {
        self.has_statics && !self.has_regulars
    }

    /// Checks the WHERE clause as a whole, and that a conditional DELETE names one row or only static columns.
    pub(super) fn check_keys(&self, state: &QueryState<'_>) -> Result<()> {
        let is_conditional = self.kind == ModifyKind::Delete && self.has_conditions();
        match &self.keys {
            ChangedKeys::Listed(keys) if is_conditional => self.check_whole_key(keys),
            ChangedKeys::Listed(keys) if state.has(CHANGES_OF_SEVERAL_ROWS) => self.check_inserted(keys),
            ChangedKeys::Listed(_) => Ok(()),
            ChangedKeys::Restricted(rows) => {
                rows.check(self.is_static_only())?;
                if is_conditional { self.check_conditional(rows) } else { Ok(()) }
            }
        }
    }

    /// Checks that an INSERT has a value for every column of the primary key, in the words of 3.0 and later.
    fn check_inserted(&self, keys: &Keys) -> Result<()> {
        let def = &self.table.def;
        let partition = missing(&def.partition_key, |at| keys.has_partition_at(at));
        if !partition.is_empty() {
            return invalid(format!("Some partition key parts are missing: {partition}"));
        }
        let may_lack_row = if keys.has_clustering() { def.is_compact() } else { self.is_static_only() };
        let clustering = missing(&def.clustering, |at| keys.has_clustering_at(at));
        if clustering.is_empty() || may_lack_row {
            return Ok(());
        }
        invalid(format!("Some clustering keys are missing: {clustering}"))
    }

    fn check_whole_key(&self, keys: &Keys) -> Result<()> {
        let def = &self.table.def;
        let partition = def.partition_key.iter().filter(|key| !keys.has_partition_at(key.position));
        let clustering = def.clustering.iter().filter(|key| !keys.has_clustering_at(key.position));
        let missing = partition.chain(clustering.filter(|_| !self.is_static_only())).next();
        let Some(TableColumn { name, .. }) = missing else { return Ok(()) };
        // 2.1 names the partition key even if it misses a clustering column.
        let (key, conditions) = match &self.test {
            RowTest::Columns(conditions) if conditions.iter().all(ColumnCondition::is_static) => {
                ("PARTITION", "conditions on static columns")
            }
            _ => ("PRIMARY", "conditions"),
        };
        invalid(format!(
            "DELETE statements must restrict all {key} KEY columns with equality relations in order to use IF \
             {conditions}, but column '{name}' is not restricted"
        ))
    }

    fn check_conditional(&self, rows: &ChangedRows) -> Result<()> {
        // From 3.0 on, the columns of a compact table without clustering columns are static, and the table has a
        // clustering column without a name.
        let lacks_hidden_key = self.table.def.layout == Layout::StaticCompact && self.operations.is_empty();
        if rows.is_by_whole_key() && !lacks_hidden_key {
            return Ok(());
        }
        let all =
            "DELETE statements must restrict all PRIMARY KEY columns with equality relations in order to";
        if self.operations.is_empty() || !self.operations.iter().all(ColumnOperation::is_static) {
            return invalid(format!("{all} delete non static columns"));
        }
        match &self.test {
            RowTest::Columns(conditions) if !conditions.iter().all(ColumnCondition::is_static) => {
                invalid(format!("{all} use IF condition on non static columns"))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a statement with conditions changes one row.
    pub(super) fn check_one_row(&self) -> Result<()> {
        let ChangedKeys::Restricted(rows) = &self.keys else { return Ok(()) };
        let column = match (rows.has_key_in(), rows.has_clustering_in()) {
            (true, _) => "partition key",
            (false, true) => "clustering key columns",
            (false, false) => return Ok(()),
        };
        let changes = if self.kind == ModifyKind::Delete { "deletions" } else { "updates" };
        invalid(format!("IN on the {column} is not supported with conditional {changes}"))
    }

    /// Returns the keys of the partitions.
    pub(super) fn row_keys(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<Vec<Bytes>> {
        match &self.keys {
            ChangedKeys::Listed(keys) => {
                keys.row_keys(&self.table.def, state.line(), BoundValues::new(state, options))
            }
            ChangedKeys::Restricted(rows) => rows.row_keys(state, options),
        }
    }

    /// Returns the prefixes of the rows, which are the same in each partition.
    pub(super) fn prefixes(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<Vec<RowSet>> {
        let rows = match &self.keys {
            ChangedKeys::Listed(keys) => return Ok(vec![self.prefix(keys, state, options)?]),
            ChangedKeys::Restricted(rows) => rows,
        };
        if self.is_static_only() {
            return Ok(vec![RowSet::Static]);
        }
        let is_of_columns = self.kind == ModifyKind::Delete && !self.operations.is_empty();
        let count = self.table.def.clustering.len();
        let sets = rows.row_sets(state, options)?;
        // Cassandra 3.11 accepts a range that can hold no row.
        if is_of_columns && rows.slices_clustering() && !sets.is_empty() {
            return invalid(RANGE_OF_COLUMNS);
        }
        for set in &sets {
            let is_row = matches!(set, RowSet::Row(values) if values.len() == count)
                && (self.kind == ModifyKind::Update || rows.is_by_whole_key());
            let is_partition = !rows.restricts_clustering();
            let is_of_statics = is_partition && self.operations.iter().all(ColumnOperation::is_static);
            if is_of_columns && !is_row && !is_of_statics {
                return invalid(RANGE_OF_COLUMNS);
            }
        }
        Ok(sets)
    }

    /// Returns the row prefix. A statement on static columns only needs no clustering values, and may have none unless it
    /// is an INSERT.
    fn prefix(&self, keys: &Keys, state: &QueryState<'_>, options: &QueryOptions) -> Result<RowSet> {
        let def = &self.table.def;
        if self.is_static_only() {
            if !keys.has_clustering() {
                return Ok(RowSet::Static);
            }
            let given = def.clustering.iter().find(|column| keys.has_clustering_at(column.position));
            if let Some(column) = given.filter(|_| self.kind != ModifyKind::Insert) {
                return invalid(format!(
                    "Invalid restriction on clustering column {} since the {} statement modifies only static columns",
                    column.name,
                    self.kind.word()
                ));
            }
        }
        let needs_all = self.kind != ModifyKind::Delete && def.layout == Layout::Sparse;
        Ok(RowSet::Row(keys.clustering(def, needs_all, state.line(), BoundValues::new(state, options))?))
    }
}
