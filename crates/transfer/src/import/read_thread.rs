//! Writes pieces of rows to the target, several at a time, while a thread reads them.

use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::{JoinError, JoinSet};

use super::ImportError;
use crate::TransferError;
use crate::endpoint::RowWriter;
use base::schema::CfDef;
use store::RowPiece;

/// Approximate size of a piece in bytes.
pub const BATCH_BYTES: usize = 128 * 1024;

/// RowBatcher that are written at the same time, and pieces that wait.
const PARALLEL: usize = 16;
/// RowBatcher that wait while pieces are written in order.
const WAITING: usize = 8;

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
    writer: Option<&Arc<RowWriter>>,
    read: impl FnOnce(mpsc::Sender<Piece>) -> T + Send + 'static,
) -> Result<T, ImportError> {
    let (sender, receiver) = mpsc::channel(PARALLEL);
    let reading = tokio::task::spawn_blocking(move || read(sender));
    let written = match writer {
        Some(writer) => write_all(writer, receiver).await,
        None => Ok(()),
    };
    let read = joined(reading.await)?;
    written.map(|()| read)
}

/// The same, but each piece is written when the one before it is acknowledged. Tables that are flushed then have no keys
/// in common.
pub async fn transfer_in_order<T: Send + 'static>(
    writer: &Arc<RowWriter>,
    read: impl FnOnce(mpsc::Sender<Piece>) -> T + Send + 'static,
) -> Result<T, ImportError> {
    let (sender, mut pieces) = mpsc::channel::<Piece>(WAITING);
    let reading = tokio::task::spawn_blocking(move || read(sender));
    let mut written = Ok(());
    while let Some(piece) = pieces.recv().await {
        written = writer.write(&piece.cf, piece.rows).await;
        if written.is_err() {
            break;
        }
    }
    drop(pieces);
    let read = joined(reading.await)?;
    Ok(written.map(|()| read)?)
}

fn joined<T>(read: Result<T, JoinError>) -> Result<T, ImportError> {
    read.map_err(|error| ImportError::Thread(error.to_string()))
}

/// Runs `read` on a thread for blocking work.
pub async fn read_on_thread<T: Send + 'static>(
    read: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ImportError> {
    joined(tokio::task::spawn_blocking(read).await)
}

/// Writes pieces until the channel is closed. Returns when all are acknowledged.
async fn write_all(writer: &Arc<RowWriter>, mut pieces: mpsc::Receiver<Piece>) -> Result<(), ImportError> {
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

fn written(outcome: Option<Result<Result<(), TransferError>, JoinError>>) -> Result<(), ImportError> {
    match outcome {
        None => Ok(()),
        Some(Ok(outcome)) => Ok(outcome?),
        Some(Err(error)) => Err(ImportError::Thread(error.to_string())),
    }
}
