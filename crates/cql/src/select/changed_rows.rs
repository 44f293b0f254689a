//! The WHERE clause of an UPDATE or DELETE as 3.0 and later analyze it: like the WHERE clause of a SELECT, without
//! filtering (`StatementRestrictions`).

use std::collections::HashSet;

use bytes::Bytes;

use super::analysis::Analysis;
use super::bounds::{CellReads, CellSlice, Slicing, static_slice};
use super::keys::{Partitions, partitions};
use super::operands::BoundValues;
use super::restrictions::{Restriction, RestrictionKind, Restrictions, Target};
use crate::comma_list::comma_list;
use crate::error::invalid;
use crate::values::{Markers, TypeScope};
use crate::{QueryOptions, QueryState, Result, Table};
use base::marshal;
use base::schema::{Layout, TableColumn};
use cql_syntax::Relation;

/// The row, or rows, of a partition that a statement changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum RowSet {
    /// The static columns.
    Static,
    /// The row with these clustering values, or all rows that begin with them if there are fewer values than columns.
    Row(Vec<Bytes>),
    /// The rows whose cells have names from `start` to `finish`, which a DELETE of 3.0 and later can have. An empty bound
    /// is open.
    Range { start: Bytes, finish: Bytes },
}

/// The restrictions of the rows that an UPDATE or DELETE changes.
#[derive(Debug)]
pub(crate) struct ChangedRows {
    target: Target,
    restrictions: Restrictions,
    /// `UPDATE` or `DELETE`.
    statement: &'static str,
}

/// Returns the names of the columns without a value, separated by commas.
pub(crate) fn missing(columns: &[TableColumn], is_given: impl Fn(usize) -> bool) -> String {
    let missing = columns.iter().filter(|column| !is_given(column.position));
    comma_list(missing.map(|column| &*column.name))
}

impl ChangedRows {
    /// Analyzes the relations of an `UPDATE` or a `DELETE`.
    pub(crate) fn new(
        state: &QueryState<'_>,
        table: &Table,
        statement: &'static str,
        relations: &[Relation],
        scope: TypeScope<'_>,
        markers: &mut Markers,
    ) -> Result<ChangedRows> {
        let (keyspace, name) = (table.cf.keyspace.clone(), table.cf.name.clone());
        let target =
            Target { keyspace, name, def: table.def.clone(), cf: table.cf.clone(), is_system: false };
        let mut analysis = Analysis::new(state, &target, None, scope);
        for relation in relations {
            analysis.take(relation, markers)?;
        }
        let restrictions = analysis.found;
        Ok(ChangedRows { target, restrictions, statement })
    }

    /// Checks that the restrictions select rows by key. `is_static_only`: the statement is only about static columns.
    pub(crate) fn check(&self, is_static_only: bool) -> Result<()> {
        let (found, statement) = (&self.restrictions, self.statement);
        if found.token.is_some() {
            return invalid(format!(
                "The token function cannot be used in WHERE clauses for {statement} statements"
            ));
        }
        let missing =
            missing(&self.target.def.partition_key, |at| found.keys.get(at).is_some_and(Option::is_some));
        if !missing.is_empty() {
            return invalid(format!("Some partition key parts are missing: {missing}"));
        }
        if found.keys.iter().flatten().any(|of| of.is_slice() || of.is_contains()) {
            return invalid(format!(
                "Only EQ and IN relation are supported on the partition key (unless you use the token() function) for \
                 {statement} statements"
            ));
        }
        if is_static_only && found.restricts_clustering() {
            return invalid(format!(
                "Invalid restrictions on clustering columns since the {statement} statement modifies only static columns"
            ));
        }
        self.check_clustering(is_static_only)?;
        if found.others.is_empty() {
            return Ok(());
        }
        // The space at the end is Cassandra's.
        invalid(format!("Non PRIMARY KEY columns found in where clause: {} ", found.names_of_others()))
    }

    fn check_clustering(&self, is_static_only: bool) -> Result<()> {
        let (found, def) = (&self.restrictions, &self.target.def);
        let is_update = self.statement == "UPDATE";
        if is_update && found.of_clustering.iter().any(Restriction::is_slice) {
            return invalid(
                "Slice restrictions are not supported on the clustering columns in UPDATE statements",
            );
        }
        if found.of_clustering.iter().any(Restriction::is_contains) {
            return invalid(
                "Clustering columns can only be restricted with CONTAINS with a secondary index or filtering",
            );
        }
        if is_update && (!def.is_compact() || !found.restricts_clustering()) {
            let missing = missing(&def.clustering, |at| found.of_clustering_at(at).is_some());
            if missing.is_empty() || is_static_only {
                return Ok(());
            }
            return invalid(format!("Some clustering keys are missing: {missing}"));
        }
        match found.gap(def) {
            Some(gap) if found.has_gap() => Err(gap),
            _ => Ok(()),
        }
    }

    /// Whether every clustering column has an equality or IN of its own.
    pub(crate) fn is_by_whole_key(&self) -> bool {
        let found = &self.restrictions;
        let mut clustering = 0..self.target.def.clustering.len();
        // To Cassandra an equality of a tuple is a range.
        clustering.all(|at| {
            found.of_clustering_at(at).is_some_and(|of| match of.asked {
                RestrictionKind::Eq(_) => !of.is_tuple,
                RestrictionKind::In(_) => true,
                RestrictionKind::Slice(_) | RestrictionKind::Contains(_) => false,
            })
        })
    }

    /// Whether a column of the partition key has an IN.
    pub(crate) fn has_key_in(&self) -> bool {
        self.restrictions.keys.iter().flatten().any(Restriction::is_in)
    }

    /// Whether a clustering column has an IN.
    pub(crate) fn has_clustering_in(&self) -> bool {
        self.restrictions.of_clustering.iter().any(Restriction::is_in)
    }

    /// Whether a clustering column is restricted.
    pub(crate) fn restricts_clustering(&self) -> bool {
        self.restrictions.restricts_clustering()
    }

    /// Whether a clustering column has a slice.
    pub(crate) fn slices_clustering(&self) -> bool {
        self.restrictions.of_clustering.iter().any(Restriction::is_slice)
    }

    /// Returns the keys of the partitions.
    pub(crate) fn row_keys(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<Vec<Bytes>> {
        let bound = BoundValues::new(state, options);
        match partitions(&self.target, &self.restrictions, bound, state.behaviour, true)? {
            Partitions::Keys(keys) => Ok(keys),
            Partitions::Range(_) => Ok(Vec::new()),
        }
    }

    /// Returns the rows that the statement changes in each partition.
    pub(crate) fn row_sets(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<Vec<RowSet>> {
        let def = &self.target.def;
        let slicing = Slicing {
            target: &self.target,
            restrictions: &self.restrictions,
            bound: BoundValues::new(state, options),
        };
        if !self.slices_clustering() {
            let prefixes = slicing.equalities()?;
            let mut known = HashSet::new();
            let new = prefixes.iter().filter(|values| known.insert(*values));
            return Ok(new.map(|values| RowSet::Row(values.to_vec())).collect());
        }
        let comparator = marshal::at(&*self.target.cf.comparator, state.behaviour.release);
        let CellReads::Cells(slices) = slicing.sliced(comparator)?.reads else {
            return invalid("a range of rows of a super column family cannot be deleted: delete single rows");
        };
        // Between equal bounds of composite names there is no name. Equal bounds of plain names are a name, if both are in
        // the range.
        let mut slices: Vec<CellSlice> = slices.iter().collect();
        slices.retain(|slice| {
            let is_of_one = slice.start == slice.finish && !slice.start.is_empty();
            !is_of_one || def.layout == Layout::Dense && !slice.skips_start && !slice.skips_finish
        });
        if def.layout == Layout::Dense && slices.iter().any(|slice| slice.skips_start || slice.skips_finish) {
            return invalid(
                "a range of rows without its ends cannot be deleted in this COMPACT STORAGE table: use >= and <=",
            );
        }
        // The names of static cells come before the names of all rows.
        let statics = static_slice(def).filter(|_| def.layout == Layout::Sparse);
        let after_statics = statics.map(|statics| statics.finish).unwrap_or_default();
        let mut ranges = Vec::with_capacity(slices.len());
        for CellSlice { start, finish, .. } in slices {
            let start = if start.is_empty() { after_statics.clone() } else { start };
            ranges.push(RowSet::Range { start, finish });
        }
        Ok(ranges)
    }
}
