//! get_indexed_slices: rows that meet conditions.

use bytes::Bytes;

use super::filter::Filter;
use crate::args::{ColumnParent, IndexClause, IndexExpression, SlicePredicate};
use crate::error::invalid;
use crate::read::ReversedSlice;
use crate::{DbFuture, Request, Result};
use base::model::{Bounds, ReadCommand, Row, RowColumns};
use store::StoreError;

/// Reads through secondary indexes.
#[derive(Clone, Copy)]
pub struct IndexReads<'a> {
    pub(super) request: &'a Request<'a>,
}

impl Request<'_> {
    /// Returns the reads by secondary indexes.
    pub fn index_reads(&self) -> IndexReads<'_> {
        IndexReads { request: self }
    }
}

impl<'a> IndexReads<'a> {
    /// Returns rows that meet all conditions, in ring order from a key on (0.7 and later).
    pub fn get_indexed_slices<'l>(
        &'l self,
        parent: &'l ColumnParent,
        clause: &'l IndexClause,
        predicate: &'l SlicePredicate,
    ) -> DbFuture<'l, Vec<Row>> {
        Box::pin(async move {
            let checks = self.request.validation();
            let cf = checks.written_family(self.request.keyspace, &parent.column_family, false)?;
            checks.parent_in(cf, parent)?;
            let predicate = checks.predicate(cf, parent.super_column.as_ref(), predicate)?;
            checks.index_clause(cf, clause)?;
            self.request.reads().check_consistency()?;
            self.request.check_replicas_to_read()?;
            let bounds = Bounds::Keys { start: clause.start_key.clone(), end: Bytes::new() };
            let max_rows = match usize::try_from(clause.count) {
                Ok(count) => count,
                Err(_) if self.request.behaviour.reads.index_count_may_be_negative => 0,
                // Cassandra fails with an internal error, whatever it finds.
                Err(_) => return invalid("the count of an index clause must not be negative"),
            };
            let read = self.request.command(cf, parent.super_column.clone(), predicate);
            self.rows_that_meet(&clause.expressions, bounds, max_rows, read).await
        })
    }

    /// Returns the rows of a range that meet all conditions, through an index if there is one.
    pub(crate) async fn rows_that_meet(
        &self,
        expressions: &[IndexExpression],
        bounds: Bounds,
        max_rows: usize,
        mut read: ReadCommand,
    ) -> Result<Vec<Row>> {
        let merge = ReversedSlice::of(&mut read);
        let filter = Filter { request: self.request, expressions, max_rows, read, merge, found: Vec::new() };
        filter.rows(bounds).await
    }

    /// Reads a row of an index, or a row that an index lists.
    pub(super) async fn read(&self, key: Bytes, command: ReadCommand) -> Result<RowColumns, StoreError> {
        self.request.store().read(key, command, self.request.consistency).await
    }
}
