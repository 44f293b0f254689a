//! Utilities of all layers that are independent of Cassandra's data model: clock, hashes, limits, meters of requests,
//! releases.

pub mod allocation;
pub mod clock;
mod error_text;
mod hex;
mod invisible;
mod java_map;
mod key_hash;
pub mod limits;
mod line_writer;
mod listed;
pub mod meter;
pub mod metrics;
pub mod output;
mod password_file;
pub mod process_memory;
pub mod release;
mod repeated_lines;
mod replaced_file;
mod request_gate;
mod request_log;
mod shared_map;
pub mod spare_memory;
mod split_mix;
mod time_left;
mod vint;
mod white_space;

pub use clock::{Clock, ClockChange, ClockState, system_ms, whole_micros};
pub use error_text::without_statement;
pub use hex::{hex, unhex};
pub use invisible::is_invisible;
pub use java_map::{
    bucket_of_pair, in_buffer_order, in_java_order, in_order_of_options, sort_in_copied_map,
    sort_in_grown_map,
};
pub use key_hash::{KeyHasher, KeyMap};
pub use line_writer::{LineWriter, Rotation};
pub use listed::{counted, listed};
pub use password_file::{Password, password_of};
pub use release::Release;
pub use repeated_lines::RepeatedLines;
pub use replaced_file::{replace_file, sync_name};
pub use request_gate::{Alone, RequestGate, RequestPermit};
pub use request_log::{RequestLog, log_keyspace};
pub use shared_map::{Difference, SharedMap};
pub use split_mix::SplitMix64;
pub use time_left::time_left;
pub use vint::{push_signed_vint, push_vint, take_signed_vint};
pub use white_space::trimmed;
