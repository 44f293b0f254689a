//! Gateways of a real cluster. `tests/cluster/run` starts the cluster and runs these tests.

#[path = "../cluster_support/mod.rs"]
mod cluster_support;
mod copy;
#[path = "../copy_support/mod.rs"]
mod copy_support;
mod cql;
mod differences;
mod faults;
#[path = "../cluster_support/gateway.rs"]
mod gateway;
mod gateways;
mod generations;
mod recordings;
#[path = "../reference_model/mod.rs"]
mod reference_model;
#[cfg(feature = "cluster-tls")]
mod secure;
mod store;
#[path = "../support/mod.rs"]
mod support;
