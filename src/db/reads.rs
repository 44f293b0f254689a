//! Reads: get, slices, counts and range scans.

use std::sync::Arc;

use bytes::Bytes;

use super::request::{ColumnParent, ColumnPath, KeyRange, SlicePredicate};
use super::{Database, Error};
use crate::model::{
    Behaviour, Bounds, Cell, ConsistencyLevel, DeletionTime, Predicate, RangeCommand, ReadCommand, Row,
    RowColumns, SliceRange, SuperColumn,
};
use crate::schema::{Catalog, CfDef};

/// What get finds.
#[derive(Debug, Clone)]
pub enum Found {
    Column(Cell),
    Super(SuperColumn),
}

/// The caller's side of every read.
#[derive(Clone, Copy)]
struct Asker<'a> {
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
    ) -> Result<Found, Error> {
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
    ) -> Result<Vec<(Bytes, Option<Found>)>, Error> {
        let catalog = self.catalog();
        let asker = Asker { keyspace, catalog: &catalog, behaviour, consistency };
        let checks = self.validation(&catalog, behaviour);
        let cf = checks.column_path(keyspace, path)?;
        let command = self.path_command(&cf, path, behaviour);
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
        command.with_tombstones = behaviour.get_sees_super_tombstones;
        command
    }

    fn command(
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
        let asker = Asker { keyspace, catalog: &catalog, behaviour, consistency };
        let checks = self.validation(&catalog, behaviour);
        let cf = checks.column_parent(keyspace, parent)?;
        let predicate = checks.predicate(&cf, parent.super_column.as_ref(), predicate)?;
        let command = self.command(&cf, parent.super_column.clone(), predicate, behaviour);
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

    /// How many columns a row has; super columns, or columns of one super column.
    pub async fn get_count(
        &self,
        keyspace: &[u8],
        key: &Bytes,
        parent: &ColumnParent,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<usize, Error> {
        let catalog = self.catalog();
        let asker = Asker { keyspace, catalog: &catalog, behaviour, consistency };
        let checks = self.validation(&catalog, behaviour);
        let everything = Predicate::Range(SliceRange::all());
        let count_of = async |cf: &Arc<CfDef>, super_column: Option<Bytes>| -> Result<usize, Error> {
            let mut command = self.command(cf, super_column, everything.clone(), behaviour);
            command.with_tombstones = behaviour.count_includes_tombstones;
            let rows = self.read_rows(asker, std::slice::from_ref(key), command).await?;
            Ok(rows.first().map_or(0, |(_, columns)| columns.len()))
        };
        if behaviour.count_checks_parent {
            let cf = checks.column_parent(keyspace, parent)?;
            return count_of(&cf, parent.super_column.clone()).await;
        }
        let cf = checks.counted_parent(keyspace, parent)?;
        match &parent.super_column {
            // 0.4 takes an empty name, unless it has to send it to other replicas.
            Some(name) if name.is_empty() && consistency != ConsistencyLevel::One => {
                checks.super_name(&cf, name).map(|()| 0)
            }
            // It stumbles over a name that is none where there is another to compare it with.
            Some(name) if !name.is_empty() && checks.super_name(&cf, name).is_err() => {
                if count_of(&cf, None).await? == 0 { Ok(0) } else { checks.super_name(&cf, name).map(|()| 0) }
            }
            super_column => count_of(&cf, super_column.clone()).await,
        }
    }

    /// Reads the same of many rows, each key once.
    async fn read_rows(
        &self,
        asker: Asker<'_>,
        keys: &[Bytes],
        command: ReadCommand,
    ) -> Result<Vec<(Bytes, RowColumns)>, Error> {
        let checks = self.validation(asker.catalog, asker.behaviour);
        for key in keys {
            checks.key(key)?;
        }
        checks.read_consistency(asker.consistency)?;
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        self.check_replicas(asker.catalog, asker.keyspace, asker.consistency, false, asker.behaviour)?;
        if let [key] = keys {
            let columns = self.store().read(key.clone(), command, asker.consistency).await?;
            return Ok(vec![(key.clone(), columns)]);
        }
        let mut unique: Vec<&Bytes> = keys.iter().collect();
        unique.sort();
        unique.dedup();
        let mut rows = Vec::with_capacity(unique.len());
        for key in unique {
            let columns = self.store().read(key.clone(), command.clone(), asker.consistency).await?;
            rows.push((key.clone(), columns));
        }
        Ok(rows)
    }

    /// Rows of a range, in ring order, each with a slice. get_range_slice is the same with keys.
    pub async fn get_range_slices(
        &self,
        keyspace: &[u8],
        parent: &ColumnParent,
        predicate: &SlicePredicate,
        range: &KeyRange,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<Vec<Row>, Error> {
        let catalog = self.catalog();
        let checks = self.validation(&catalog, behaviour);
        let cf = checks.column_parent(keyspace, parent)?;
        let predicate = checks.predicate(&cf, parent.super_column.as_ref(), predicate)?;
        checks.key_range(range, &*self.parts.partitioner)?;
        if consistency == ConsistencyLevel::Zero {
            // 0.6 fails inside here; reads elsewhere say this.
            checks.read_consistency(consistency)?;
        }
        self.check_replicas(&catalog, keyspace, consistency, false, behaviour)?;
        let command = RangeCommand {
            bounds: self.bounds(range)?,
            max_rows: usize::try_from(range.count).unwrap_or(0),
            read: self.command(&cf, parent.super_column.clone(), predicate, behaviour),
            skip_empty: false,
        };
        Ok(self.store().scan(command, consistency).await?)
    }

    fn bounds(&self, range: &KeyRange) -> Result<Bounds, Error> {
        let key = |key: &Option<Bytes>| key.clone().unwrap_or_default();
        let (Some(start), Some(end)) = (&range.start_token, &range.end_token) else {
            return Ok(Bounds::Keys { start: key(&range.start_key), end: key(&range.end_key) });
        };
        let token = |text: &Bytes| {
            let text = String::from_utf8_lossy(text);
            self.parts.partitioner.parse_token(&text).map_err(|error| Error::invalid(error.to_string()))
        };
        Ok(Bounds::Tokens { start: token(start)?, end: token(end)? })
    }

    /// The keys of a range that have something live, in the order of the keys (0.4 and 0.5).
    pub async fn get_key_range(
        &self,
        keyspace: &[u8],
        family: &Bytes,
        (start, finish): (Bytes, Bytes),
        count: i32,
        behaviour: &'static Behaviour,
    ) -> Result<Vec<Bytes>, Error> {
        let catalog = self.catalog();
        let checks = self.validation(&catalog, behaviour);
        checks.keyspace(keyspace)?;
        let family_name = String::from_utf8_lossy(family);
        let cf = checks
            .column_family(keyspace, family)
            .map_err(|_| Error::invalid(format!("Column Family {family_name} is invalid.")))?;
        if !self.parts.partitioner.preserves_order() {
            return Err(Error::invalid(
                "range queries may only be performed against an order-preserving partitioner",
            ));
        }
        let max_rows = usize::try_from(count).unwrap_or(0);
        if max_rows == 0 {
            return Err(Error::invalid("maxResults must be positive"));
        }
        let first_live = Predicate::Range(SliceRange { count: 1, ..SliceRange::all() });
        let command = RangeCommand {
            bounds: Bounds::Keys { start, end: finish },
            max_rows,
            read: self.command(&cf, None, first_live, behaviour),
            skip_empty: true,
        };
        let rows = self.store().scan(command, ConsistencyLevel::One).await?;
        Ok(rows.into_iter().map(|row| row.key).collect())
    }
}

/// What get answers of the columns that were read.
fn first_found(columns: RowColumns, behaviour: &Behaviour) -> Option<Found> {
    match columns {
        RowColumns::Cells(cells) => cells.into_iter().find(Cell::is_live).map(Found::Column),
        RowColumns::Supers(supers) => {
            let mut found = supers.into_iter().next()?;
            if behaviour.get_sees_super_tombstones && found.deletion != DeletionTime::LIVE {
                return None;
            }
            found.cells.retain(Cell::is_live);
            (behaviour.get_sees_super_tombstones || !found.cells.is_empty()).then_some(Found::Super(found))
        }
    }
}
