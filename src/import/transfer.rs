//! Writes pieces of rows to the target, several at a time.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::ImportError;
use crate::copy::Writer;
use crate::schema::CfDef;
use crate::storage::RowPiece;

/// Pieces that are written at the same time, and pieces that wait.
pub const PARALLEL: usize = 16;

/// Takes pieces from a channel until it is closed, and writes them. Returns when all are acknowledged.
pub async fn write_all(
    writer: &Arc<Writer>,
    cf: &Arc<CfDef>,
    mut pieces: mpsc::Receiver<Vec<RowPiece>>,
) -> Result<(), ImportError> {
    let mut writes = JoinSet::new();
    while let Some(rows) = pieces.recv().await {
        if writes.len() >= PARALLEL {
            joined(writes.join_next().await)?;
        }
        let (writer, cf) = (writer.clone(), cf.clone());
        writes.spawn(async move { writer.write(&cf, rows).await });
    }
    while let Some(written) = writes.join_next().await {
        joined(Some(written))?;
    }
    Ok(())
}

fn joined(
    written: Option<Result<Result<(), crate::copy::CopyError>, tokio::task::JoinError>>,
) -> Result<(), ImportError> {
    match written {
        None => Ok(()),
        Some(Ok(outcome)) => Ok(outcome?),
        Some(Err(error)) => Err(ImportError::Schema(format!("a write has failed: {error}"))),
    }
}
