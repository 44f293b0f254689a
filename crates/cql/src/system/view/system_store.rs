//! A store that has the rows of the system tables. It refuses writes.

use std::sync::Arc;

use bytes::Bytes;

use super::cells::cells_of;
use super::node_families;
use crate::QueryState;
use crate::system::definitions::listed_in;
use crate::system::names::SYSTEM;
use crate::system::{RequestedTables, rows};
use base::compat::features::releases::NEWEST;
use base::compat::features::{ConsistencyLevel, Language, ReportedVersion, SYSTEM_ROWS_HAVE_MARKERS};
use base::compat::{Behaviour, texts};
use base::marshal;
use base::marshal::AbstractType;
use base::model::{Cell, DeletionTime, Mutation, Predicate, RangeCommand, ReadCommand, Row, RowColumns};
use base::schema::{CfDef, TableDef};
use base::util::meter;
use db::Database;
use store::collect::{Shadows, collect_cells};
use store::gather::KeptColumns;
use store::{Store, StoreChange, StoreError, StoreFuture, StoreStatus};

/// The system tables of a session.
pub(super) struct SystemStore {
    database: Arc<Database>,
    behaviour: &'static Behaviour,
    language: Language,
    reported: ReportedVersion,
}

/// A partition of a system table. Its cells are in the comparator's order.
struct SystemPartition {
    key: Bytes,
    cells: Vec<Cell>,
}

impl SystemStore {
    pub(super) fn new(state: &QueryState<'_>) -> SystemStore {
        SystemStore {
            database: state.database.clone(),
            behaviour: state.behaviour,
            language: state.language,
            reported: state.reported.clone(),
        }
    }

    fn state(&self) -> QueryState<'_> {
        let (language, reported) = (self.language, &self.reported);
        QueryState { language, reported, ..QueryState::of_release(&self.database, self.behaviour) }
    }

    /// Returns the partitions of a table in the order of the ring, or at least those that are wanted.
    fn partitions(&self, cf: &CfDef, wanted: &RequestedTables) -> Vec<SystemPartition> {
        let state = self.state();
        let table = listed_in(self.behaviour.line(), &cf.keyspace).find(|listed| listed.name == cf.name);
        let found = match table {
            Some(table) => {
                let def = TableDef::of(table, self.behaviour.release);
                let with_marker = SYSTEM_ROWS_HAVE_MARKERS.has(self.behaviour.release);
                rows(&state, table, wanted).into_iter().map(|row| cells_of(&def, row, with_marker)).collect()
            }
            None => node_families::rows(&state, &cf.name),
        };
        let comparator = marshal::at(&*cf.comparator, self.behaviour.release);
        self.joined(found, comparator)
    }

    /// Joins rows of a table with the same key, and sorts partitions and cells.
    fn joined(
        &self,
        mut rows: Vec<(Bytes, Vec<Cell>)>,
        comparator: &dyn AbstractType,
    ) -> Vec<SystemPartition> {
        let ring = self.database.ring_order();
        rows.sort_by_cached_key(|(key, _)| ring.position(key));
        let mut partitions: Vec<SystemPartition> = Vec::new();
        for (key, cells) in rows {
            match partitions.last_mut().filter(|last| last.key == key) {
                Some(last) => last.cells.extend(cells),
                None => partitions.push(SystemPartition { key, cells }),
            }
        }
        for partition in &mut partitions {
            partition.cells.sort_by(|left, right| comparator.compare(&left.name, &right.name));
        }
        partitions
    }

    fn read_now(&self, key: Bytes, command: &ReadCommand) -> Result<RowColumns, StoreError> {
        let wanted = RequestedTables { keys: Some(vec![key.clone()]), first: None };
        let partitions = self.partitions(&command.cf, &wanted);
        let found = partitions.into_iter().find(|partition| partition.key == key);
        columns(found.map(|partition| partition.cells).unwrap_or_default(), command)
    }

    fn scan_now(&self, command: &RangeCommand) -> Result<Vec<Row>, StoreError> {
        let ring = self.database.ring_order();
        let mut partitions = self.partitions(&command.read.cf, &RequestedTables::default());
        let mut found = Vec::new();
        for range in ring.ranges(&command.bounds, command.read.behaviour.release) {
            let in_range = partitions.extract_if(.., |partition| range.has(&ring.token(&partition.key)));
            found.extend(in_range);
        }
        found.truncate(command.max_rows);
        let mut rows = Vec::with_capacity(found.len());
        for SystemPartition { key, cells } in found {
            rows.push(Row { key, columns: columns(cells, &command.read)? });
        }
        Ok(rows)
    }
}

/// Returns the columns that a read selects of a partition's cells.
fn columns(mut cells: Vec<Cell>, command: &ReadCommand) -> Result<RowColumns, StoreError> {
    if command.cf.is_super() {
        // The only Super column family, the hints of other nodes, is empty.
        return Ok(RowColumns::Supers(Vec::new()));
    }
    let comparator = marshal::at(&*command.cf.comparator, command.behaviour.release);
    let order = |left: &[u8], right: &[u8]| comparator.compare(left, right);
    let mut count = usize::MAX;
    match &command.predicate {
        Predicate::Names(names) => {
            let mut names: Vec<&[u8]> = names.iter().map(|name| &name[..]).collect();
            names.sort_by(|left, right| order(left, right));
            meter::check()?;
            cells.retain(|cell| names.binary_search_by(|name| order(name, &cell.name)).is_ok());
        }
        Predicate::Range(range) => {
            let (low, high) = range.ends();
            cells.retain(|cell| {
                (low.is_empty() || order(&cell.name, low).is_ge())
                    && (high.is_empty() || order(&cell.name, high).is_le())
            });
            if range.reversed {
                cells.reverse();
            }
            count = range.count;
        }
    }
    let mut kept = KeptColumns::default();
    let shadows = Shadows::of_row(DeletionTime::LIVE, None);
    collect_cells(cells.into_iter().map(Ok), shadows, count, command, &mut kept)?;
    kept.into_cells()
}

fn refused<'a, T: Send + 'a>() -> StoreFuture<'a, T> {
    Box::pin(async { Err(StoreError::Invalid(texts::own_keyspace_in_cql(NEWEST, SYSTEM))) })
}

fn ready<'a, T: Send + 'a>(result: Result<T, StoreError>) -> StoreFuture<'a, T> {
    Box::pin(async { result })
}

impl Store for SystemStore {
    fn apply(&self, _: Vec<Mutation>, _: &'static Behaviour, _: ConsistencyLevel) -> StoreFuture<'_, ()> {
        refused()
    }

    fn read(&self, key: Bytes, command: ReadCommand, _: ConsistencyLevel) -> StoreFuture<'_, RowColumns> {
        ready(self.read_now(key, &command))
    }

    fn scan(&self, command: RangeCommand, _: ConsistencyLevel) -> StoreFuture<'_, Vec<Row>> {
        ready(self.scan_now(&command))
    }

    fn splits(&self, _: Vec<u8>, _: Vec<u8>, _: usize) -> StoreFuture<'_, Vec<Vec<u8>>> {
        ready(Ok(Vec::new()))
    }

    fn records(&self) -> StoreFuture<'_, Vec<(String, Bytes)>> {
        ready(Ok(Vec::new()))
    }

    fn change_schema(&self, _: StoreChange) -> StoreFuture<'_, ()> {
        refused()
    }

    fn status(&self) -> StoreStatus {
        StoreStatus::default()
    }

    fn close(&self) -> StoreFuture<'_, ()> {
        ready(Ok(()))
    }
}
