//! `system.local` and `system.peers`: the node, which has no peers.

use std::net::IpAddr;

use md5::{Digest, Md5};

use super::row::Row;
use super::{map_of, native, set_of, table};
use crate::cql::QueryState;
use crate::db::api_version;
use crate::schema::TableDef;
use crate::util::Release;

pub fn local_table() -> TableDef {
    let texts = [
        "bootstrapped",
        "cluster_name",
        "cql_version",
        "data_center",
        "native_protocol_version",
        "partitioner",
        "rack",
        "release_version",
        "thrift_version",
    ];
    let others = [
        ("broadcast_address", native("inet")),
        ("gossip_generation", native("int")),
        ("host_id", native("uuid")),
        ("listen_address", native("inet")),
        ("rpc_address", native("inet")),
        ("schema_version", native("uuid")),
        ("tokens", set_of("text")),
        ("truncated_at", map_of("uuid", "blob")),
    ];
    table(("key", "text"), &[], texts.map(|name| (name, native("text"))).into_iter().chain(others))
}

pub fn peers_table() -> TableDef {
    let others = [
        ("data_center", native("text")),
        ("host_id", native("uuid")),
        ("preferred_ip", native("inet")),
        ("rack", native("text")),
        ("release_version", native("text")),
        ("rpc_address", native("inet")),
        ("schema_version", native("uuid")),
        ("tokens", set_of("text")),
    ];
    table(("peer", "inet"), &[], others)
}

/// The last release of a line, and the CQL that it speaks.
fn versions(release: Release) -> (&'static str, &'static str) {
    match release {
        release if release < Release::V2_0 => ("1.2.19", "3.0.5"),
        Release::V2_0 => ("2.0.17", "3.1.7"),
        _ => ("2.1.22", "3.2.1"),
    }
}

pub fn local(state: &QueryState<'_>) -> Row {
    let database = state.database;
    let (token, endpoint) = database.token_and_endpoint();
    let (release, cql) = versions(state.behaviour.release);
    let address = match endpoint.parse() {
        Ok(IpAddr::V4(address)) => address.octets().to_vec(),
        Ok(IpAddr::V6(address)) => address.octets().to_vec(),
        Err(_) => vec![127, 0, 0, 1],
    };
    let host = uuid::Builder::from_md5_bytes(Md5::digest(format!("{endpoint} {token}")).into()).into_uuid();
    let schema = database.schema_version().parse::<uuid::Uuid>().unwrap_or_default();
    Row::default()
        .text("key", "local")
        .text("bootstrapped", "COMPLETED")
        .bytes("broadcast_address", address.clone())
        .text("cluster_name", database.cluster_name())
        .text("cql_version", cql)
        .text("data_center", "datacenter1")
        .int("gossip_generation", 1)
        .bytes("host_id", host.as_bytes().to_vec())
        .bytes("listen_address", address.clone())
        .text("native_protocol_version", "3")
        .text("partitioner", database.partitioner_name())
        .text("rack", "rack1")
        .text("release_version", release)
        .bytes("rpc_address", address)
        .bytes("schema_version", schema.as_bytes().to_vec())
        .text("thrift_version", api_version(state.behaviour.release))
        .texts("tokens", &[token])
}
