//! The test double: a server in memory that tests control.
//!
//! ```text
//!   control   the control API: resets, snapshots, sandboxes, loads, dumps, the clock, faults
//!   testing   servers within a test of a Rust program
//! ```

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod control;
pub mod limits;
pub mod testing;
