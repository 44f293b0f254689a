//! The way to the cluster: the driver's session behind the gate.

use std::sync::Arc;
use std::time::Duration;

use scylla::client::PoolSize;
use scylla::client::execution_profile::ExecutionProfile;
use scylla::client::session::Session;
use scylla::client::session_builder::SessionBuilder;
use scylla::policies::load_balancing::DefaultPolicy;
use scylla::response::query_result::{QueryResult, QueryRowsResult};
use scylla::response::{PagingState, PagingStateResponse};
use scylla::statement::batch::Batch;
use scylla::statement::prepared::PreparedStatement;
use scylla::statement::{Consistency, SerialConsistency};

use super::connect_error::of_connecting;
use super::error;
use super::gate::Gate;
use super::options::ClusterOptions;
use super::shape::Shape;
use super::table::Table;
use super::tls;
use super::values::Values;
use crate::model::ConsistencyLevel;
use crate::storage::StoreError;

/// Connections to each node. One is one task of the driver; more of them use more processors.
const CONNECTIONS_PER_NODE: usize = 2;
/// How long one attempt to connect may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a change of the schema may take to reach all nodes.
const AGREEMENT_TIMEOUT: Duration = Duration::from_secs(30);

/// A connection to the cluster.
#[derive(Debug)]
pub struct Link {
    pub session: Session,
    pub gate: Gate,
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
            .request_timeout(Some(options.request_timeout))
            .build();
        let mut builder = SessionBuilder::new()
            .known_nodes(options.contact_points.iter().map(|point| with_port(point)))
            .default_execution_profile_handle(profile.into_handle())
            .connection_timeout(CONNECT_TIMEOUT)
            .schema_agreement_timeout(AGREEMENT_TIMEOUT)
            .fetch_schema_metadata(true);
        if let Some(connections) = std::num::NonZeroUsize::new(CONNECTIONS_PER_NODE) {
            builder = builder.pool_size(PoolSize::PerHost(connections));
        }
        if let Some((user, password)) = &options.credentials {
            builder = builder.user(user, password);
        }
        if let Some(tls) = &options.tls {
            builder = builder.tls_context(Some(Arc::new(tls::client_config(tls)?)));
        }
        let session = builder.build().await.map_err(|error| of_connecting(&error, options.tls.is_some()))?;
        let link = Link { session, gate: Gate::new(options.requests_max, options.request_timeout) };
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

    /// Runs a statement whose answer is of no interest.
    pub async fn run(
        &self,
        table: &Table,
        (shape, values): (Shape, Values),
        consistency: ConsistencyLevel,
    ) -> Result<(), StoreError> {
        let mut statement = table.prepared(&self.session, shape).await?;
        statement.set_consistency(level(consistency));
        let _place = self.gate.pass().await?;
        self.session.execute_unpaged(&statement, values).await.map_err(error::of_execution)?;
        Ok(())
    }

    /// Runs a batch of statements.
    pub async fn run_batch(&self, batch: &Batch, values: Vec<Values>) -> Result<QueryResult, StoreError> {
        let _place = self.gate.pass().await?;
        self.session.batch(batch, values).await.map_err(error::of_execution)
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
        let rows = result.into_rows_result().map_err(|error| StoreError::Io(error.to_string()))?;
        let next = match next {
            PagingStateResponse::HasMorePages { state } => Some(state),
            PagingStateResponse::NoMorePages => None,
        };
        Ok((rows, next))
    }

    /// Runs a statement of text without values, such as a change of the schema, and answers with its rows.
    pub async fn ask(&self, text: &str, values: Values) -> Result<Option<QueryRowsResult>, StoreError> {
        let _place = self.gate.pass().await?;
        let mut statement = self.session.prepare(text).await.map_err(error::of_prepare)?;
        statement.set_consistency(Consistency::Quorum);
        statement.set_serial_consistency(Some(SerialConsistency::Serial));
        let result = self.session.execute_unpaged(&statement, values).await.map_err(error::of_execution)?;
        if !result.is_rows() {
            return Ok(None);
        }
        result.into_rows_result().map(Some).map_err(|error| StoreError::Io(error.to_string()))
    }

    /// Changes the cluster's schema, and waits until all its nodes agree about it.
    pub async fn define(&self, text: &str) -> Result<(), StoreError> {
        let _place = self.gate.pass().await?;
        tracing::debug!("{text}");
        self.session.query_unpaged(text, ()).await.map_err(error::of_execution)?;
        Ok(())
    }
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
