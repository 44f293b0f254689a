//! Gateways of a real cluster. `tests/cluster/run` starts the cluster and runs these tests.

#[path = "../support/cluster/mod.rs"]
mod cluster_support;
mod copy;
#[path = "../support/copy/mod.rs"]
mod copy_support;
mod cql;
mod differences;
mod faults;
#[path = "../support/cluster/gateway.rs"]
mod gateway;
mod gateways;
mod generations;
mod recordings;
#[path = "../reference_model/mod.rs"]
mod reference_model;
mod scans;
#[cfg(feature = "cluster-tls")]
mod secure;
mod sstables;
mod store;
#[path = "../support/mod.rs"]
mod support;
