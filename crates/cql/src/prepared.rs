//! The prepared statements of all connections.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::remote::RemoteStatements;
use super::run::{self, Prepared};
use super::{CqlError, QueryState};
use crate::Result;
use crate::error::invalid;
use crate::limits::PREPARED_STATEMENT_BYTES_MAX;
use base::model::StatementId;
use base::util::limits::PREPARED_BYTES_MAX;

/// Returns the error for a statement that is not known, or no longer known.
pub fn unprepared(id: &StatementId) -> CqlError {
    CqlError::Unprepared(unknown_statement(&id.text()))
}

/// Returns the message for an unknown statement, in the words of the old servers.
pub fn unknown_statement(id: &str) -> String {
    format!(
        "Prepared query with ID {id} not found (either the query was not prepared on this host (maybe the host has \
         been restarted?) or you have prepared too many queries and it has been evicted from the internal cache)"
    )
}

/// Estimates the memory of a statement: the names, types and terms of its plan take several times the size of its text.
#[derive(Debug, Clone)]
struct Weight;

const BYTES_OF_A_PLAN: u64 = 2048;
const PLAN_PER_TEXT: u64 = 16;

impl Weighter<StatementId, Arc<Prepared>> for Weight {
    fn weight(&self, _id: &StatementId, prepared: &Arc<Prepared>) -> u64 {
        BYTES_OF_A_PLAN + PLAN_PER_TEXT * prepared.text.len() as u64
    }
}

/// A cache of prepared statements with a memory limit; the least used statements are evicted first.
pub struct PreparedStatements {
    cache: Cache<StatementId, Arc<Prepared>, Weight>,
    /// The prepared statements that a cluster executes.
    pub remote: RemoteStatements,
}

impl Default for PreparedStatements {
    fn default() -> PreparedStatements {
        let items = PREPARED_BYTES_MAX / BYTES_OF_A_PLAN;
        let items = usize::try_from(items).unwrap_or(usize::MAX);
        let cache = Cache::with_weighter(items, PREPARED_BYTES_MAX, Weight);
        PreparedStatements { cache, remote: RemoteStatements::default() }
    }
}

impl PreparedStatements {
    /// Forgets all statements, as a restart does.
    pub fn forget_all(&self) {
        self.cache.clear();
    }

    /// Prepares a statement and stores it under the id that `id_of` returns for the session's keyspace and the text.
    pub fn prepare(
        &self,
        state: &QueryState<'_>,
        text: &str,
        id_of: fn(Option<&str>, &str) -> StatementId,
    ) -> Result<(StatementId, Arc<Prepared>)> {
        let size = text.len();
        if size > PREPARED_STATEMENT_BYTES_MAX {
            return invalid(format!(
                "Prepared statement of size {size} bytes is larger than allowed maximum of \
                 {PREPARED_STATEMENT_BYTES_MAX} bytes."
            ));
        }
        let id = id_of(state.keyspace, text);
        let kept = self.cache.get(&id);
        let kept = kept.filter(|kept| &*kept.text == text && kept.keyspace.as_deref() == state.keyspace);
        let prepared = match kept {
            Some(kept) if kept.is_for(state, &state.database.catalog()) => kept,
            Some(kept) => {
                let prepared = run::prepare(state, text)?;
                prepared.comes_after(&kept);
                prepared
            }
            None => run::prepare(state, text)?,
        };
        self.cache.insert(id, prepared.clone());
        Ok((id, prepared))
    }

    /// Returns a prepared statement, planned for the current schema. A statement that no longer fits the schema is
    /// removed: the client then prepares it again and gets the error.
    pub fn get(&self, state: &QueryState<'_>, id: StatementId) -> Result<Arc<Prepared>> {
        let prepared = self.cache.get(&id).ok_or_else(|| unprepared(&id))?;
        if prepared.is_for(state, &state.database.catalog()) {
            return Ok(prepared);
        }
        match prepared.again(state) {
            Ok(again) => {
                again.comes_after(&prepared);
                self.cache.insert(id, again.clone());
                Ok(again)
            }
            Err(_) => {
                self.cache.remove(&id);
                Err(unprepared(&id))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_equal_those_of_the_old_servers() {
        // Both ids were recorded from real servers.
        let hash = StatementId::hash(Some("c2"), "SELECT * FROM t3 WHERE k=? AND c=?");
        assert_eq!(hash, StatementId::Hash(705_600_922));
        assert_eq!(
            StatementId::hash(None, "INSERT INTO p2 (KEY,?) VALUES (?,?)"),
            StatementId::Hash(-1_117_827_097)
        );
        let text = "SELECT pkey1, skey, value FROM key_space_test.testtable WHERE pkey1=? AND pkey2=?";
        assert_eq!(StatementId::md5(None, text).text(), "ce74e42902c5cebd135b2787713b8cec");
    }
}
