//! Gateways of a cluster, for which the reference model stands in.

mod console;
#[path = "../reference_model/mod.rs"]
mod reference_model;
#[path = "../support/remote/mod.rs"]
mod remote_support;
mod requests;
mod shared_schema;
mod statements;
#[path = "../support/mod.rs"]
mod support;
