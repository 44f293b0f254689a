//! `system.local` and `system.peers`: the node, and its peers: there are none.

use std::net::{IpAddr, Ipv4Addr};

use md5::{Digest, Md5};

use super::row::RowBuilder;
use crate::QueryState;
use base::compat::features::api_version;

/// The port between nodes, which this server does not use.
const STORAGE_PORT: i32 = 7000;

pub(super) fn local(state: &QueryState<'_>) -> RowBuilder {
    let database = state.database;
    let (token, endpoint) = database.token_and_endpoint();
    let reported = state.reported;
    let node = endpoint.parse().ok().filter(|address: &IpAddr| !address.is_unspecified());
    let node = node.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
    let host = uuid::Builder::from_md5_bytes(Md5::digest(format!("{endpoint} {token}")).into()).into_uuid();
    let schema = database.schema_version().parse::<uuid::Uuid>().unwrap_or_default();
    let release = state.behaviour.release.min(reported.release_of_settings());
    RowBuilder::default()
        .text("key", "local")
        .text("bootstrapped", "COMPLETED")
        .inet("broadcast_address", node)
        .text("cluster_name", database.cluster_name())
        .text("cql_version", reported.cql_version())
        .text("data_center", "datacenter1")
        .int("gossip_generation", 1)
        .bytes("host_id", host.as_bytes().to_vec())
        .inet("listen_address", node)
        .int("broadcast_port", STORAGE_PORT)
        .int("listen_port", STORAGE_PORT)
        .text("native_protocol_version", reported.native_protocol_version().to_string())
        .text("partitioner", database.partitioner().class_name())
        .text("rack", "rack1")
        .text("release_version", reported.release_version())
        .inet("rpc_address", reported.rpc_address().unwrap_or(node))
        .int("rpc_port", i32::from(reported.rpc_port()))
        .bytes("schema_version", schema.as_bytes().to_vec())
        .text("thrift_version", api_version(release))
        .texts("tokens", &[token])
}
