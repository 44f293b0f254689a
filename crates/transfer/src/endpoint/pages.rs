//! Reads the live cells of a store, page by page.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;

use base::model::{Cell, Predicate, Row, RowColumns};
use base::schema::CfDef;

/// The future result of an endpoint; an error is the endpoint's message.
pub(crate) type PageFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// Reads live cells.
pub trait Pages: Send + Sync {
    /// Returns rows in ring order, from the position of `start` on, inclusive; from the first row if it is empty. Each
    /// row has at most its first `columns` columns.
    fn range(&self, cf: &Arc<CfDef>, start: Bytes, rows: usize, columns: usize) -> PageFuture<'_, Vec<Row>>;

    /// Returns the columns of a row from the name `start` on, inclusive.
    fn row(&self, cf: &Arc<CfDef>, key: Bytes, start: Bytes, columns: usize) -> PageFuture<'_, RowColumns>;

    /// Returns cells of a row or of a super column.
    fn cells(
        &self,
        cf: &Arc<CfDef>,
        key: Bytes,
        super_column: Option<Bytes>,
        predicate: Predicate,
    ) -> PageFuture<'_, Vec<Cell>>;

    /// Returns whether a page of columns may be short although more columns follow: 0.6 counts super columns without
    /// live columns, and 1.2 returns columns of counter tables that are not counters.
    fn may_stop_early(&self, cf: &CfDef) -> bool;

    /// Returns whether the exact time of expiry of cells is known, or only their time to live.
    fn has_expiry_time(&self) -> bool;

    /// Returns whether a slice from the first to the last column is cheaper than many columns by name.
    fn prefers_slices(&self) -> bool;
}
