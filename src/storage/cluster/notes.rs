//! What all gateways share and keep on the cluster: notes, in a keyspace of their own.
//!
//! They stand in one partition with a version, so that a change of several of them is one transaction, and refused when
//! another gateway has made one in between.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::{Consistency, SerialConsistency};
use uuid::Uuid;

use super::link::Link;
use super::rows::{first, is_applied, number};
use super::values::{Value, Values};
use crate::storage::StoreError;

/// The keyspace of what gateways keep for themselves.
pub const KEYSPACE: &str = "thriftstore";

// Of two gateways that start for the first time, both may make these tables: by their ids they are the same.
const NOTES_TABLE: &str = "CREATE TABLE IF NOT EXISTS thriftstore.notes (scope text, name text, value blob, \
     version bigint static, PRIMARY KEY (scope, name)) WITH id = '8f1c9b52-6d07-4a55-9a2f-3c5c3f0e7a01' AND comment = 'The schema that Thrift clients have made'";
const LOCKS_TABLE: &str = "CREATE TABLE IF NOT EXISTS thriftstore.locks (name text PRIMARY KEY, owner uuid) \
     WITH id = '8f1c9b52-6d07-4a55-9a2f-3c5c3f0e7a02' AND comment = 'Who changes tables just now'";
/// The one partition of all notes.
const SCOPE: Bytes = Bytes::from_static(b"schema");
const LOCK: Bytes = Bytes::from_static(b"tables");

/// How often a change of notes is tried that is lost with its node.
const CHANGE_ATTEMPTS: u32 = 4;
/// How long a lock holds whose gateway has died, in seconds.
const LOCK_TTL_S: i32 = 60;
/// How long a lock is waited for, and how long apart it is asked for: one who has died gives way in that time.
const LOCK_PATIENCE: Duration = Duration::from_secs(80);
const LOCK_PAUSE: Duration = Duration::from_millis(200);
/// How often a lock is asked for again by who has it, and how many times that may fail.
const LOCK_RENEWAL: Duration = Duration::from_secs(15);
const LOCK_FAILURES_MAX: u32 = 2;
/// How long it is tried to give it back: a client waits.
const RETURN_PATIENCE: Duration = Duration::from_secs(5);

/// The notes, as this gateway has seen them last.
#[derive(Debug, Default)]
pub struct Notes {
    /// Their version when this gateway has read them to go by them, or has changed them.
    seen: Mutex<i64>,
}

impl Notes {
    /// Makes the keyspace and its tables where they are not there yet.
    pub async fn set_up(link: &Link, replication: &str) -> Result<(), StoreError> {
        let tables = link
            .ask(
                "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?",
                Values::default().bytes(Bytes::from_static(KEYSPACE.as_bytes())),
            )
            .await?;
        if tables.len() >= 2 {
            return Ok(());
        }
        link.define(&format!("CREATE KEYSPACE IF NOT EXISTS {KEYSPACE} WITH replication = {replication}"))
            .await?;
        link.define(NOTES_TABLE).await?;
        link.define(LOCKS_TABLE).await
    }

    /// All notes, by which this gateway goes from now on. A change whose outcome is not known is settled by it: seen, or
    /// never to be done.
    pub async fn all(&self, link: &Link) -> Result<Vec<(String, Bytes)>, StoreError> {
        let (version, notes) = read(link).await?;
        *self.seen.lock() = version;
        Ok(notes)
    }

    /// The version that the cluster has.
    pub async fn version(&self, link: &Link) -> Result<i64, StoreError> {
        let rows = link
            .ask(
                "SELECT version FROM thriftstore.notes WHERE scope = ? LIMIT 1",
                Values::default().bytes(SCOPE),
            )
            .await?;
        Ok(first(rows).and_then(|bytes| number(&bytes)).unwrap_or(0))
    }

    /// Errors: `SchemaDisagreement` when another gateway has changed notes since this one has read them.
    pub async fn check_newest(&self, link: &Link) -> Result<(), StoreError> {
        let newest = self.version(link).await?;
        if newest == *self.seen.lock() { Ok(()) } else { Err(overtaken()) }
    }

    /// Changes notes. Errors: `SchemaDisagreement` when another gateway has changed some since this one has read them,
    /// `TimedOut` when it cannot be seen whether they are changed.
    pub async fn change(&self, link: &Link, notes: Vec<(String, Option<Bytes>)>) -> Result<(), StoreError> {
        let seen = *self.seen.lock();
        for attempt in 1.. {
            match self.try_change(link, seen, &notes).await {
                Err(StoreError::TimedOut(why)) if attempt < CHANGE_ATTEMPTS => {
                    tracing::debug!("whether notes are changed is looked up: {why}");
                }
                outcome => return outcome,
            }
            let (version, kept) = read(link).await?;
            if version > seen {
                let kept: HashMap<String, Bytes> = kept.into_iter().collect();
                let is_kept = |(name, value): &(String, Option<Bytes>)| kept.get(name) == value.as_ref();
                if !notes.iter().all(is_kept) {
                    return Err(overtaken());
                }
                // Not more: what others have noted since is still to be loaded.
                *self.seen.lock() = seen + 1;
                return Ok(());
            }
        }
        Err(overtaken())
    }

    async fn try_change(
        &self,
        link: &Link,
        seen: i64,
        notes: &[(String, Option<Bytes>)],
    ) -> Result<(), StoreError> {
        let mut batch = Batch::new(BatchType::Unlogged);
        let mut values = Vec::with_capacity(notes.len() + 1);
        let next = Values::default().long(seen + 1).bytes(SCOPE);
        let (condition, version) = match seen {
            0 => ("UPDATE thriftstore.notes SET version = ? WHERE scope = ? IF version = null", next),
            _ => ("UPDATE thriftstore.notes SET version = ? WHERE scope = ? IF version = ?", next.long(seen)),
        };
        batch.append_statement(link.own_statement(condition).await?);
        values.push(version);
        for (name, value) in notes {
            let name = Bytes::from(name.clone());
            let (text, bound) = match value {
                Some(value) => (
                    "INSERT INTO thriftstore.notes (scope, name, value) VALUES (?, ?, ?)",
                    Values::default().bytes(SCOPE).bytes(name).bytes(value.clone()),
                ),
                None => (
                    "DELETE FROM thriftstore.notes WHERE scope = ? AND name = ?",
                    Values::default().bytes(SCOPE).bytes(name),
                ),
            };
            batch.append_statement(link.own_statement(text).await?);
            values.push(bound);
        }
        batch.set_consistency(Consistency::Quorum);
        batch.set_serial_consistency(Some(SerialConsistency::Serial));
        if !link.transact(batch, values).await? {
            return Err(overtaken());
        }
        *self.seen.lock() = seen + 1;
        Ok(())
    }
}

/// The notes with their version. A change that is half done is done, or never will be.
async fn read(link: &Link) -> Result<(i64, Vec<(String, Bytes)>), StoreError> {
    let text = "SELECT version, name, value FROM thriftstore.notes WHERE scope = ?";
    let rows = link.ask_at(text, Values::default().bytes(SCOPE), Consistency::Serial).await?;
    let mut notes = Vec::new();
    let mut version = 0;
    for row in rows {
        let mut fields = row.into_iter();
        let mut next = || fields.next().flatten();
        version = next().and_then(|bytes| number(&bytes)).unwrap_or(0);
        if let (Some(name), Some(value)) = (next(), next()) {
            notes.push((String::from_utf8_lossy(&name).into_owned(), value));
        }
    }
    Ok((version, notes))
}

fn overtaken() -> StoreError {
    StoreError::SchemaDisagreement(
        "another gateway has changed the schema at the same time: try again".to_owned(),
    )
}

/// The right to change tables, which one gateway has at a time: a table that two make at once would be two.
pub struct TablesLock {
    owner: Uuid,
}

impl TablesLock {
    /// Waits until no other gateway has it.
    pub async fn take(link: &Link) -> Result<TablesLock, StoreError> {
        let lock = TablesLock { owner: Uuid::new_v4() };
        let began = Instant::now();
        while began.elapsed() < LOCK_PATIENCE {
            let text = "INSERT INTO thriftstore.locks (name, owner) VALUES (?, ?) IF NOT EXISTS USING TTL ?";
            match lock.ask(link, text, lock.values().int(LOCK_TTL_S)).await {
                Ok(true) => return Ok(lock),
                Ok(false) => {}
                Err(StoreError::TimedOut(why)) => {
                    tracing::debug!("whether the lock of the tables is taken is not known: {why}");
                }
                Err(error) => return Err(error),
            }
            tokio::time::sleep(LOCK_PAUSE).await;
        }
        Err(StoreError::SchemaDisagreement("another gateway is changing tables: try again".to_owned()))
    }

    /// Keeps it for as long as this is waited for. Ends if it is lost: what it was taken for must not go on then.
    pub async fn until_lost(&self, link: &Link) -> StoreError {
        let mut failures = 0;
        loop {
            tokio::time::sleep(LOCK_RENEWAL).await;
            let text = "UPDATE thriftstore.locks USING TTL ? SET owner = ? WHERE name = ? IF owner = ?";
            let owner = || Value::Bytes(self.owner());
            let values = Values(vec![Value::Int(LOCK_TTL_S), owner(), Value::Bytes(LOCK), owner()]);
            match self.ask(link, text, values).await {
                Ok(true) => failures = 0,
                Err(error) if failures < LOCK_FAILURES_MAX => {
                    tracing::debug!("the lock of the tables is not renewed: {error}");
                    failures += 1;
                }
                Ok(false) | Err(_) => {
                    return StoreError::SchemaDisagreement(
                        "the lock of the tables was lost meanwhile: try again".to_owned(),
                    );
                }
            }
        }
    }

    /// Gives it back. Where that fails it ends by itself, but others wait for that: so it is tried again, as others that
    /// ask for the lock at the same time can make it fail.
    pub async fn give_back(self, link: &Link) {
        let text = "DELETE FROM thriftstore.locks WHERE name = ? IF owner = ?";
        let giving = async {
            while let Err(error) = link.ask(text, self.values()).await {
                tracing::debug!("the lock of the tables is not given back yet: {error}");
                tokio::time::sleep(LOCK_PAUSE).await;
            }
        };
        if tokio::time::timeout(RETURN_PATIENCE, giving).await.is_err() {
            tracing::warn!("the lock of the tables cannot be given back, and stays for {LOCK_TTL_S} s");
        }
    }

    /// Runs a transaction: is the lock ours after it? An earlier one whose outcome was not told may have taken it.
    async fn ask(&self, link: &Link, text: &str, values: Values) -> Result<bool, StoreError> {
        let rows = link.ask(text, values).await?;
        let owner = Some(self.owner());
        Ok(rows.first().is_some_and(|row| row.contains(&owner)) || is_applied(rows))
    }

    fn values(&self) -> Values {
        Values::default().bytes(LOCK).bytes(self.owner())
    }

    fn owner(&self) -> Bytes {
        Bytes::copy_from_slice(self.owner.as_bytes())
    }
}
