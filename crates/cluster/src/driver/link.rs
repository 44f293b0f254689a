//! The link to the cluster: the driver's session, and the gate that limits its requests.
//!
//! ```text
//!   prepared    the statement of a shape, prepared once for each table
//!   gate        a place among the requests that run at the same time, or Overloaded
//!   session     ReplicaOrder chooses the node, Retries decides whether another node is tried
//!   failed      the driver's error as a StoreError; the log counts equal errors instead of repeating them
//! ```
//!
//! A write that a lost node may have applied never ends with an error that says that nothing was written
//! (`Retries::error_of_write`): the client gets a timeout, and may write again.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::errors::ExecutionError;
use scylla::policies::load_balancing::DefaultPolicy;
use scylla::response::query_result::{QueryResult, QueryRowsResult};
use scylla::response::{PagingState, PagingStateResponse};
use scylla::statement::batch::Batch;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::unprepared::Statement;
use scylla::statement::{Consistency, SerialConsistency};

use super::connect_error::of_connecting;
use super::gate::Gate;
use super::node_counts::AttemptCounts;
use super::replica_order::ReplicaOrder;
use super::retries::Retries;
use super::rows::{Field, all, first, is_applied};
use super::shape::StatementShape;
use super::table::PreparedTable;
use super::values::DriverValues;
use super::{error, tls};
use crate::facts::DEFECTIVE_VERSION;
use crate::limits::CLUSTER_ROWS_AT_ONCE;
use crate::options::ClusterOptions;
use base::compat::features::ConsistencyLevel;
use base::util::RepeatedLines;
use store::{Result, StoreError};

/// Connections to each node. Each is served by one task of the driver, so several use more processors.
const CONNECTIONS_PER_NODE: usize = 2;
/// Time limit of one attempt to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit for all nodes to agree about a schema change.
const AGREEMENT_TIMEOUT: Duration = Duration::from_secs(20);
/// Time limit of a schema change, and of a truncate, for which all nodes flush the table first.
const DEFINE_TIMEOUT: Duration = Duration::from_secs(60);
/// Attempts to change the schema if the node is lost meanwhile.
const DEFINE_ATTEMPTS: u32 = 3;
/// Keepalive messages that each connection sends within a request's time limit.
const KEEPALIVES_PER_TIMEOUT: u32 = 5;
/// A node that does not answer a keepalive message within the request's time limit divided by this is considered lost.
/// So requests to a frozen node have time left for another node.
const KEEPALIVE_SHARE: u32 = 2;
/// Lower limit of both times: a busy node may answer late.
const KEEPALIVE_MIN: Duration = Duration::from_secs(2);
/// Limit of the gateway's own prepared statements.
const OWN_STATEMENTS_MAX: usize = 64;

/// A connection to the cluster.
#[derive(Debug)]
pub struct Link {
    /// The driver's connections to all nodes.
    pub session: Session,
    /// Limits the requests that are sent at the same time.
    pub gate: Gate,
    /// Time limit of a request.
    request_timeout: Duration,
    /// Counts the answers of the nodes.
    pub(super) attempts: Arc<AttemptCounts>,
    /// Requests that no node has answered within the time limit.
    pub(super) timed_out: AtomicU64,
    /// Counts equal errors of requests instead of logging each.
    failures: Arc<RepeatedLines>,
    /// The gateway's own prepared statements, by their texts.
    own_statements: Mutex<HashMap<String, PreparedStatement>>,
}

impl Link {
    /// Connects once.
    ///
    /// # Errors
    /// `Unavailable` if a later attempt may succeed, `Mismatch` if the configuration must be changed.
    pub async fn open(options: &ClusterOptions) -> Result<Link> {
        let mut policy = DefaultPolicy::builder().token_aware(true);
        if let Some(data_center) = &options.local_data_center {
            policy = policy.prefer_datacenter(data_center.clone()).permit_dc_failover(false);
        }
        let attempts = Arc::new(AttemptCounts::default());
        let profile = ExecutionProfile::builder()
            .load_balancing_policy(Arc::new(ReplicaOrder::new(
                policy.build(),
                options.local_data_center.clone(),
                attempts.clone(),
            )))
            .retry_policy(Arc::new(Retries::default()))
            .request_timeout(Some(options.request_timeout))
            .build();
        let timeout = options.request_timeout;
        let mut builder = SessionBuilder::new()
            .known_nodes(options.contact_points.iter().map(|point| with_port(point)))
            .default_execution_profile_handle(profile.into_handle())
            .connection_timeout(CONNECT_TIMEOUT)
            .keepalive_interval((timeout / KEEPALIVES_PER_TIMEOUT).max(KEEPALIVE_MIN))
            .keepalive_timeout((timeout / KEEPALIVE_SHARE).max(KEEPALIVE_MIN))
            .schema_agreement_timeout(AGREEMENT_TIMEOUT)
            .fetch_schema_metadata(true);
        if let Some(connections) = std::num::NonZeroUsize::new(CONNECTIONS_PER_NODE) {
            builder = builder.pool_size(PoolSize::PerHost(connections));
        }
        if let Some((user, password)) = &options.credentials {
            builder = builder.user(user, password.reveal());
        }
        if let Some(tls) = &options.tls {
            builder = tls::encrypt(builder, tls)?;
        }
        let session = builder.build().await.map_err(|error| of_connecting(&error, options.tls.is_some()))?;
        let link = Link {
            session,
            gate: Gate::new(options.requests_max, timeout),
            request_timeout: timeout,
            attempts,
            timed_out: AtomicU64::new(0),
            failures: Arc::default(),
            own_statements: Mutex::default(),
        };
        link.check_data_center(options)?;
        Ok(link)
    }

    fn check_data_center(&self, options: &ClusterOptions) -> Result<()> {
        let Some(wanted) = &options.local_data_center else { return Ok(()) };
        let state = self.session.get_cluster_state();
        let mut seen: Vec<&str> =
            state.get_nodes_info().iter().filter_map(|node| node.datacenter.as_deref()).collect();
        if seen.contains(&wanted.as_str()) {
            return Ok(());
        }
        seen.sort_unstable();
        seen.dedup();
        Err(StoreError::Mismatch(format!(
            "the cluster has no data centre {wanted:?}; it has {}",
            if seen.is_empty() { "none".to_owned() } else { seen.join(", ") }
        )))
    }

    /// Prepares a statement, within the time limit of a request. The driver has no limit of its own here, and waits for
    /// all nodes.
    pub async fn prepare(&self, statement: impl Into<Statement>) -> Result<PreparedStatement> {
        let prepared = tokio::time::timeout(self.request_timeout, self.session.prepare(statement)).await;
        prepared.map_err(|_| self.timed_out())?.map_err(error::of_prepare)
    }

    /// Returns the prepared statement of a shape for a table. If it is not prepared yet, one request prepares it and others
    /// wait.
    pub async fn prepared(&self, table: &PreparedTable, shape: StatementShape) -> Result<PreparedStatement> {
        let known = || table.prepared.read().get(&shape).cloned();
        if let Some(statement) = known() {
            return Ok(statement);
        }
        let preparing = tokio::time::timeout(self.request_timeout, table.preparing.lock()).await;
        let _preparing = preparing.map_err(|_| self.timed_out())?;
        if let Some(statement) = known() {
            return Ok(statement);
        }
        let mut statement = self.prepare(shape.text(table)).await?;
        statement.set_is_idempotent(shape.is_idempotent(table));
        table.prepared.write().insert(shape, statement.clone());
        Ok(statement)
    }

    /// Converts the error of a request, and logs it if the client could not have avoided it. A Thrift client gets a
    /// TimedOutException without text if replicas have failed, so only the log says why.
    pub(super) fn failed(&self, error: ExecutionError) -> StoreError {
        if matches!(error, ExecutionError::RequestTimeout(_)) {
            self.timed_out.fetch_add(1, Ordering::Relaxed);
        }
        let text = error.to_string();
        let converted = error::of_execution(error);
        let is_of_cluster = matches!(
            converted,
            StoreError::TimedOut(_)
                | StoreError::Unavailable { .. }
                | StoreError::Overloaded(_)
                | StoreError::Io(_)
        );
        // Numbers and names of nodes, which differ, follow the first colon or parenthesis.
        let kind = text.split(['(', ':']).next().unwrap_or_default();
        if is_of_cluster && !self.failures.is_counted(&format!("a request to the cluster failed: {kind}")) {
            tracing::warn!("a request to the cluster failed: {text}");
        }
        converted
    }

    /// Returns the error for a request that exceeded its time limit.
    pub fn timed_out(&self) -> StoreError {
        StoreError::TimedOut(format!(
            "the cluster has not answered within {} ms",
            self.request_timeout.as_millis()
        ))
    }

    /// Returns the time limit of a request.
    pub fn request_timeout(&self) -> Duration {
        self.request_timeout
    }

    /// Returns how many rows one request may read or write concurrently, so that it cannot use all places of the gate.
    pub fn rows_at_once(&self) -> usize {
        CLUSTER_ROWS_AT_ONCE.min(self.gate.requests_max()).max(1)
    }

    /// Runs a writing statement.
    pub async fn run(
        &self,
        table: &PreparedTable,
        shape: StatementShape,
        values: DriverValues,
        consistency: ConsistencyLevel,
    ) -> Result<()> {
        let mut statement = self.prepared(table, shape).await?;
        statement.set_consistency(level(consistency));
        let retries = Retries::of_write();
        statement.set_retry_policy(Some(Arc::new(retries.clone())));
        let _place = self.gate.pass().await?;
        let done = self.session.execute_unpaged(&statement, values).await;
        done.map_err(|error| retries.error_of_write(self.failed(error)))?;
        Ok(())
    }

    /// Runs a batch of statements without conditions.
    pub async fn run_batch(&self, batch: Batch, values: Vec<DriverValues>) -> Result<()> {
        self.send_batch(batch, values, Retries::of_write()).await?;
        Ok(())
    }

    async fn send_batch(
        &self,
        mut batch: Batch,
        values: Vec<DriverValues>,
        retries: Retries,
    ) -> Result<QueryResult> {
        batch.set_retry_policy(Some(Arc::new(retries.clone())));
        let _place = self.gate.pass().await?;
        let done = self.session.batch(&batch, values).await;
        done.map_err(|error| retries.error_of_write(self.failed(error)))
    }

    /// Reads one page. Returns its rows, and the state for the next page.
    pub async fn page(
        &self,
        statement: &PreparedStatement,
        values: &DriverValues,
        from: PagingState,
    ) -> Result<(QueryRowsResult, Option<PagingState>)> {
        let _place = self.gate.pass().await?;
        let read = self.session.execute_single_page(statement, values, from).await;
        let (result, next) = read.map_err(|error| self.failed(error))?;
        let rows = page_of(result)?;
        let next = match next {
            PagingStateResponse::HasMorePages { state } => Some(state),
            PagingStateResponse::NoMorePages => None,
        };
        Ok((rows, next))
    }

    /// Runs a conditional batch. Returns whether it was applied.
    pub async fn transact(&self, batch: Batch, values: Vec<DriverValues>) -> Result<bool> {
        let answer = self.send_batch(batch, values, Retries::default()).await?;
        all(&page_of(answer)?).map(is_applied)
    }

    /// Returns the Java class name of the cluster's partitioner.
    pub async fn partitioner_class(&self) -> Result<String> {
        let rows = self.ask("SELECT partitioner FROM system.local", DriverValues::default()).await?;
        Ok(String::from_utf8_lossy(&first(rows).unwrap_or_default()).into_owned())
    }

    /// Returns whether the contact point is a thriftstore: it derives the id of its host from its address, as a UUID of
    /// version 3, and nodes of Cassandra have random ids of version 4.
    pub async fn is_thriftstore(&self) -> Result<bool> {
        let rows = self.ask("SELECT host_id FROM system.local", DriverValues::default()).await?;
        let id = first(rows).and_then(|id| uuid::Uuid::from_slice(&id).ok());
        Ok(id.is_some_and(|id| id.get_version() == Some(uuid::Version::Md5)))
    }

    /// Logs a warning if a node has the defective release.
    pub(super) async fn warn_of_release(&self) -> Result<()> {
        if self.of_nodes("release_version").await?.iter().any(|version| version == DEFECTIVE_VERSION) {
            tracing::warn!(
                "a node of the cluster has Cassandra 5.0.5, in which some scans fail: use 5.0.6 or later"
            );
        }
        Ok(())
    }

    /// Runs one of the gateway's own statements at QUORUM, and returns its rows.
    pub async fn ask(&self, text: &str, values: DriverValues) -> Result<Vec<Vec<Field>>> {
        self.ask_at(text, values, Consistency::Quorum).await
    }

    /// Runs one of the gateway's own statements at a consistency level. A read at `Serial` completes unfinished
    /// transactions and sees their result.
    pub async fn ask_at(
        &self,
        text: &str,
        values: DriverValues,
        consistency: Consistency,
    ) -> Result<Vec<Vec<Field>>> {
        let mut statement = self.own_statement(text).await?;
        statement.set_consistency(consistency);
        statement.set_serial_consistency(Some(SerialConsistency::Serial));
        let _place = self.gate.pass().await?;
        let done = self.session.execute_unpaged(&statement, values).await;
        let result = done.map_err(|error| self.failed(error))?;
        if result.is_rows() { all(&page_of(result)?) } else { Ok(Vec::new()) }
    }

    /// Prepares one of the gateway's own statements, or returns the prepared one. The statement must be idempotent.
    /// There are few of them, and some run every second.
    pub async fn own_statement(&self, text: &str) -> Result<PreparedStatement> {
        if let Some(known) = self.own_statements.lock().get(text) {
            return Ok(known.clone());
        }
        let mut statement = self.prepare(text).await?;
        statement.set_is_idempotent(true);
        let mut known = self.own_statements.lock();
        if known.len() >= OWN_STATEMENTS_MAX {
            known.clear();
        }
        known.insert(text.to_owned(), statement.clone());
        Ok(statement)
    }

    /// Changes the cluster's schema, and waits until all live nodes agree. The statement must be idempotent.
    pub async fn define(&self, text: &str) -> Result<()> {
        let _place = self.gate.pass().await?;
        let mut attempt = 1;
        loop {
            match self.define_once(text).await {
                // It is unknown whether the lost node has made the change. The next node must know the current schema
                // before it repeats it.
                Err(StoreError::TimedOut(why)) if attempt < DEFINE_ATTEMPTS => {
                    tracing::warn!("a change of the cluster's schema is repeated: {why}");
                    let agreed = self.session.await_schema_agreement().await;
                    agreed.map_err(|error| error::of_agreement(&error))?;
                }
                outcome => return outcome,
            }
            attempt += 1;
        }
    }

    async fn define_once(&self, text: &str) -> Result<()> {
        tracing::debug!("{text}");
        let mut statement = Statement::new(text);
        statement.set_request_timeout(Some(DEFINE_TIMEOUT.max(self.request_timeout)));
        self.session.query_unpaged(statement, ()).await.map_err(error::of_execution)?;
        Ok(())
    }

    /// Truncates a table, which requires all nodes.
    pub async fn truncate(&self, table: &str) -> Result<()> {
        let _place = self.gate.pass().await?;
        self.define_once(&format!("TRUNCATE {table}")).await
    }
}

/// Returns the rows of a result.
///
/// # Errors
/// `Io` if it has no rows.
pub(super) fn page_of(result: QueryResult) -> Result<QueryRowsResult> {
    result.into_rows_result().map_err(|error| StoreError::Io(error.to_string()))
}

/// Returns a contact point with a port.
fn with_port(point: &str) -> String {
    let has_port = match point.rsplit_once(':') {
        // An IPv6 address has colons.
        Some((host, port)) => !host.contains(':') && !port.is_empty() || host.ends_with(']'),
        None => false,
    };
    if has_port {
        point.to_owned()
    } else if point.contains(':') && !point.starts_with('[') {
        format!("[{point}]:{}", ClusterOptions::PORT)
    } else {
        format!("{point}:{}", ClusterOptions::PORT)
    }
}

/// Converts a consistency level.
pub(super) fn level(consistency: ConsistencyLevel) -> Consistency {
    match consistency {
        ConsistencyLevel::Zero | ConsistencyLevel::Any => Consistency::Any,
        ConsistencyLevel::One => Consistency::One,
        ConsistencyLevel::Two => Consistency::Two,
        ConsistencyLevel::Three => Consistency::Three,
        ConsistencyLevel::Quorum => Consistency::Quorum,
        ConsistencyLevel::All => Consistency::All,
        ConsistencyLevel::DcQuorum | ConsistencyLevel::LocalQuorum => Consistency::LocalQuorum,
        ConsistencyLevel::DcQuorumSync | ConsistencyLevel::EachQuorum => Consistency::EachQuorum,
        ConsistencyLevel::LocalOne => Consistency::LocalOne,
        ConsistencyLevel::Serial => Consistency::Serial,
        ConsistencyLevel::LocalSerial => Consistency::LocalSerial,
    }
}

/// Returns the serial consistency level of a conditional update.
pub(super) fn serial_level(consistency: ConsistencyLevel) -> SerialConsistency {
    match consistency {
        ConsistencyLevel::LocalSerial => SerialConsistency::LocalSerial,
        _ => SerialConsistency::Serial,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contact_points_have_a_port() {
        for (point, expected) in [
            ("db1", "db1:9042"),
            ("db1:9142", "db1:9142"),
            ("10.0.0.1", "10.0.0.1:9042"),
            ("::1", "[::1]:9042"),
            ("[::1]", "[::1]:9042"),
            ("[::1]:9142", "[::1]:9142"),
        ] {
            assert_eq!(with_port(point), expected);
        }
    }
}
