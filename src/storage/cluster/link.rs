//! The way to the cluster: the driver's session behind the gate.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::policies::load_balancing::DefaultPolicy;
use scylla::response::query_result::{QueryResult, QueryRowsResult};
use scylla::response::{PagingState, PagingStateResponse};
use scylla::statement::batch::Batch;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::unprepared::Statement;
use scylla::statement::{Consistency, SerialConsistency};

use super::connect_error::of_connecting;
use super::error;
use super::gate::Gate;
use super::options::ClusterOptions;
use super::retries::Retries;
use super::rows::{Field, all, first, is_applied};
use super::shape::Shape;
use super::table::Table;
use super::tls;
use super::values::Values;
use crate::compat::features::ConsistencyLevel;
use crate::storage::StoreError;
use crate::util::limits::CLUSTER_ROWS_AT_ONCE;

/// Connections to each node. One is one task of the driver; more of them use more processors.
const CONNECTIONS_PER_NODE: usize = 2;
/// How long one attempt to connect may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a change of the schema may take to reach all nodes.
const AGREEMENT_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a node may take to change the schema, or all nodes to empty a table: they flush it first.
const DEFINE_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a change of the schema is tried that is lost with its node.
const DEFINE_ATTEMPTS: u32 = 3;
/// Each connection is asked so many times within a request's time whether its node is there, and the answer may take the
/// second share of it: requests with a node that is frozen have time left to go to another.
const KEEPALIVES_PER_TIMEOUT: u32 = 5;
const KEEPALIVE_SHARE: u32 = 2;
/// A busy node may take this long to say that it is there.
const KEEPALIVE_MIN: Duration = Duration::from_secs(2);
/// Our own statements that are kept prepared.
const OWN_STATEMENTS_MAX: usize = 64;

/// A connection to the cluster.
#[derive(Debug)]
pub struct Link {
    pub session: Session,
    pub gate: Gate,
    /// How long a request may take.
    request_timeout: Duration,
    /// Our own statements, by their texts.
    own_statements: Mutex<HashMap<String, PreparedStatement>>,
}

impl Link {
    /// Connects once. Errors: `Unavailable` when it may be otherwise later, `Mismatch` when it will not.
    pub async fn open(options: &ClusterOptions) -> Result<Link, StoreError> {
        let mut policy = DefaultPolicy::builder().token_aware(true);
        if let Some(data_center) = &options.local_data_center {
            policy = policy.prefer_datacenter(data_center.clone()).permit_dc_failover(false);
        }
        let profile = ExecutionProfile::builder()
            .load_balancing_policy(policy.build())
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
            builder = builder.tls_context(Some(Arc::new(tls::client_config(tls)?)));
        }
        let session = builder.build().await.map_err(|error| of_connecting(&error, options.tls.is_some()))?;
        let link = Link {
            session,
            gate: Gate::new(options.requests_max, timeout),
            request_timeout: timeout,
            own_statements: Mutex::default(),
        };
        link.check_data_center(options)?;
        Ok(link)
    }

    fn check_data_center(&self, options: &ClusterOptions) -> Result<(), StoreError> {
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

    /// Prepares a statement. The driver asks all nodes, and waits for each without a limit.
    pub async fn prepare(&self, statement: impl Into<Statement>) -> Result<PreparedStatement, StoreError> {
        let prepared = tokio::time::timeout(self.request_timeout, self.session.prepare(statement)).await;
        prepared.map_err(|_| self.too_late())?.map_err(error::of_prepare)
    }

    /// A request has taken too long.
    pub fn too_late(&self) -> StoreError {
        StoreError::TimedOut(format!(
            "the cluster has not answered within {} ms",
            self.request_timeout.as_millis()
        ))
    }

    /// How long a request may take.
    pub fn request_timeout(&self) -> Duration {
        self.request_timeout
    }

    /// How many rows one request may read or write side by side. One alone must not fill the gate.
    pub fn rows_at_once(&self) -> usize {
        CLUSTER_ROWS_AT_ONCE.min(self.gate.requests_max()).max(1)
    }

    /// Writes by a statement.
    pub async fn run(
        &self,
        table: &Table,
        (shape, values): (Shape, Values),
        consistency: ConsistencyLevel,
    ) -> Result<(), StoreError> {
        let mut statement = table.prepared(self, shape).await?;
        statement.set_consistency(level(consistency));
        let retries = Retries::default();
        statement.set_retry_policy(Some(Arc::new(retries.clone())));
        let _place = self.gate.pass().await?;
        let done = self.session.execute_unpaged(&statement, values).await;
        done.map_err(|error| retries.told(error::of_execution(error)))?;
        Ok(())
    }

    /// Runs a batch of statements.
    pub async fn run_batch(&self, mut batch: Batch, values: Vec<Values>) -> Result<QueryResult, StoreError> {
        let retries = Retries::default();
        batch.set_retry_policy(Some(Arc::new(retries.clone())));
        let _place = self.gate.pass().await?;
        let done = self.session.batch(&batch, values).await;
        done.map_err(|error| retries.told(error::of_execution(error)))
    }

    /// One page of a read, and where the next one begins.
    pub async fn page(
        &self,
        statement: &PreparedStatement,
        values: &Values,
        from: PagingState,
    ) -> Result<(QueryRowsResult, Option<PagingState>), StoreError> {
        let _place = self.gate.pass().await?;
        let read = self.session.execute_single_page(statement, values, from).await;
        let (result, next) = read.map_err(error::of_execution)?;
        let rows = page_of(result)?;
        let next = match next {
            PagingStateResponse::HasMorePages { state } => Some(state),
            PagingStateResponse::NoMorePages => None,
        };
        Ok((rows, next))
    }

    /// Runs a batch on a condition: has it been done?
    pub async fn transact(&self, batch: Batch, values: Vec<Values>) -> Result<bool, StoreError> {
        all(&page_of(self.run_batch(batch, values).await?)?).map(is_applied)
    }

    /// The cluster's partitioner, by its Java class name.
    pub async fn partitioner_class(&self) -> Result<String, StoreError> {
        let rows = self.ask("SELECT partitioner FROM system.local", Values::default()).await?;
        Ok(String::from_utf8_lossy(&first(rows).unwrap_or_default()).into_owned())
    }

    /// Runs a statement of our own, and answers with its rows.
    pub async fn ask(&self, text: &str, values: Values) -> Result<Vec<Vec<Field>>, StoreError> {
        self.ask_at(text, values, Consistency::Quorum).await
    }

    /// The same at a level: a read at `Serial` sees, and ends, what transactions have left half done.
    pub async fn ask_at(
        &self,
        text: &str,
        values: Values,
        consistency: Consistency,
    ) -> Result<Vec<Vec<Field>>, StoreError> {
        let mut statement = self.own_statement(text).await?;
        statement.set_consistency(consistency);
        statement.set_serial_consistency(Some(SerialConsistency::Serial));
        let _place = self.gate.pass().await?;
        let result = self.session.execute_unpaged(&statement, values).await.map_err(error::of_execution)?;
        if result.is_rows() { all(&page_of(result)?) } else { Ok(Vec::new()) }
    }

    /// A statement of our own, which must come to the same when it is run twice. There are few, and gateways ask with them
    /// each second.
    pub async fn own_statement(&self, text: &str) -> Result<PreparedStatement, StoreError> {
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

    /// Changes the cluster's schema, and waits until all nodes that are there agree about it. The statement must come to
    /// the same when it is run twice.
    pub async fn define(&self, text: &str) -> Result<(), StoreError> {
        let _place = self.gate.pass().await?;
        let mut attempt = 1;
        loop {
            match self.define_once(text).await {
                // The node may have done it or not, or do it later. Another should not do it before it knows.
                Err(StoreError::TimedOut(why)) if attempt < DEFINE_ATTEMPTS => {
                    tracing::warn!("a change of the cluster's schema is tried again: {why}");
                    let agreed = self.session.await_schema_agreement().await;
                    agreed.map_err(|error| error::of_agreement(&error))?;
                }
                outcome => return outcome,
            }
            attempt += 1;
        }
    }

    async fn define_once(&self, text: &str) -> Result<(), StoreError> {
        tracing::debug!("{text}");
        let mut statement = Statement::new(text);
        statement.set_request_timeout(Some(DEFINE_TIMEOUT.max(self.request_timeout)));
        self.session.query_unpaged(statement, ()).await.map_err(error::of_execution)?;
        Ok(())
    }

    /// Empties a table, which takes all nodes.
    pub async fn truncate(&self, table: &str) -> Result<(), StoreError> {
        let _place = self.gate.pass().await?;
        self.define_once(&format!("TRUNCATE {table}")).await
    }
}

/// The rows of an answer. Errors: `Io` where it has none.
pub fn page_of(result: QueryResult) -> Result<QueryRowsResult, StoreError> {
    result.into_rows_result().map_err(|error| StoreError::Io(error.to_string()))
}

/// A contact point with its port.
fn with_port(point: &str) -> String {
    let has_port = match point.rsplit_once(':') {
        // An IPv6 address has colons of its own.
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

/// The consistency level as the cluster calls it.
pub fn level(consistency: ConsistencyLevel) -> Consistency {
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

/// The order that a conditional update takes part in.
pub fn serial_level(consistency: ConsistencyLevel) -> SerialConsistency {
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
