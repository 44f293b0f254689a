//! One client must not stop the others: large requests, crowds of connections, hostile bytes, little memory.

mod crowds;
mod heavy_requests;
mod hostile;
mod memory;
mod message_memory;
mod native_hostile;
mod scarcity;
#[path = "../support/skip.rs"]
mod skip;
#[path = "../support/mod.rs"]
mod support;
