//! What the tests of the running server share: the server itself, a client that can say anything, the calls of the
//! API by name, and a reader of IDL files.

// Every test file takes what it needs.
#![allow(dead_code, unused_imports, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod calls;
pub mod certificates;
pub mod chance;
pub mod client;
pub mod first;
pub mod forward;
pub mod idl;
pub mod in_process;
pub mod native;
pub mod native_body;
pub mod recording;
pub mod server;
pub mod serving;
pub mod value;

pub use chance::Chance;
