//! What is alive in a store, page by page.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;

use crate::model::{Cell, Predicate, Row, RowColumns};
use crate::schema::CfDef;

/// An answer of a side, later; an error is what the side says.
pub type PageFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// Reads what is alive.
pub trait Pages: Send + Sync {
    /// Rows in ring order from a key's place on, that row included; empty: from the first. Of each the first columns.
    fn range(&self, cf: &Arc<CfDef>, start: Bytes, rows: usize, columns: usize) -> PageFuture<'_, Vec<Row>>;

    /// The columns of a row from a name on, that one included.
    fn row(&self, cf: &Arc<CfDef>, key: Bytes, start: Bytes, columns: usize) -> PageFuture<'_, RowColumns>;

    /// Cells of a row, or of a super column.
    fn cells(
        &self,
        cf: &Arc<CfDef>,
        key: Bytes,
        super_column: Option<Bytes>,
        predicate: Predicate,
    ) -> PageFuture<'_, Vec<Cell>>;

    /// Whether a page of columns may have fewer than were asked for although more follow: 0.6 counts super columns in which
    /// nothing is alive.
    fn may_stop_early(&self, cf: &CfDef) -> bool;

    /// Whether the second at which a cell expires is known, and not only how long it was to live.
    fn tells_expiry(&self) -> bool;

    /// Whether many columns of a row are better asked for by their first and last than one by one.
    fn prefers_slices(&self) -> bool;
}
