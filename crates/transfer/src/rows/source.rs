//! Sources of rows.

use std::future::Future;
use std::sync::Arc;

use bytes::Bytes;

use crate::TransferError;
use base::schema::CfDef;
use store::RowPiece;

/// Approximate size of the rows of a batch, in bytes.
pub(crate) const BATCH_BYTES: usize = 128 * 1024;

/// Rows that are moved together. There may be none.
#[derive(Debug)]
pub(crate) struct RowBatch {
    /// The column family, as the target defines it.
    pub cf: Arc<CfDef>,
    pub rows: Vec<RowPiece>,
    /// From where a later run continues if everything up to here was moved, in the form of the source. `None` if that is
    /// not possible, or if nothing follows.
    pub place: Option<Bytes>,
}

/// Returns the rows of a column family in the order of the ring: a store, a server, or a thread that reads files.
pub(crate) trait RowSource: Send {
    type Error: From<TransferError> + Send;

    /// Returns the next rows; `None` at the end.
    fn next(&mut self) -> impl Future<Output = Result<Option<RowBatch>, Self::Error>> + Send;
}
