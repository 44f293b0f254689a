//! Records the traffic of applications that use Cassandra, and uses recordings: replays, shadows, tools.
//!
//! ```text
//!   client ----> recorder ----> server        record: bytes pass unchanged, and copies of them are decoded
//!                   |
//!                day.rec                      file: events in blocks, each with its checksums and an index
//!                   |
//!      +------------+------------+
//!   redact       tools        replay ----> another server
//!   hashes for   print,          |
//!   what is      filter,      compare         the answers of both servers
//!   secret       count           |
//!                             report          the calls whose answers differ, by cause
//! ```
//!
//! A [`Recording`] gives the [`Event`]s of a file one by one: connections, requests, replies. A
//! [`Conversation`](call::Conversation) decodes the requests and replies of one connection, of Thrift as a
//! [`ThriftMessage`], which is a tree of [`Value`]s without the interface. [`Recorder`](record::Recorder) writes a
//! recording, [`Replay`](replay::Replay) sends its calls to another server, and [`Shadow`](shadow::Shadow) does both at
//! once. A [`Report`](report::Report) has the differences, a [`Redactor`](redact::Redactor) replaces data by hashes.
//!
//! ```no_run
//! # fn main() -> Result<(), traffic::TrafficError> {
//! for event in traffic::Recording::open("day.rec".as_ref())? {
//!     let event = event?;
//!     println!("{} us: connection {}", event.at_us, event.connection);
//! }
//! # Ok(())
//! # }
//! ```

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

pub mod call;
mod compare;
#[cfg(test)]
#[path = "../../../tests/support/corpus.rs"]
mod corpus;
mod error;
mod event;
mod family_names;
pub mod file;
pub mod handover;
mod json_lines;
pub mod limits;
mod message;
mod native_head;
mod native_message;
mod newest;
pub mod queue;
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
