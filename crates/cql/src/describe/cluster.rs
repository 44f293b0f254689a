//! DESCRIBE CLUSTER.

use bytes::Bytes;

use super::spec;
use crate::system::is_system;
use crate::{Outcome, QueryState, Result, ResultSet};
use base::marshal::{CollectionForm, CqlType, Native, list_to_bytes, map_to_bytes};

/// The port between nodes, which this server does not use.
const STORAGE_PORT: u16 = 7000;

/// Returns the cluster's name, partitioner and snitch, and the owners of the ring if the session uses a keyspace.
pub(super) fn cluster(state: &QueryState<'_>) -> Result<Outcome> {
    let database = state.database;
    let text = || CqlType::Native(Native::Text);
    let partitioner = database.partitioner().class_name();
    let partitioner = partitioner.strip_prefix("org.apache.cassandra.dht.").unwrap_or(partitioner);
    let properties =
        [("cluster", database.cluster_name()), ("partitioner", partitioner), ("snitch", "SimpleSnitch")];
    let mut columns: Vec<_> = properties.iter().map(|(name, _)| spec(name, text())).collect();
    let mut row: Vec<_> =
        properties.iter().map(|(_, value)| Some(Bytes::copy_from_slice(value.as_bytes()))).collect();
    if state.keyspace.is_some_and(|keyspace| !is_system(keyspace)) {
        let endpoints = CqlType::List { element: Box::new(text()), is_frozen: true };
        let of_ring = CqlType::Map { key: Box::new(text()), value: Box::new(endpoints), is_frozen: false };
        columns.push(spec("range_ownership", of_ring));
        let (token, endpoint) = database.token_and_endpoint();
        // The format in which Java prints an address without a host name.
        let endpoint = Bytes::from(format!("/{endpoint}:{STORAGE_PORT}"));
        let endpoints = list_to_bytes(&[endpoint], CollectionForm::Long);
        row.push(Some(map_to_bytes(&[(Bytes::from(token), endpoints)], CollectionForm::Long)));
    }
    Ok(Outcome::Rows(ResultSet { columns: columns.into(), rows: vec![row], paging_state: None }))
}
