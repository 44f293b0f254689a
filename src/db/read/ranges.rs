//! Reads of many rows: range scans, and scans that page through columns.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;

use crate::compat::Behaviour;
use crate::compat::features::ConsistencyLevel;
use crate::db::args::{ColumnParent, KeyRange, SlicePredicate};
use crate::db::{Database, Error};
use crate::marshal::{self, AbstractType, MarshalError};
use crate::model::{Bounds, Predicate, RangeCommand, ReadCommand, Row, RowColumns, SliceRange};
use crate::schema::CfDef;
use crate::util::limits::NAME_BYTES_MAX;
use crate::util::meter;

/// Rows that a scan of unknown length asks the store for at a time.
const ROWS_PER_PAGE: usize = 256;

/// Columns of a row that are looked through at a time; more than one, since each page begins with the last of the one
/// before.
const NAMES_PER_PAGE: usize = 1000;

impl Database {
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
        let predicate = checks.predicate(cf, parent.super_column.as_ref(), predicate)?;
        checks.key_range(cf, parent.super_column.as_ref(), range, &*self.parts.partitioner)?;
        if consistency == ConsistencyLevel::Zero || behaviour.reads.scan_checks_level {
            // 0.6 fails inside at ZERO and lets ANY pass.
            checks.read_consistency(keyspace, consistency)?;
        }
        self.check_replicas(&catalog, keyspace, consistency, false, behaviour)?;
        let bounds = self.bounds(range, behaviour)?;
        let read = self.command(cf, parent.super_column.clone(), predicate, behaviour);
        let max_rows = usize::try_from(range.count).unwrap_or(0);
        if !range.row_filter.is_empty() {
            return self.rows_that_meet(&range.row_filter, bounds, max_rows, read, consistency).await;
        }
        let command = RangeCommand { bounds, max_rows, read, skip_empty: false };
        Ok(self.store().scan(command, consistency).await?)
    }

    fn bounds(&self, range: &KeyRange, behaviour: &Behaviour) -> Result<Bounds, Error> {
        let partitioner = &self.parts.partitioner;
        let key = |key: &Option<Bytes>| key.clone().unwrap_or_default();
        let token = |text: &Bytes| {
            let text = String::from_utf8_lossy(text);
            partitioner.parse_token(&text).map_err(|error| Error::invalid(error.to_string()))
        };
        match (&range.start_token, &range.end_token) {
            (Some(start), Some(end)) => Ok(Bounds::Tokens { start: token(start)?, end: token(end)? }),
            (None, Some(end)) => {
                let end = token(end)?;
                let is_open = end == partitioner.minimum_token(behaviour.release);
                Ok(Bounds::KeyToToken { start: key(&range.start_key), end: (!is_open).then_some(end) })
            }
            _ => Ok(Bounds::Keys { start: key(&range.start_key), end: key(&range.end_key) }),
        }
    }

    /// Columns of row after row, at most so many of all rows together: in the first row from a column on
    /// (1.1 and later). Rows without columns come as they do in a range scan.
    pub async fn get_paged_slice(
        &self,
        keyspace: &[u8],
        family: &Bytes,
        range: &KeyRange,
        mut start_column: Bytes,
        consistency: ConsistencyLevel,
        behaviour: &'static Behaviour,
    ) -> Result<Vec<Row>, Error> {
        let catalog = self.catalog();
        let checks = self.validation(&catalog, behaviour);
        let cf = checks.family(keyspace, family)?;
        checks.key_range(cf, None, range, &*self.parts.partitioner)?;
        checks.read_consistency(keyspace, consistency)?;
        if !range.row_filter.is_empty() {
            return Err(Error::invalid("Cross-row paging is not supported along with index clauses"));
        }
        if behaviour.reads.page_start_is_read_as_name {
            start_column = checks.read_bound_unchecked(cf, &start_column)?;
        }
        self.check_replicas(&catalog, keyspace, consistency, false, behaviour)?;
        let count = usize::try_from(range.count).unwrap_or(0);
        let mut pages = Pages {
            database: self,
            cf: cf.clone(),
            behaviour,
            consistency,
            columns_left: count,
            found: Vec::new(),
        };
        for part in self.parts_of(self.bounds(range, behaviour)?, behaviour) {
            // What comes after the ring's end is read as if for itself, unless there is enough already.
            if pages.columns_left > 0 {
                pages.columns_left = count;
                let start = if pages.found.is_empty() { start_column.clone() } else { Bytes::new() };
                pages.read(part, start).await?;
            }
        }
        Ok(pages.found)
    }

    /// A range that goes round through the ring's end, in two.
    fn parts_of(&self, bounds: Bounds, behaviour: &Behaviour) -> Vec<Bounds> {
        let minimum = self.parts.partitioner.minimum_token(behaviour.release);
        match bounds {
            Bounds::Tokens { start, end } if end <= start && end != minimum => {
                vec![Bounds::Tokens { start, end: minimum.clone() }, Bounds::Tokens { start: minimum, end }]
            }
            whole => vec![whole],
        }
    }

    /// The keys of a range that have something live, in the order of the keys (0.4 and 0.5).
    pub async fn get_key_range(
        &self,
        keyspace: &[u8],
        family: &[u8],
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
            .map_err(|_| Error::unknown(format!("Column Family {family_name} is invalid.")))?;
        let max_rows = self.keys_wanted(count)?;
        self.live_keys(cf, Bounds::Keys { start, end: finish }, max_rows, behaviour).await
    }

    /// The keys of a range that have something live in any column family of a table, in the order of the keys (0.3).
    pub async fn get_table_keys(
        &self,
        table: &[u8],
        (start, finish): (Bytes, Bytes),
        count: i32,
        behaviour: &'static Behaviour,
    ) -> Result<Vec<Bytes>, Error> {
        let catalog = self.catalog();
        let max_rows = self.keys_wanted(count)?;
        self.validation(&catalog, behaviour).keyspace(table)?;
        let bounds = Bounds::Keys { start, end: finish };
        let mut keys = BTreeMap::new();
        let keyspace = catalog.keyspace(std::str::from_utf8(table).unwrap_or_default());
        for cf in keyspace.iter().flat_map(|keyspace| keyspace.column_families.values()) {
            for key in self.live_keys(cf, bounds.clone(), max_rows, behaviour).await? {
                let mut token = Vec::new();
                self.parts.partitioner.token(&key, &mut token);
                keys.insert((token, key.clone()), key);
            }
        }
        Ok(keys.into_values().take(max_rows).collect())
    }

    /// How many keys a call asks for, which needs a partitioner that keeps their order.
    fn keys_wanted(&self, count: i32) -> Result<usize, Error> {
        if !self.parts.partitioner.preserves_order() {
            return Err(Error::invalid(
                "range queries may only be performed against an order-preserving partitioner",
            ));
        }
        match usize::try_from(count) {
            Ok(max_rows) if max_rows > 0 => Ok(max_rows),
            _ => Err(Error::invalid("maxResults must be positive")),
        }
    }

    /// The first keys of a range with something live in one column family.
    async fn live_keys(
        &self,
        cf: &Arc<CfDef>,
        bounds: Bounds,
        max_rows: usize,
        behaviour: &'static Behaviour,
    ) -> Result<Vec<Bytes>, Error> {
        let first_live = Predicate::Range(SliceRange { count: 1, ..SliceRange::all() });
        let mut read = self.command(cf, None, first_live, behaviour);
        if behaviour.reads.key_range_misses_refilled_supers {
            // It looks for what is live as if no tombstone were kept.
            read.gc_before = i32::MAX;
        }
        let command = RangeCommand { bounds, max_rows, read, skip_empty: true };
        let rows = self.store().scan(command, ConsistencyLevel::One).await?;
        Ok(rows.into_iter().map(|row| row.key).collect())
    }
}

/// A walk over columns of many rows.
struct Pages<'a> {
    database: &'a Database,
    cf: Arc<CfDef>,
    behaviour: &'static Behaviour,
    consistency: ConsistencyLevel,
    columns_left: usize,
    found: Vec<Row>,
}

impl Pages<'_> {
    fn command(&self, start: Bytes, count: usize) -> ReadCommand {
        let range = SliceRange { start, count, ..SliceRange::all() };
        self.database.command(&self.cf, None, Predicate::Range(range), self.behaviour)
    }

    async fn read(&mut self, mut bounds: Bounds, start_column: Bytes) -> Result<(), Error> {
        let store = self.database.store();
        // The first row is read alone: only it begins in its middle. From 2.0 on it does so only if it is the
        // one that the range names.
        let mut start = start_column;
        if self.behaviour.reads.page_start_is_of_named_row && !self.begins_with_its_key(&bounds).await? {
            start = Bytes::new();
        }
        let mut columns = self.columns_left;
        if !self.is_name(&start) {
            match self.first_from(&bounds, &start).await? {
                Some(name) => start = name,
                // The row is told all the same.
                None => (start, columns) = (Bytes::new(), 0),
            }
        }
        let mut max_rows = 1;
        while self.columns_left > 0 {
            let read = self.command(std::mem::take(&mut start), columns);
            let command = RangeCommand { bounds: bounds.clone(), max_rows, read, skip_empty: false };
            let page = store.scan(command, self.consistency).await?;
            let Some(last) = page.last().map(|row| row.key.clone()) else { break };
            let is_last_page = page.len() < max_rows;
            let found: usize = page.iter().map(|row| row.columns.len()).sum();
            let columns_per_row = found.div_ceil(page.len()).max(1);
            self.take(page);
            columns = self.columns_left;
            // As many as will do if they are like those before: what is too much has been read for nothing.
            max_rows = (self.columns_left / columns_per_row).clamp(1, ROWS_PER_PAGE);
            match self.database.after_key(&bounds, &last, self.behaviour) {
                Some(after) if !is_last_page => bounds = after,
                _ => break,
            }
        }
        Ok(())
    }

    /// Whether the first row of a range is the row of the key that the range begins with.
    async fn begins_with_its_key(&self, bounds: &Bounds) -> Result<bool, Error> {
        let (Bounds::Keys { start, .. } | Bounds::KeyToToken { start, .. }) = bounds else {
            return Ok(false);
        };
        let before = meter::mark();
        let first = self.first_row(bounds, self.command(Bytes::new(), self.columns_left)).await?;
        before.restore();
        Ok(first.is_some_and(|row| row.key == *start))
    }

    async fn first_row(&self, bounds: &Bounds, read: ReadCommand) -> Result<Option<Row>, Error> {
        let command = RangeCommand { bounds: bounds.clone(), max_rows: 1, read, skip_empty: false };
        Ok(self.database.store().scan(command, self.consistency).await?.into_iter().next())
    }

    fn comparator(&self) -> &dyn AbstractType {
        marshal::at(&*self.cf.comparator, self.behaviour.release)
    }

    fn is_name(&self, start: &[u8]) -> bool {
        start.len() <= NAME_BYTES_MAX && self.comparator().validate(start).is_ok()
    }

    /// The first column of the first row that does not come before a start that is no name. No release checks the start:
    /// it is compared with the names that are there. `None`: all of them come before it.
    async fn first_from(&self, bounds: &Bounds, start: &Bytes) -> Result<Option<Bytes>, Error> {
        let failed = |error: MarshalError| Error::invalid(error.0);
        let comparator = self.comparator();
        let mut from = Bytes::new();
        loop {
            let read = self.command(from, NAMES_PER_PAGE);
            let before = meter::mark();
            let Some(row) = self.first_row(bounds, read).await? else { return Ok(None) };
            before.restore();
            meter::check()?;
            let names: Vec<Bytes> = match row.columns {
                RowColumns::Cells(cells) => cells.into_iter().map(|cell| cell.name).collect(),
                RowColumns::Supers(supers) => supers.into_iter().map(|one| one.name).collect(),
            };
            for name in &names {
                if comparator.compare_unchecked(start, name).map_err(failed)?.is_le() {
                    return Ok(Some(name.clone()));
                }
            }
            match names.last() {
                Some(last) if names.len() == NAMES_PER_PAGE => from = last.clone(),
                _ => return Ok(None),
            }
        }
    }

    /// Keeps rows up to the number of columns that is left.
    fn take(&mut self, page: Vec<Row>) {
        for mut row in page {
            if self.columns_left == 0 {
                return;
            }
            row.columns.truncate(self.columns_left);
            self.columns_left -= row.columns.len();
            self.found.push(row);
        }
    }
}

impl Database {
    /// What is left of a range after a row of it; `None` when nothing is.
    pub(in crate::db) fn after_key(
        &self,
        bounds: &Bounds,
        key: &Bytes,
        behaviour: &Behaviour,
    ) -> Option<Bounds> {
        let mut token = Vec::new();
        self.parts.partitioner.token(key, &mut token);
        let minimum = self.parts.partitioner.minimum_token(behaviour.release);
        let end = match bounds {
            Bounds::Keys { end, .. } if end.is_empty() => minimum,
            Bounds::Keys { end, .. } => {
                let mut last = Vec::new();
                self.parts.partitioner.token(end, &mut last);
                last
            }
            Bounds::KeyToToken { end, .. } => end.clone().unwrap_or(minimum),
            Bounds::Tokens { end, .. } => end.clone(),
        };
        (token != end).then_some(Bounds::Tokens { start: token, end })
    }
}
