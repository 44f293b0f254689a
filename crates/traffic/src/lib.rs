//! Records the traffic of applications, and uses recordings.
//!
//! `event` defines the contents of a recording, `file` the files in which it is stored, `record` the proxy that
//! records. `value` and `message` decode Thrift messages without their interface; `call` decodes requests and replies
//! of both protocols, and describes their effect. `compare` compares two replies, `redact` replaces what is secret,
//! `replay` sends the calls of a recording to another server. `report` describes how the answers of two servers to the
//! same calls differ.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

pub mod call;
pub mod compare;
#[cfg(test)]
#[path = "../../../tests/support/corpus.rs"]
mod corpus;
mod error;
mod event;
mod family_names;
pub mod file;
mod json_lines;
pub mod limits;
mod message;
mod native_message;
mod readable;
pub mod record;
mod recording;
pub mod redact;
pub mod replay;
pub mod report;
pub mod shadow;
pub mod tools;
mod type_letter;
mod value;

pub use error::TrafficError;
pub use event::{Event, EventKind, FORMAT_VERSION, Header, Loss, LossReason, Protocol, Side};
pub use json_lines::JsonLines;
pub use message::ThriftMessage;
pub use recording::Recording;
pub use value::{
    Fields, Value, ValueError, fields_from_json, fields_to_json, plain_text, read_fields, write_fields,
};
