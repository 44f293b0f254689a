//! The control API of a server in memory for tests: resets, snapshots, sandboxes, loads, dumps, the clock, and faults.
//!
//! ```text
//!   Control           what the API does, without HTTP; testing::Server uses it, too
//!   Route, routes     the table of routes: method, path, types, handler
//!   openapi           GET /openapi.json, made from the same table
//!   router            the paths of the table in axum, for the server and its sandboxes, with a time limit
//!   control_service   the control port: token, limits of connections
//!   ControlClient     a client of it
//!   ControlError      an error and its HTTP status
//! ```
//!
//! A new request is a function in a file of its own with its types, and a row in `routes.rs`.

mod call;
pub mod cassandra_cli;
mod client;
mod client_ports;
mod clock;
mod conditions;
mod content;
mod dump;
mod error;
mod faults;
mod json;
mod load;
mod openapi;
mod operations;
mod request_stream;
mod requests;
mod reset;
mod reset_scope;
mod route;
mod routes;
mod sandbox_calls;
mod sandboxes;
mod service;
mod snapshot_reply;
mod snapshots;

pub use call::{BodyKind, ControlCall, Input, NoBody};
pub use client::{ControlClient, ControlReply};
pub use client_ports::{ClientAddresses, ClientPorts};
pub use clock::{ClockReply, ClockRequest};
pub(crate) use error::Result;
pub use error::{ControlError, ErrorKind};
pub use faults::{FaultList, FaultReply};
pub use json::{Json, Replied};
pub use json_rows::{JsonBytes, JsonCell, JsonData, JsonFamily, JsonRow};
pub use load::{LoadBody, LoadReply, load};
pub use openapi::document;
pub use operations::{Control, SnapshotLimits};
pub use request_stream::{RequestStream, StreamLine, StreamRequest};
pub use requests::{Expectation, VerifyReply, VerifyRequest};
pub use reset::ResetRequest;
pub use reset_scope::ResetScope;
pub use route::{Output, Route, Verb};
pub use routes::routes;
pub use sandbox_calls::SandboxList;
pub use sandboxes::{SandboxReply, SandboxRequest, Sandboxes};
pub use service::{CONTROL_TIMES, control_service, router};
pub use snapshot_reply::SnapshotReply;
pub use snapshots::SnapshotList;
