//! Replays recorded calls and the answers of real Cassandra servers.

mod list;
mod of_model;
mod of_server;
#[path = "../reference_model/mod.rs"]
mod reference_model;
#[path = "../support/mod.rs"]
mod support;
