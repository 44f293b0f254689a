//! The SSTables of real old servers: their rows, and damage.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod by_key;
#[path = "../support/chance.rs"]
mod chance;
mod contents;
mod damage;
mod damaged_import;
mod dry_run;
mod fixture;
mod import;
mod import_targets;
mod misfits;
mod random_damage;
mod rows;
mod schema;
mod shown;
mod undefined_families;
mod variants;
mod whole_import;
mod without_thrift;
mod written;
