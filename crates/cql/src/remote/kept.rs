//! The prepared statements for a cluster, shared by all connections.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::RemoteStatement;
use crate::error::invalid;
use crate::limits::PREPARED_STATEMENT_BYTES_MAX;
use crate::{ColumnSpec, Result, unprepared};
use base::model::StatementId;
use base::util::limits::PREPARED_BYTES_MAX;

/// A parsed statement that the cluster has prepared.
#[derive(Debug)]
pub struct RemotePrepared {
    pub(super) statement: RemoteStatement,
    /// The keyspace of the session when it was prepared.
    pub(super) keyspace: Option<String>,
    /// The receiver of each marker.
    pub markers: Vec<ColumnSpec>,
}

/// Estimates the memory of a statement: its text and the parsed statement, and the columns of its markers.
#[derive(Debug, Clone)]
struct RemoteWeight;

const BYTES_OF_A_STATEMENT: u64 = 1024;
const BYTES_OF_A_MARKER: u64 = 256;
const READ_PER_TEXT: u64 = 16;

impl Weighter<StatementId, Arc<RemotePrepared>> for RemoteWeight {
    fn weight(&self, _id: &StatementId, prepared: &Arc<RemotePrepared>) -> u64 {
        let (text, markers) = (prepared.statement.text.len() as u64, prepared.markers.len() as u64);
        BYTES_OF_A_STATEMENT + READ_PER_TEXT * text + BYTES_OF_A_MARKER * markers
    }
}

/// A cache of prepared statements with a memory limit; the least used statements are evicted first.
pub struct RemoteStatements {
    cache: Cache<StatementId, Arc<RemotePrepared>, RemoteWeight>,
}

impl Default for RemoteStatements {
    fn default() -> RemoteStatements {
        let items = usize::try_from(PREPARED_BYTES_MAX / BYTES_OF_A_STATEMENT).unwrap_or(usize::MAX);
        RemoteStatements { cache: Cache::with_weighter(items, PREPARED_BYTES_MAX, RemoteWeight) }
    }
}

impl RemoteStatements {
    pub(super) fn keep(&self, id: StatementId, prepared: Arc<RemotePrepared>) {
        self.cache.insert(id, prepared);
    }

    /// Returns a prepared statement.
    pub fn get(&self, id: StatementId) -> Result<Arc<RemotePrepared>> {
        self.cache.get(&id).ok_or_else(|| unprepared(&id))
    }
}

/// Checks the length of a statement, so that a single one leaves room for others.
pub(super) fn check_length(text: &str) -> Result<()> {
    let size = text.len();
    if size > PREPARED_STATEMENT_BYTES_MAX {
        return invalid(format!(
            "Prepared statement of size {size} bytes is larger than allowed maximum of \
             {PREPARED_STATEMENT_BYTES_MAX} bytes."
        ));
    }
    Ok(())
}
