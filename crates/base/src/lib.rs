//! The types and utilities that all other crates use.
//!
//! ```text
//!   compat       what differs between releases: rules, texts, features. Nothing else compares releases
//!   marshal      comparators: how names and values are validated, ordered and shown
//!   schema       keyspaces, column families and tables
//!   model        rows, cells, mutations, and the commands of reads
//!   partitioner  tokens and the order of rows in the ring
//!   util         clocks, limits, metrics, the meter of a request
//! ```
//!
//! For example, a write of the column `title` makes a [`model::Mutation`] of a [`schema::CfDef`], whose comparator is a
//! [`marshal::AbstractType`]; the [`partitioner`] places its row, and the rules of [`compat`] say which of two equal
//! timestamps wins.

// `println!` panics if nobody reads any more: `util::output` prints instead.
#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

pub mod compat;
pub mod marshal;
pub mod model;
pub mod partitioner;
pub mod schema;
pub mod util;
