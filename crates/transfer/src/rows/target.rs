//! Targets of rows.

use std::future::Future;

use super::RowBatch;
use crate::TransferError;

/// Takes rows: writes them, or compares them with its own.
pub(crate) trait RowTarget: Send + Sync + 'static {
    /// The result of a batch.
    type Outcome: Send + 'static;

    /// Returns the name of the target, for errors.
    fn name(&self) -> &str;

    /// Takes a batch. Several batches may be on their way.
    fn take(&self, batch: RowBatch) -> impl Future<Output = Result<Self::Outcome, TransferError>> + Send;
}

/// Drops all rows, of a source that is only read.
pub(crate) struct NoTarget;

impl RowTarget for NoTarget {
    type Outcome = ();

    fn name(&self) -> &str {
        "no target"
    }

    async fn take(&self, _batch: RowBatch) -> Result<(), TransferError> {
        Ok(())
    }
}
