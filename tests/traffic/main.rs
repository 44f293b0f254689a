//! Recordings of traffic: the recorder before servers of this project, and what uses its files.

mod attacks;
mod by_keyspace;
mod falsifier;
mod judge;
mod moving;
mod queue;
mod record;
mod recorder;
mod redact;
mod replay;
mod shadow;
#[path = "../support/mod.rs"]
mod support;
mod tools;
