//! Reads within rows: get, slices and counts.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;

use super::{ManyRows, ReversedSlice};
use crate::args::{ColumnParent, ColumnPath, SlicePredicate};
use crate::error::invalid;
use crate::write::{Compared, compared};
use crate::{Error, Request, Result};
use base::compat::features::ConsistencyLevel;
use base::compat::{Behaviour, texts};
use base::model::{Cell, DeletionTime, Predicate, ReadCommand, RowColumns, SliceRange, SuperColumn};
use base::schema::CfDef;

/// The result of get.
#[derive(Debug, Clone)]
pub enum GetResult {
    /// A column.
    Column(Cell),
    /// A super column with its columns.
    Super(SuperColumn),
}

/// Reads of rows by their keys.
#[derive(Clone, Copy)]
pub struct Reads<'a> {
    pub(super) request: &'a Request<'a>,
}

impl Request<'_> {
    /// Returns the reads of rows by their keys.
    pub fn reads(&self) -> Reads<'_> {
        Reads { request: self }
    }
}

impl<'a> Reads<'a> {
    /// Returns the column or super column at a path.
    ///
    /// # Errors
    /// `NotFound` if there is nothing live at the path.
    pub async fn get(&self, key: &Bytes, path: &ColumnPath) -> Result<GetResult> {
        let found = self.multiget(std::slice::from_ref(key), path).await?;
        found.into_iter().next().and_then(|(_, found)| found).ok_or(Error::NotFound)
    }

    /// Reads the same path in many rows; returns each key once, with the result for its row.
    pub async fn multiget(
        &self,
        keys: impl Into<Cow<'_, [Bytes]>>,
        path: &ColumnPath,
    ) -> Result<Vec<(Bytes, Option<GetResult>)>> {
        let cf = self.request.validation().column_path(self.request.keyspace, path)?;
        let command = self.path_command(cf, path);
        let rows = self.read_rows(keys.into(), command).await?;
        let behaviour = self.request.behaviour;
        Ok(rows.into_iter().map(|(key, columns)| (key, first_found(columns, behaviour))).collect())
    }

    /// Returns the command that reads one path.
    fn path_command(&self, cf: &Arc<CfDef>, path: &ColumnPath) -> ReadCommand {
        let (super_column, name) = match (&path.super_column, &path.column) {
            (super_column, Some(column)) => (super_column.clone(), column.clone()),
            (Some(super_column), None) => (None, super_column.clone()),
            (None, None) => (None, Bytes::new()),
        };
        let mut command = self.request.command(cf, super_column, Predicate::Names(vec![name]));
        command.with_tombstones = self.request.behaviour.reads.get_sees_super_tombstones;
        command
    }

    /// Returns the command that reads a slice.
    fn slice_command(&self, parent: &ColumnParent, predicate: &SlicePredicate) -> Result<ReadCommand> {
        let checks = self.request.validation();
        let cf = checks.column_parent(self.request.keyspace, parent)?;
        let predicate = checks.predicate(cf, parent.super_column.as_ref(), predicate)?;
        Ok(self.request.command(cf, parent.super_column.clone(), predicate))
    }

    /// Returns a slice of each of many rows: each key once, with its columns.
    pub async fn multiget_slice(
        &self,
        keys: impl Into<Cow<'_, [Bytes]>>,
        parent: &ColumnParent,
        predicate: &SlicePredicate,
    ) -> Result<Vec<(Bytes, RowColumns)>> {
        self.read_rows(keys.into(), self.slice_command(parent, predicate)?).await
    }

    /// Returns the same rows as [`Self::multiget_slice`], to be read some at a time.
    ///
    /// # Errors
    /// All errors of the arguments.
    pub fn multiget_slice_in_parts(
        &self,
        keys: Vec<Bytes>,
        parent: &ColumnParent,
        predicate: &SlicePredicate,
    ) -> Result<ManyRows<'a>> {
        let mut command = self.slice_command(parent, predicate)?;
        let merge = ReversedSlice::of(&mut command);
        let keys = self.unique_keys(keys.into(), &command)?;
        Ok(self.rows(keys, command).merged_by(merge))
    }

    /// Returns a slice of one row. A row that does not exist has no columns.
    pub async fn get_slice(
        &self,
        key: &Bytes,
        parent: &ColumnParent,
        predicate: &SlicePredicate,
    ) -> Result<RowColumns> {
        let rows = self.multiget_slice(std::slice::from_ref(key), parent, predicate).await?;
        Ok(rows.into_iter().next().map_or(RowColumns::Cells(Vec::new()), |(_, columns)| columns))
    }

    /// Returns how many columns, or super columns, a row has, or how many columns one super column has (to 0.6).
    pub async fn get_count(&self, key: &Bytes, parent: &ColumnParent) -> Result<usize> {
        let Request { keyspace, consistency, behaviour, .. } = *self.request;
        let checks = self.request.validation();
        let everything = Predicate::Range(SliceRange::all());
        let count_of = async |cf: &Arc<CfDef>, super_column: Option<Bytes>| -> Result<usize> {
            let mut command = self.request.command(cf, super_column, everything.clone());
            command.with_tombstones = behaviour.reads.count_includes_tombstones;
            self.count_row(key, command).await
        };
        if behaviour.reads.count_checks_parent {
            let cf = checks.column_parent(keyspace, parent)?;
            return count_of(cf, parent.super_column.clone()).await;
        }
        let cf = checks.counted_parent(keyspace, parent)?;
        match &parent.super_column {
            // 0.4 accepts an empty name unless it has to send it to other replicas.
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

    /// Returns how many columns a slice of a row has.
    pub(super) async fn slice_length(
        &self,
        key: &Bytes,
        parent: &ColumnParent,
        predicate: &SlicePredicate,
    ) -> Result<usize> {
        let command = self.slice_command(parent, predicate)?;
        self.count_row(key, command).await
    }

    async fn count_row(&self, key: &Bytes, command: ReadCommand) -> Result<usize> {
        self.check_rows(std::slice::from_ref(key), &command.cf)?;
        self.count_columns(key, command, self.request.consistency).await
    }

    /// Returns how many columns a slice has in each of many rows, each key once.
    pub async fn multiget_count(
        &self,
        keys: impl Into<Cow<'_, [Bytes]>>,
        parent: &ColumnParent,
        predicate: &SlicePredicate,
    ) -> Result<Vec<(Bytes, usize)>> {
        let command = self.slice_command(parent, predicate)?;
        let keys = self.unique_keys(keys.into(), &command)?;
        self.count_each(keys, command).await
    }

    /// Reads the same columns of many rows, each key once.
    async fn read_rows(
        &self,
        keys: Cow<'_, [Bytes]>,
        mut command: ReadCommand,
    ) -> Result<Vec<(Bytes, RowColumns)>> {
        let merge = ReversedSlice::of(&mut command);
        let rows = if let [key] = &keys[..] {
            self.check_rows(&keys, &command.cf)?;
            let columns = self.request.store().read(key.clone(), command, self.request.consistency).await?;
            vec![(key.clone(), columns)]
        } else {
            let keys = self.unique_keys(keys, &command)?;
            self.rows(keys, command).all().await?
        };
        let Some(merge) = merge else { return Ok(rows) };
        Ok(rows.into_iter().map(|(key, columns)| (key, merge.merged(columns))).collect())
    }

    /// Checks the keys of a read and returns each of them once.
    fn unique_keys(&self, keys: Cow<'_, [Bytes]>, command: &ReadCommand) -> Result<Vec<Bytes>> {
        self.check_rows(&keys, &command.cf)?;
        if keys.is_empty() && self.request.behaviour.reads.reads_need_a_key {
            // The old servers take the column family from the first key, and fail with an internal error if there is
            // none.
            return invalid("a read of many rows needs one key at least");
        }
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        if keys.len() > 1 && self.request.consistency.is_serial() {
            return invalid(texts::serial_read_of_rows(self.request.behaviour));
        }
        let mut unique = keys.into_owned();
        unique.sort();
        unique.dedup();
        Ok(unique)
    }

    /// Checks the keys, and that rows can be read at the request's consistency level.
    fn check_rows(&self, keys: &[Bytes], cf: &CfDef) -> Result<()> {
        let checks = self.request.validation();
        let is_level_first = self.request.behaviour.reads.level_is_checked_before_keys;
        if is_level_first {
            self.check_consistency()?;
        }
        for key in keys {
            checks.key(key, Some(cf))?;
        }
        if !is_level_first {
            self.check_consistency()?;
        }
        if keys.is_empty() {
            return Ok(());
        }
        self.request.check_replicas_to_read()
    }

    /// Checks whether the request's consistency level is valid for reads.
    pub fn check_consistency(&self) -> Result<()> {
        self.request.validation().read_consistency(self.request.keyspace, self.request.consistency)
    }
}

/// Returns the result of get from the columns that were read.
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
