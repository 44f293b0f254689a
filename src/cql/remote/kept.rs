//! The statements for a cluster that clients have prepared, for all connections.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::RemoteStatement;
use crate::cql::{ColumnSpec, CqlError, StatementId};
use crate::util::limits::{PREPARED_BYTES_MAX, PREPARED_STATEMENT_BYTES_MAX};

/// A statement that has been read, and that the cluster knows.
#[derive(Debug)]
pub struct RemotePrepared {
    pub(super) statement: RemoteStatement,
    /// The keyspace that was used when it was prepared.
    pub(super) keyspace: Option<String>,
    /// What each marker stands for.
    pub markers: Vec<ColumnSpec>,
}

/// Memory that a statement takes, roughly: its text and what was read of it, each column of its markers.
#[derive(Debug, Clone)]
struct Weight;

const BYTES_OF_A_STATEMENT: u64 = 1024;
const BYTES_OF_A_MARKER: u64 = 256;
const READ_PER_TEXT: u64 = 16;

impl Weighter<StatementId, Arc<RemotePrepared>> for Weight {
    fn weight(&self, _id: &StatementId, prepared: &Arc<RemotePrepared>) -> u64 {
        let (text, markers) = (prepared.statement.text.len() as u64, prepared.markers.len() as u64);
        BYTES_OF_A_STATEMENT + READ_PER_TEXT * text + BYTES_OF_A_MARKER * markers
    }
}

/// Prepared statements, as many as their limit has room for; those that are not used go first.
pub struct RemoteStatements {
    cache: Cache<StatementId, Arc<RemotePrepared>, Weight>,
}

impl Default for RemoteStatements {
    fn default() -> RemoteStatements {
        let items = usize::try_from(PREPARED_BYTES_MAX / BYTES_OF_A_STATEMENT).unwrap_or(usize::MAX);
        RemoteStatements { cache: Cache::with_weighter(items, PREPARED_BYTES_MAX, Weight) }
    }
}

impl RemoteStatements {
    pub(super) fn keep(&self, id: StatementId, prepared: Arc<RemotePrepared>) {
        self.cache.insert(id, prepared);
    }

    /// A statement that was prepared before.
    pub fn get(&self, id: StatementId) -> Result<Arc<RemotePrepared>, CqlError> {
        self.cache.get(&id).ok_or_else(|| id.unknown())
    }
}

/// A single statement leaves room for others.
pub(super) fn check_length(text: &str) -> Result<(), CqlError> {
    let size = text.len();
    if size > PREPARED_STATEMENT_BYTES_MAX {
        return Err(CqlError::invalid(format!(
            "Prepared statement of size {size} bytes is larger than allowed maximum of \
             {PREPARED_STATEMENT_BYTES_MAX} bytes."
        )));
    }
    Ok(())
}
