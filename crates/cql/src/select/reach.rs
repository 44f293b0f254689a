//! The reach of a SELECT: the limits of its reads, and reads that a data model should avoid.

use super::bounds::CellReads;
use super::keys::Partitions;
use super::plan::{Execution, SelectPlan, Start};
use super::restrictions::{Restriction, RestrictionKind};
use super::walk::CELLS_PER_PAGE;
use crate::comma_list::comma_list;
use crate::{QueryOptions, QueryState, Result};
use base::schema::{ColumnKind, name_text};

/// The most that a SELECT reads, as far as its text and the table say; `None`: no limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reach {
    /// Partitions that are read, or looked for.
    pub partitions: Option<usize>,
    /// The rows that the result is made of.
    pub rows: Option<usize>,
    /// Live cells, with those that are read to see that a row is complete.
    pub cells: Option<usize>,
    /// The reasons why the statement is slow on much data.
    pub warnings: Vec<String>,
}

impl SelectPlan {
    /// Returns how much the statement reads; `None` for a system table, whose rows are not stored.
    pub(crate) fn reach(&self, state: &QueryState<'_>, options: &QueryOptions) -> Result<Option<Reach>> {
        if self.target.is_system {
            return Ok(None);
        }
        let execution = self.begin(state, options)?;
        Ok(execution.start.as_ref().map(|start| Extent { plan: self, execution: &execution, start }.reach()))
    }
}

/// A statement with the values of its markers, before its first read.
pub(super) struct Extent<'a> {
    pub plan: &'a SelectPlan,
    pub execution: &'a Execution<'a>,
    pub start: &'a Start,
}

impl Extent<'_> {
    fn reach(&self) -> Reach {
        let partitions = match (&self.start.partitions, self.start.index.is_some()) {
            (Partitions::Keys(keys), _) => Some(keys.len()),
            (Partitions::Range(None), _) => Some(0),
            (Partitions::Range(Some(_)), _) => None,
        };
        Reach {
            partitions,
            rows: self.rows(partitions),
            cells: self.cells(partitions),
            warnings: self.warnings(),
        }
    }

    /// Returns the number of rows after which the statement stops; `None` if it reads on, because rows are dropped
    /// after they are read or because the limit counts groups.
    fn stop(&self) -> Option<usize> {
        let walk = &self.execution.walk;
        walk.counter.limit().filter(|_| walk.tests.is_empty())
    }

    /// Returns the number of rows that a partition has at most in the slices of the statement.
    fn rows_of_partition(&self) -> Option<usize> {
        let walk = &self.execution.walk;
        let restrictions = &self.plan.restrictions;
        let mut clustering = 0..self.plan.target.def.clustering.len();
        let are_given = clustering.all(|at| {
            let restriction = restrictions.of_clustering_at(at);
            restriction.is_some_and(|of| matches!(of.asked, RestrictionKind::Eq(_) | RestrictionKind::In(_)))
        });
        let slices = match &walk.slices.reads {
            CellReads::Names(_) => 1,
            CellReads::Cells(slices) => slices.len(),
            CellReads::Supers(slices) => slices.len(),
        };
        let per_partition =
            Some(walk.counter.per_partition).filter(|rows| walk.tests.is_empty() && *rows < usize::MAX);
        if walk.slices.is_distinct {
            Some(1)
        } else if are_given {
            Some(slices.min(per_partition.unwrap_or(slices)))
        } else {
            per_partition
        }
    }

    fn rows(&self, partitions: Option<usize>) -> Option<usize> {
        let of_all = |rows: usize| partitions.map(|partitions| partitions.saturating_mul(rows));
        match (self.rows_of_partition(), self.stop()) {
            (of_one, Some(stop)) if self.execution.walk.result.is_sorted => {
                of_all(of_one.map_or(stop, |rows| rows.min(stop)))
            }
            (of_one, Some(stop)) => Some(of_one.and_then(of_all).map_or(stop, |rows| rows.min(stop))),
            (of_one, None) => of_one.and_then(of_all),
        }
    }

    /// Returns the number of cells of a row, or of the static columns; `None` if a collection has a cell for each of
    /// its elements.
    fn cells_of(&self, is_static: bool) -> Option<usize> {
        let def = &self.plan.target.def;
        let mut columns = def.others.values().filter(|of| (of.kind == ColumnKind::Static) == is_static);
        if columns.any(|column| column.cql_type.is_multi_cell()) {
            return None;
        }
        Some(match &self.execution.walk.slices.reads {
            _ if is_static => def.static_columns().count(),
            CellReads::Names(names) => names.len(),
            CellReads::Cells(_) | CellReads::Supers(_) => self.plan.cells.cells_per_row(),
        })
    }

    fn cells(&self, partitions: Option<usize>) -> Option<usize> {
        let (partitions, of_row) = (partitions?, self.cells_of(false)?);
        // Static cells are read with the rows or before them, or both.
        let statics = self.cells_of(true)?.saturating_mul(2).saturating_mul(partitions);
        let walk = &self.execution.walk;
        if walk.slices.is_distinct {
            // The first cell of a partition shows that it has a row.
            return Some(partitions.saturating_mul(2).saturating_add(statics));
        }
        let rows = self.rows(Some(partitions))?.saturating_mul(of_row);
        let ends =
            if walk.result.is_sorted || walk.counter.per_partition < usize::MAX { partitions } else { 1 };
        let more = if self.may_have_more_rows() { self.cells_past_last_row(of_row, rows) } else { 0 };
        let more = (more + self.cells_for_excluded_ends()).saturating_mul(ends);
        Some(rows.saturating_add(statics).saturating_add(more))
    }

    /// Returns the number of cells that are read because slices exclude an end: the end itself takes the place of the cell
    /// that shows that the last row is complete, so one more page of two cells is read.
    fn cells_for_excluded_ends(&self) -> usize {
        let CellReads::Cells(slices) = &self.execution.walk.slices.reads else { return 0 };
        if slices.iter().any(|slice| slice.skips_start || slice.skips_finish) { 2 } else { 0 }
    }

    /// Whether a partition may have more rows in the slices than the statement takes.
    fn may_have_more_rows(&self) -> bool {
        let restrictions = &self.plan.restrictions;
        let clustering = 0..self.plan.target.def.clustering.len();
        clustering.into_iter().any(|at| restrictions.of_clustering_at(at).is_none_or(Restriction::is_slice))
    }

    /// Returns the number of cells that are read of a partition after its last row. One row more shows that the last
    /// row is complete. If the rows do not fit into one page, a whole page may be read for the last row.
    fn cells_past_last_row(&self, of_row: usize, cells: usize) -> usize {
        let walk = &self.execution.walk;
        let limit = walk.counter.limit().unwrap_or(usize::MAX);
        let page = limit.saturating_add(1).saturating_mul(of_row).min(CELLS_PER_PAGE);
        if walk.counter.per_partition == usize::MAX && cells + of_row <= page {
            return of_row;
        }
        // Each page begins with the last cell of the page before.
        of_row + page + cells / CELLS_PER_PAGE
    }

    fn warnings(&self) -> Vec<String> {
        let all = [self.scan(), self.several_partitions(), self.filter(), self.open_end(), self.direction()];
        all.into_iter().chain([self.collections()]).flatten().collect()
    }

    fn scan(&self) -> Option<String> {
        let Partitions::Range(Some(_)) = &self.start.partitions else { return None };
        let restrictions = &self.plan.restrictions;
        let def = &self.plan.target.def;
        if let Some(index) = &self.start.index {
            let columns = def.columns().filter(|column| column.cell_name == index.column);
            return Some(format!(
                "it looks up the index on {}, then reads each row that it finds on its own",
                listed(columns.map(|column| &*column.name))
            ));
        }
        if restrictions.token.is_some() {
            return Some("it scans a range of partitions".to_owned());
        }
        let keys = def.partition_key.iter().zip(&restrictions.keys);
        let missing =
            keys.filter(|(_, of)| of.as_ref().is_none_or(Restriction::is_slice)).map(|(key, _)| &*key.name);
        Some(format!("it scans all partitions: WHERE has no value for {}", listed(missing)))
    }

    fn several_partitions(&self) -> Option<String> {
        let Partitions::Keys(keys) = &self.start.partitions else { return None };
        let count = keys.len();
        if self.execution.walk.result.is_sorted {
            return Some(format!("it reads rows of {count} partitions and sorts them in memory"));
        }
        (count > 1).then(|| format!("it reads {count} partitions, one after another"))
    }

    /// Returns the columns whose values are checked after a row is read.
    pub(super) fn filtered(&self) -> Vec<&str> {
        let tests = &self.execution.walk.tests;
        let indexed = self.start.index.as_ref().map(|index| &index.column);
        let tested = self.plan.target.def.columns().filter(|column| {
            let place = self.plan.cells.place(column);
            tests.iter().any(|test| test.is_on(place)) && indexed != Some(&column.cell_name)
        });
        tested.map(|column| &*column.name).collect()
    }

    fn filter(&self) -> Option<String> {
        let filtered = self.filtered();
        let limited = match self.execution.limit {
            usize::MAX => "",
            _ => ": LIMIT does not count the rows that it drops",
        };
        (!filtered.is_empty()).then(|| {
            format!("it filters: it drops rows by {} after it has read them{limited}", listed(filtered))
        })
    }

    fn open_end(&self) -> Option<String> {
        let is_limited = self.execution.limit < usize::MAX;
        let is_open =
            self.stop().is_none() && self.rows_of_partition().is_none() && self.start.index.is_none();
        if !is_open || is_limited && !self.filtered().is_empty() {
            return None;
        }
        let rows = match &self.start.partitions {
            _ if self.plan.restrictions.restricts_clustering() => "all rows of its slices",
            Partitions::Keys(keys) if keys.len() == 1 => "all rows of the partition",
            _ => "all rows of these partitions",
        };
        let why = if is_limited { "LIMIT counts only its results" } else { "it has no LIMIT" };
        Some(format!("{why}, so it reads {rows}"))
    }

    fn direction(&self) -> Option<String> {
        if !self.execution.walk.slices.is_reversed {
            return None;
        }
        let mut order = Vec::new();
        for column in &self.plan.target.def.clustering {
            let direction = if column.is_reversed { "ASC" } else { "DESC" };
            order.push(format!("{} {direction}", name_text(&column.name)));
        }
        Some(format!(
            "it reads backwards, which is slower: WITH CLUSTERING ORDER BY ({}) would store the rows in this order",
            order.join(", ")
        ))
    }

    fn collections(&self) -> Option<String> {
        let columns = self.plan.target.def.others.values().filter(|column| column.cql_type.is_multi_cell());
        let names: Vec<&str> = columns.map(|column| &*column.name).collect();
        (!names.is_empty()).then(|| {
            format!(
                "it reads each element of {} as a cell of its own, even if it is not selected",
                listed(names)
            )
        })
    }
}

/// Returns names as a list, with quotes if CQL needs them.
fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    comma_list(names.into_iter().map(name_text))
}
