//! The SSTables of real old servers: their rows, and damage.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod contents;
mod damage;
mod fixture;
mod import;
mod rows;
