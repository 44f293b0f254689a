//! Code that the tests share: starting the server, Thrift and native clients that can send anything, the arguments of
//! calls, and recordings.

// Each test binary includes this module and uses a part of it.
#![allow(dead_code, unused_imports, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod calls;
pub mod certificates;
pub mod chance;
pub mod client;
pub mod first;
pub mod forward;
pub mod in_process;
pub mod native;
pub mod native_body;
pub mod recording;
pub mod server;
pub mod serving;
pub mod value;

pub use chance::Chance;

/// Returns the place of a file of the repository.
pub fn repository(path: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}
