//! The metadata records that all gateways of a cluster share (schema and roles), in a keyspace of the gateways; and the
//! lock under which one gateway at a time changes tables.
//!
//! All records are in one partition of the table `thriftstore.notes`, with a version. So a change of several records is
//! one transaction, and it is refused if another gateway has changed records since this gateway has read them:
//!
//! ```text
//!   gateway A, has read version 7                   gateway B, has read version 7
//!   set version 8 IF version = 7, write records
//!     applied                                       set version 8 IF version = 7, write records
//!                                                     refused: SchemaDisagreement
//!                                                   read version 8, try again
//! ```

use std::collections::HashMap;
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::Mutex;
use scylla::statement::batch::{Batch, BatchType};
use scylla::statement::{Consistency, SerialConsistency};
use uuid::Uuid;

use super::link::Link;
use super::rows::{first, is_applied, number};
use super::values::{DriverValue, DriverValues};
use store::{Result, StoreError};

/// The keyspace of the gateways' own data.
pub(super) const KEYSPACE: &str = "thriftstore";

// Two gateways that start for the first time may both create these tables. The ids make both statements create the same
// table.
const RECORDS_TABLE: &str = "CREATE TABLE IF NOT EXISTS thriftstore.notes (scope text, name text, value blob, \
     version bigint static, PRIMARY KEY (scope, name)) WITH id = '8f1c9b52-6d07-4a55-9a2f-3c5c3f0e7a01' AND comment = 'The schema that Thrift clients have made'";
const LOCKS_TABLE: &str = "CREATE TABLE IF NOT EXISTS thriftstore.locks (name text PRIMARY KEY, owner uuid) \
     WITH id = '8f1c9b52-6d07-4a55-9a2f-3c5c3f0e7a02' AND comment = 'Who changes tables just now'";
/// The key of the only partition of metadata records.
const SCOPE: Bytes = Bytes::from_static(b"schema");
/// The name of the lock of tables.
const LOCK: Bytes = Bytes::from_static(b"tables");

/// Attempts to change metadata records if the node is lost meanwhile.
const CHANGE_ATTEMPTS: u32 = 4;
/// Seconds after which a lock expires that is not renewed, since its gateway has died.
const LOCK_TTL_S: i32 = 60;
/// Time limit of taking the lock: longer than `LOCK_TTL_S`, so that the lock of a dead gateway expires meanwhile.
const LOCK_TIMEOUT: Duration = Duration::from_secs(80);
/// Time between two attempts to take the lock.
const LOCK_PAUSE: Duration = Duration::from_millis(200);
/// Time between two renewals of the lock by its owner.
const LOCK_RENEWAL: Duration = Duration::from_secs(15);
/// Renewals that may fail one after another.
const LOCK_FAILURES_MAX: u32 = 2;
/// Time limit of releasing the lock, since a client waits.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(5);

/// The metadata records, with the version that this gateway has read last.
#[derive(Debug, Default)]
pub(super) struct MetadataRecords {
    /// The version when this gateway last read all records, or changed some.
    version_read: Mutex<i64>,
}

impl MetadataRecords {
    /// Creates the keyspace and its tables if they do not exist.
    pub(super) async fn set_up(link: &Link, replication: &str) -> Result<()> {
        let tables = link
            .ask(
                "SELECT table_name FROM system_schema.tables WHERE keyspace_name = ?",
                DriverValues::default().bytes(Bytes::from_static(KEYSPACE.as_bytes())),
            )
            .await?;
        if tables.len() >= 2 {
            return Ok(());
        }
        link.define(&format!("CREATE KEYSPACE IF NOT EXISTS {KEYSPACE} WITH replication = {replication}"))
            .await?;
        link.define(RECORDS_TABLE).await?;
        link.define(LOCKS_TABLE).await
    }

    /// Reads all metadata records, and remembers their version. A change whose result is unknown is settled by this
    /// read: it is either visible, or will never be applied.
    pub(super) async fn all(&self, link: &Link) -> Result<Vec<(String, Bytes)>> {
        let (version, records) = read(link).await?;
        *self.version_read.lock() = version;
        Ok(records)
    }

    /// Returns the version on the cluster.
    pub(super) async fn version(&self, link: &Link) -> Result<i64> {
        let rows = link
            .ask(
                "SELECT version FROM thriftstore.notes WHERE scope = ? LIMIT 1",
                DriverValues::default().bytes(SCOPE),
            )
            .await?;
        Ok(first(rows).and_then(|bytes| number(&bytes)).unwrap_or(0))
    }

    /// Checks that this gateway has read the newest records.
    ///
    /// # Errors
    /// `SchemaDisagreement` if another gateway has changed records since this one has read them.
    pub(super) async fn check_newest(&self, link: &Link) -> Result<()> {
        let newest = self.version(link).await?;
        if newest == *self.version_read.lock() { Ok(()) } else { Err(changed_by_another()) }
    }

    /// Changes metadata records. `None` removes a record.
    ///
    /// # Errors
    /// `SchemaDisagreement` if another gateway has changed records since this one has read them, `TimedOut` if it is
    /// unknown whether the change was applied.
    pub(super) async fn change(&self, link: &Link, records: Vec<(String, Option<Bytes>)>) -> Result<()> {
        let seen = *self.version_read.lock();
        for attempt in 1.. {
            match self.try_change(link, seen, &records).await {
                Err(StoreError::TimedOut(why)) if attempt < CHANGE_ATTEMPTS => {
                    tracing::debug!(
                        "the result of a change of metadata records is unknown, so they are read: {why}"
                    );
                }
                outcome => return outcome,
            }
            let (version, stored) = read(link).await?;
            if version > seen {
                let stored: HashMap<String, Bytes> = stored.into_iter().collect();
                if records.iter().any(|(name, value)| stored.get(name) != value.as_ref()) {
                    return Err(changed_by_another());
                }
                // Not `version`: changes that other gateways have made since must still be read.
                *self.version_read.lock() = seen + 1;
                return Ok(());
            }
        }
        Err(changed_by_another())
    }

    async fn try_change(&self, link: &Link, seen: i64, records: &[(String, Option<Bytes>)]) -> Result<()> {
        let mut batch = Batch::new(BatchType::Unlogged);
        let mut values = Vec::with_capacity(records.len() + 1);
        let next = DriverValues::default().long(seen + 1).bytes(SCOPE);
        let (condition, version) = match seen {
            0 => ("UPDATE thriftstore.notes SET version = ? WHERE scope = ? IF version = null", next),
            _ => ("UPDATE thriftstore.notes SET version = ? WHERE scope = ? IF version = ?", next.long(seen)),
        };
        batch.append_statement(link.own_statement(condition).await?);
        values.push(version);
        for (name, value) in records {
            let name = Bytes::from(name.clone());
            let (text, bound) = match value {
                Some(value) => (
                    "INSERT INTO thriftstore.notes (scope, name, value) VALUES (?, ?, ?)",
                    DriverValues::default().bytes(SCOPE).bytes(name).bytes(value.clone()),
                ),
                None => (
                    "DELETE FROM thriftstore.notes WHERE scope = ? AND name = ?",
                    DriverValues::default().bytes(SCOPE).bytes(name),
                ),
            };
            batch.append_statement(link.own_statement(text).await?);
            values.push(bound);
        }
        batch.set_consistency(Consistency::Quorum);
        batch.set_serial_consistency(Some(SerialConsistency::Serial));
        if !link.transact(batch, values).await? {
            return Err(changed_by_another());
        }
        *self.version_read.lock() = seen + 1;
        Ok(())
    }
}

/// Reads the metadata records and their version. A read at `Serial` completes an unfinished change, or makes sure that
/// it is never applied.
async fn read(link: &Link) -> Result<(i64, Vec<(String, Bytes)>)> {
    let text = "SELECT version, name, value FROM thriftstore.notes WHERE scope = ?";
    let rows = link.ask_at(text, DriverValues::default().bytes(SCOPE), Consistency::Serial).await?;
    let mut records = Vec::new();
    let mut version = 0;
    for row in rows {
        let mut fields = row.into_iter();
        let mut next = || fields.next().flatten();
        version = next().and_then(|bytes| number(&bytes)).unwrap_or(0);
        if let (Some(name), Some(value)) = (next(), next()) {
            records.push((String::from_utf8_lossy(&name).into_owned(), value));
        }
    }
    Ok((version, records))
}

fn changed_by_another() -> StoreError {
    StoreError::SchemaDisagreement("another gateway has changed the schema: try again".to_owned())
}

/// The lock for changes of tables, which one gateway holds at a time: if two created a table at the same time, two
/// different tables would exist.
pub(super) struct TablesLock {
    owner: Uuid,
}

impl TablesLock {
    /// Takes the lock, and waits while another gateway has it.
    pub(super) async fn take(link: &Link) -> Result<TablesLock> {
        let lock = TablesLock { owner: Uuid::new_v4() };
        let began = Instant::now();
        while began.elapsed() < LOCK_TIMEOUT {
            let text = "INSERT INTO thriftstore.locks (name, owner) VALUES (?, ?) IF NOT EXISTS USING TTL ?";
            match lock.transact(link, text, lock.values().int(LOCK_TTL_S)).await {
                Ok(true) => return Ok(lock),
                Ok(false) => {}
                Err(StoreError::TimedOut(why)) => {
                    tracing::debug!("it is unknown whether the lock of tables was taken: {why}");
                }
                Err(error) => return Err(error),
            }
            tokio::time::sleep(LOCK_PAUSE).await;
        }
        Err(StoreError::SchemaDisagreement("another gateway is changing tables: try again".to_owned()))
    }

    /// Renews the lock until the future is dropped. Returns an error if the lock is lost: the change that it protects
    /// must stop then.
    pub(super) async fn renew_until_lost(&self, link: &Link) -> StoreError {
        let mut failures = 0;
        loop {
            tokio::time::sleep(LOCK_RENEWAL).await;
            let text = "UPDATE thriftstore.locks USING TTL ? SET owner = ? WHERE name = ? IF owner = ?";
            let owner = || DriverValue::Bytes(self.owner());
            let values =
                DriverValues(vec![DriverValue::Int(LOCK_TTL_S), owner(), DriverValue::Bytes(LOCK), owner()]);
            match self.transact(link, text, values).await {
                Ok(true) => failures = 0,
                Err(error) if failures < LOCK_FAILURES_MAX => {
                    tracing::debug!("the lock of tables was not renewed: {error}");
                    failures += 1;
                }
                Ok(false) | Err(_) => {
                    return StoreError::SchemaDisagreement(
                        "the lock of tables was lost during the change: try again".to_owned(),
                    );
                }
            }
        }
    }

    /// Releases the lock.
    ///
    /// This is tried several times, since gateways that try to take the lock at the same time can make it fail. If it
    /// fails, other gateways wait until the lock expires.
    pub(super) async fn release(self, link: &Link) {
        let text = "DELETE FROM thriftstore.locks WHERE name = ? IF owner = ?";
        let releasing = async {
            while let Err(error) = link.ask(text, self.values()).await {
                tracing::debug!("the lock of tables was not released yet: {error}");
                tokio::time::sleep(LOCK_PAUSE).await;
            }
        };
        if tokio::time::timeout(RELEASE_TIMEOUT, releasing).await.is_err() {
            tracing::warn!("the lock of tables was not released and expires in {LOCK_TTL_S} s");
        }
    }

    /// Runs a transaction on the lock. Returns whether this gateway has the lock afterwards. An earlier transaction
    /// with unknown result may have taken it.
    async fn transact(&self, link: &Link, text: &str, values: DriverValues) -> Result<bool> {
        let rows = link.ask(text, values).await?;
        let owner = Some(self.owner());
        Ok(rows.first().is_some_and(|row| row.contains(&owner)) || is_applied(rows))
    }

    fn values(&self) -> DriverValues {
        DriverValues::default().bytes(LOCK).bytes(self.owner())
    }

    fn owner(&self) -> Bytes {
        Bytes::copy_from_slice(self.owner.as_bytes())
    }
}
