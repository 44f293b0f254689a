//! Writes pieces of rows to the target, several at a time, while a thread reads them.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};

use super::ImportError;
use crate::copy::{CopyError, Writer};
use crate::schema::CfDef;
use crate::storage::RowPiece;

/// Approximate size of a piece in bytes.
pub const PIECE_BYTES: usize = 128 * 1024;

/// Pieces that are written at the same time, and pieces that wait.
const PARALLEL: usize = 16;

/// Rows of a column family, some of them in part.
pub struct Piece {
    pub cf: Arc<CfDef>,
    pub rows: Vec<RowPiece>,
}

/// Runs `read` on a thread for blocking work, and writes the pieces that it sends. Returns the result of `read`, once all
/// pieces are acknowledged. Without a writer nothing can be sent.
///
/// # Errors
///
/// If the target fails. Then sending fails, too.
pub async fn transfer<T: Send + 'static>(
    writer: Option<&Arc<Writer>>,
    read: impl FnOnce(mpsc::Sender<Piece>) -> T + Send + 'static,
) -> Result<T, ImportError> {
    let (sender, receiver) = mpsc::channel(PARALLEL);
    let reading = tokio::task::spawn_blocking(move || read(sender));
    let written = match writer {
        Some(writer) => write_all(writer, receiver).await,
        None => Ok(()),
    };
    let read = reading.await.map_err(|error| ImportError::Thread(error.to_string()))?;
    written.map(|()| read)
}

/// Writes pieces until the channel is closed. Returns when all are acknowledged.
async fn write_all(writer: &Arc<Writer>, mut pieces: mpsc::Receiver<Piece>) -> Result<(), ImportError> {
    let mut writes = JoinSet::new();
    while let Some(piece) = pieces.recv().await {
        if writes.len() >= PARALLEL {
            written(writes.join_next().await)?;
        }
        let writer = writer.clone();
        writes.spawn(async move { writer.write(&piece.cf, piece.rows).await });
    }
    while let Some(outcome) = writes.join_next().await {
        written(Some(outcome))?;
    }
    Ok(())
}

fn written(outcome: Option<Result<Result<(), CopyError>, JoinError>>) -> Result<(), ImportError> {
    match outcome {
        None => Ok(()),
        Some(Ok(outcome)) => Ok(outcome?),
        Some(Err(error)) => Err(ImportError::Thread(error.to_string())),
    }
}
