//! The test double: a server in memory that tests control.
//!
//! ```text
//!   a test            ----  HTTP  --->  control   the control API: resets, snapshots, sandboxes, loads, dumps, the clock,
//!                                                 faults
//!   a test in Rust    ---- a call --->  testing   a server within the test's process
//!                                         |
//!   the application   ----  CQL,  --->  server    as any other: the double changes its database, its clock, its replies
//!     under test           Thrift
//! ```
//!
//! | type | what it is |
//! |---|---|
//! | [`control::Control`] | the operations on a server, without HTTP |
//! | [`control::router`], [`control::control_service`] | the same over HTTP: the paths, and a port |
//! | [`control::ControlClient`] | a client of that port |
//! | [`control::Sandboxes`] | further databases of the same process, for tests that run at the same time |
//! | [`testing::Server`] | a server within a test |

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

pub mod control;
pub mod limits;
pub mod testing;
