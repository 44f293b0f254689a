//! `thriftstore export`: what other programs read, what an import reads back, and old disks.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod back;
#[path = "../support/copy/mod.rs"]
mod copy_support;
mod data;
mod formats;
mod old_disk;
mod options;
mod server;
#[path = "../support/skip.rs"]
mod skip;
#[path = "../support/mod.rs"]
mod support;
