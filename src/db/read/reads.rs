//! Reads inside rows: get, slices and counts.

use std::sync::Arc;

use bytes::Bytes;

use crate::compat::Behaviour;
use crate::compat::features::ConsistencyLevel;
use crate::db::args::{ColumnParent, ColumnPath, SlicePredicate};
use crate::db::write::{Compared, compared};
use crate::db::{Database, Error};
use crate::model::{Cell, DeletionTime, Predicate, ReadCommand, RowColumns, SliceRange, SuperColumn};
use crate::schema::{Catalog, CfDef};

/// What get finds.
#[derive(Debug, Clone)]
pub enum GetResult {
    Column(Cell),
    Super(SuperColumn),
}

/// The caller's side of every read.
#[derive(Clone, Copy)]
struct ReadContext<'a> {
    keyspace: &'a [u8],
    catalog: &'a Catalog,
    behaviour: &'static Behaviour,
    consistency: ConsistencyLevel,
}

impl Database {
    /// The column or super column at a path; `NotFound` when nothing of it is live.
    pub async fn get(
        &self,
        keyspace: &[u8],
        key: &Bytes,
        path: &ColumnPath,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<GetResult, Error> {
        let found = self.multiget(keyspace, std::slice::from_ref(key), path, consistency, behaviour).await?;
        found.into_iter().next().and_then(|(_, found)| found).ok_or(Error::NotFound)
    }

    /// The same path in many rows: every key once, with what was found there.
    pub async fn multiget(
        &self,
        keyspace: &[u8],
        keys: &[Bytes],
        path: &ColumnPath,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<Vec<(Bytes, Option<GetResult>)>, Error> {
        let catalog = self.catalog();
        let asker = ReadContext { keyspace, catalog: &catalog, behaviour, consistency };
        let checks = self.validation(&catalog, behaviour);
        let cf = checks.column_path(keyspace, path)?;
        let command = self.path_command(cf, path, behaviour);
        let rows = self.read_rows(asker, keys, command).await?;
        let finder = |(key, columns)| (key, first_found(columns, behaviour));
        Ok(rows.into_iter().map(finder).collect())
    }

    /// The command that reads one path.
    fn path_command(&self, cf: &Arc<CfDef>, path: &ColumnPath, behaviour: &'static Behaviour) -> ReadCommand {
        let (super_column, name) = match (&path.super_column, &path.column) {
            (super_column, Some(column)) => (super_column.clone(), column.clone()),
            (Some(super_column), None) => (None, super_column.clone()),
            (None, None) => (None, Bytes::new()),
        };
        let mut command = self.command(cf, super_column, Predicate::Names(vec![name]), behaviour);
        command.with_tombstones = behaviour.reads.get_sees_super_tombstones;
        command
    }

    /// The command that reads a slice.
    fn slice_command(
        &self,
        asker: ReadContext<'_>,
        parent: &ColumnParent,
        predicate: &SlicePredicate,
    ) -> Result<ReadCommand, Error> {
        let checks = self.validation(asker.catalog, asker.behaviour);
        let cf = checks.column_parent(asker.keyspace, parent)?;
        let predicate = checks.predicate(cf, parent.super_column.as_ref(), predicate)?;
        Ok(self.command(cf, parent.super_column.clone(), predicate, asker.behaviour))
    }

    pub(in crate::db) fn command(
        &self,
        cf: &Arc<CfDef>,
        super_column: Option<Bytes>,
        predicate: Predicate,
        behaviour: &'static Behaviour,
    ) -> ReadCommand {
        ReadCommand {
            gc_before: self.gc_before(cf.gc_grace_s),
            now_s: self.parts.clock.now_s(),
            cf: cf.clone(),
            super_column,
            predicate,
            behaviour,
            with_tombstones: false,
        }
    }

    /// A slice of each of many rows: every key once, with its columns.
    pub async fn multiget_slice(
        &self,
        keyspace: &[u8],
        keys: &[Bytes],
        parent: &ColumnParent,
        predicate: &SlicePredicate,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<Vec<(Bytes, RowColumns)>, Error> {
        let catalog = self.catalog();
        let asker = ReadContext { keyspace, catalog: &catalog, behaviour, consistency };
        let command = self.slice_command(asker, parent, predicate)?;
        self.read_rows(asker, keys, command).await
    }

    /// A slice of one row. An absent row has no columns.
    pub async fn get_slice(
        &self,
        keyspace: &[u8],
        key: &Bytes,
        parent: &ColumnParent,
        predicate: &SlicePredicate,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<RowColumns, Error> {
        let keys = std::slice::from_ref(key);
        let rows = self.multiget_slice(keyspace, keys, parent, predicate, consistency, behaviour).await?;
        Ok(rows.into_iter().next().map_or(RowColumns::Cells(Vec::new()), |(_, columns)| columns))
    }

    /// How many columns a row has (to 0.6); super columns, or columns of one super column.
    pub async fn get_count(
        &self,
        keyspace: &[u8],
        key: &Bytes,
        parent: &ColumnParent,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<usize, Error> {
        let catalog = self.catalog();
        let asker = ReadContext { keyspace, catalog: &catalog, behaviour, consistency };
        let checks = self.validation(&catalog, behaviour);
        let everything = Predicate::Range(SliceRange::all());
        let count_of = async |cf: &Arc<CfDef>, super_column: Option<Bytes>| -> Result<usize, Error> {
            let mut command = self.command(cf, super_column, everything.clone(), behaviour);
            command.with_tombstones = behaviour.reads.count_includes_tombstones;
            self.count_row(asker, key, command).await
        };
        if behaviour.reads.count_checks_parent {
            let cf = checks.column_parent(keyspace, parent)?;
            return count_of(cf, parent.super_column.clone()).await;
        }
        let cf = checks.counted_parent(keyspace, parent)?;
        match &parent.super_column {
            // 0.4 takes an empty name, unless it has to send it to other replicas.
            Some(name) if name.is_empty() && consistency != ConsistencyLevel::One => {
                checks.super_name(cf, name).map(|()| 0)
            }
            Some(name) if !name.is_empty() && checks.super_name(cf, name).is_err() => {
                match compared(checks.comparator(cf, false), name, behaviour.release) {
                    Compared::As(name) => count_of(cf, Some(name)).await,
                    Compared::Unlike => count_of(cf, None).await.map(|_| 0),
                    Compared::Fails => match count_of(cf, None).await? {
                        0 => Ok(0),
                        _ => checks.super_name(cf, name).map(|()| 0),
                    },
                }
            }
            super_column => count_of(cf, super_column.clone()).await,
        }
    }

    /// How many columns a slice of a row has.
    pub(in crate::db) async fn slice_length(
        &self,
        keyspace: &[u8],
        key: &Bytes,
        parent: &ColumnParent,
        predicate: &SlicePredicate,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<usize, Error> {
        let catalog = self.catalog();
        let asker = ReadContext { keyspace, catalog: &catalog, behaviour, consistency };
        let command = self.slice_command(asker, parent, predicate)?;
        self.count_row(asker, key, command).await
    }

    async fn count_row(
        &self,
        asker: ReadContext<'_>,
        key: &Bytes,
        command: ReadCommand,
    ) -> Result<usize, Error> {
        self.check_rows(asker, std::slice::from_ref(key), &command.cf)?;
        self.count_columns(key, command, asker.consistency).await
    }

    /// How many columns a slice has in each of many rows: every key once.
    pub async fn multiget_count(
        &self,
        keyspace: &[u8],
        keys: &[Bytes],
        parent: &ColumnParent,
        predicate: &SlicePredicate,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<Vec<(Bytes, usize)>, Error> {
        let catalog = self.catalog();
        let asker = ReadContext { keyspace, catalog: &catalog, behaviour, consistency };
        let command = self.slice_command(asker, parent, predicate)?;
        let keys = self.unique_keys(asker, keys, &command)?;
        self.count_each(keys, &command, consistency).await
    }

    /// Reads the same of many rows, each key once.
    async fn read_rows(
        &self,
        asker: ReadContext<'_>,
        keys: &[Bytes],
        command: ReadCommand,
    ) -> Result<Vec<(Bytes, RowColumns)>, Error> {
        if let [key] = keys {
            self.check_rows(asker, keys, &command.cf)?;
            let columns = self.store().read(key.clone(), command, asker.consistency).await?;
            return Ok(vec![(key.clone(), columns)]);
        }
        let keys = self.unique_keys(asker, keys, &command)?;
        self.read_each(keys, &command, asker.consistency).await
    }

    /// The keys of the rows that a command may read, each once.
    fn unique_keys(
        &self,
        asker: ReadContext<'_>,
        keys: &[Bytes],
        command: &ReadCommand,
    ) -> Result<Vec<Bytes>, Error> {
        self.check_rows(asker, keys, &command.cf)?;
        if keys.is_empty() && asker.behaviour.reads.reads_need_a_key {
            // They look at the first key to know the column family, and fail inside.
            return Err(Error::invalid("a read of many rows needs one key at least"));
        }
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        if keys.len() > 1 && asker.consistency.is_serial() {
            return Err(Error::invalid(
                "SERIAL/LOCAL_SERIAL consistency may only be requested for one row at a time",
            ));
        }
        let mut unique: Vec<&Bytes> = keys.iter().collect();
        unique.sort();
        unique.dedup();
        Ok(unique.into_iter().cloned().collect())
    }

    /// Whether rows can be read at this level.
    fn check_rows(&self, asker: ReadContext<'_>, keys: &[Bytes], cf: &CfDef) -> Result<(), Error> {
        let checks = self.validation(asker.catalog, asker.behaviour);
        let is_level_first = asker.behaviour.reads.level_is_checked_before_keys;
        if is_level_first {
            checks.read_consistency(asker.keyspace, asker.consistency)?;
        }
        for key in keys {
            checks.key(key, Some(cf))?;
        }
        if !is_level_first {
            checks.read_consistency(asker.keyspace, asker.consistency)?;
        }
        if keys.is_empty() {
            return Ok(());
        }
        self.check_replicas(asker.catalog, asker.keyspace, asker.consistency, false, asker.behaviour)
    }
}

/// What get answers of the columns that were read.
fn first_found(columns: RowColumns, behaviour: &Behaviour) -> Option<GetResult> {
    match columns {
        RowColumns::Cells(cells) => cells.into_iter().find(Cell::is_live).map(GetResult::Column),
        RowColumns::Supers(supers) => {
            let mut found = supers.into_iter().next()?;
            if behaviour.reads.get_sees_super_tombstones && found.deletion != DeletionTime::LIVE {
                return None;
            }
            found.cells.retain(Cell::is_live);
            (behaviour.reads.get_sees_super_tombstones || !found.cells.is_empty())
                .then_some(GetResult::Super(found))
        }
    }
}
