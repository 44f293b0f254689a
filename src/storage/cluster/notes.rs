//! What all fronts share and keep on the cluster: notes, in a keyspace of their own.
//!
//! They stand in one partition with a version, so that a change of several of them is one transaction, and refused when
//! another front has made one in between.

use bytes::Bytes;
use parking_lot::Mutex;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::{Consistency, SerialConsistency};
use uuid::Uuid;

use super::error;
use super::link::Link;
use super::rows::{all, number};
use super::values::Values;
use crate::storage::StoreError;

/// The keyspace of what fronts keep for themselves.
pub const KEYSPACE: &str = "thriftstore";

// Of two fronts that start for the first time, both may make these tables: by their ids they are the same.
const NOTES_TABLE: &str = "CREATE TABLE IF NOT EXISTS thriftstore.notes (scope text, name text, value blob, \
     version bigint static, PRIMARY KEY (scope, name)) WITH id = '8f1c9b52-6d07-4a55-9a2f-3c5c3f0e7a01' AND comment = 'The schema that Thrift clients have made'";
const LOCKS_TABLE: &str = "CREATE TABLE IF NOT EXISTS thriftstore.locks (name text PRIMARY KEY, owner uuid) \
     WITH id = '8f1c9b52-6d07-4a55-9a2f-3c5c3f0e7a02' AND comment = 'Who changes tables just now'";
/// The one partition of all notes.
const SCOPE: Bytes = Bytes::from_static(b"schema");
const LOCK: Bytes = Bytes::from_static(b"tables");

/// How long a lock holds whose front has died, in seconds.
const LOCK_TTL_S: i32 = 60;
/// How often, and how long apart, a lock is asked for.
const LOCK_ATTEMPTS: u32 = 400;
const LOCK_PAUSE: std::time::Duration = std::time::Duration::from_millis(200);

/// The notes, as this front has seen them last.
#[derive(Debug, Default)]
pub struct Notes {
    seen: Mutex<i64>,
}

impl Notes {
    /// Makes the keyspace and its tables where they are not there yet.
    pub async fn set_up(link: &Link, replication: &str) -> Result<(), StoreError> {
        let known = link
            .ask(
                "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?",
                Values::default().bytes(Bytes::from_static(KEYSPACE.as_bytes())),
            )
            .await?;
        let tables = known.map(|page| all(&page)).transpose()?.unwrap_or_default();
        if tables.len() >= 2 {
            return Ok(());
        }
        link.define(&format!("CREATE KEYSPACE IF NOT EXISTS {KEYSPACE} WITH replication = {replication}"))
            .await?;
        link.define(NOTES_TABLE).await?;
        link.define(LOCKS_TABLE).await
    }

    pub async fn all(&self, link: &Link) -> Result<Vec<(String, Bytes)>, StoreError> {
        let page = link
            .ask(
                "SELECT version, name, value FROM thriftstore.notes WHERE scope = ?",
                Values::default().bytes(SCOPE),
            )
            .await?;
        let mut notes = Vec::new();
        let mut version = 0;
        for row in page.map(|page| all(&page)).transpose()?.unwrap_or_default() {
            let mut fields = row.into_iter();
            let mut next = || fields.next().flatten();
            version = next().and_then(|bytes| number(&bytes)).unwrap_or(0);
            if let (Some(name), Some(value)) = (next(), next()) {
                notes.push((String::from_utf8_lossy(&name).into_owned(), value));
            }
        }
        *self.seen.lock() = version;
        Ok(notes)
    }

    /// The version that the cluster has.
    pub async fn version(&self, link: &Link) -> Result<i64, StoreError> {
        let page = link
            .ask(
                "SELECT version FROM thriftstore.notes WHERE scope = ? LIMIT 1",
                Values::default().bytes(SCOPE),
            )
            .await?;
        let rows = page.map(|page| all(&page)).transpose()?.unwrap_or_default();
        let version = rows.into_iter().next().and_then(|row| row.into_iter().next().flatten());
        Ok(version.and_then(|bytes| number(&bytes)).unwrap_or(0))
    }

    /// Changes notes. Errors: `SchemaDisagreement` when another front has changed some since this one has read them.
    pub async fn change(&self, link: &Link, notes: Vec<(String, Option<Bytes>)>) -> Result<(), StoreError> {
        let seen = *self.seen.lock();
        let mut batch = Batch::new(BatchType::Unlogged);
        let mut values = Vec::with_capacity(notes.len() + 1);
        let next = Values::default().long(seen + 1).bytes(SCOPE);
        if seen == 0 {
            batch.append_statement(
                prepared(link, "UPDATE thriftstore.notes SET version = ? WHERE scope = ? IF version = null")
                    .await?,
            );
            values.push(next);
        } else {
            batch.append_statement(
                prepared(link, "UPDATE thriftstore.notes SET version = ? WHERE scope = ? IF version = ?")
                    .await?,
            );
            values.push(next.long(seen));
        }
        for (name, value) in notes {
            let name = Bytes::from(name);
            let (text, bound) = match value {
                Some(value) => (
                    "INSERT INTO thriftstore.notes (scope, name, value) VALUES (?, ?, ?)",
                    Values::default().bytes(SCOPE).bytes(name).bytes(value),
                ),
                None => (
                    "DELETE FROM thriftstore.notes WHERE scope = ? AND name = ?",
                    Values::default().bytes(SCOPE).bytes(name),
                ),
            };
            batch.append_statement(prepared(link, text).await?);
            values.push(bound);
        }
        batch.set_consistency(Consistency::Quorum);
        batch.set_serial_consistency(Some(SerialConsistency::Serial));
        let result = link.run_batch(&batch, values).await?;
        let page = result.into_rows_result().map_err(|error| StoreError::Io(error.to_string()))?;
        if !is_applied(all(&page)?) {
            return Err(StoreError::SchemaDisagreement(
                "another front has changed the schema at the same time: try again".to_owned(),
            ));
        }
        *self.seen.lock() = seen + 1;
        Ok(())
    }
}

async fn prepared(
    link: &Link,
    text: &str,
) -> Result<scylla::statement::prepared::PreparedStatement, StoreError> {
    link.session.prepare(text).await.map_err(error::of_prepare)
}

fn is_applied(rows: Vec<Vec<Option<Bytes>>>) -> bool {
    let first = rows.into_iter().next().and_then(|row| row.into_iter().next().flatten());
    first.is_some_and(|applied| applied.as_ref() == [1])
}

/// The right to change tables, which one front has at a time: a table that two make at once would be two.
pub struct TablesLock {
    owner: Uuid,
}

impl TablesLock {
    /// Waits until no other front has it.
    pub async fn take(link: &Link) -> Result<TablesLock, StoreError> {
        let owner = Uuid::new_v4();
        for _ in 0..LOCK_ATTEMPTS {
            let values =
                Values::default().bytes(LOCK).bytes(Bytes::copy_from_slice(owner.as_bytes())).int(LOCK_TTL_S);
            let asked = link
                .ask(
                    "INSERT INTO thriftstore.locks (name, owner) VALUES (?, ?) IF NOT EXISTS USING TTL ?",
                    values,
                )
                .await?;
            if is_applied(asked.map(|page| all(&page)).transpose()?.unwrap_or_default()) {
                return Ok(TablesLock { owner });
            }
            tokio::time::sleep(LOCK_PAUSE).await;
        }
        Err(StoreError::SchemaDisagreement("another front is changing tables: try again".to_owned()))
    }

    /// Gives it back. Where that fails it ends by itself.
    pub async fn give_back(self, link: &Link) {
        let values = Values::default().bytes(LOCK).bytes(Bytes::copy_from_slice(self.owner.as_bytes()));
        let given = link.ask("DELETE FROM thriftstore.locks WHERE name = ? IF owner = ?", values).await;
        if let Err(error) = given {
            tracing::warn!("the lock of the tables stays for {LOCK_TTL_S} s: {error}");
        }
    }
}
