//! The control API of a server in memory for tests: resets, snapshots, sandboxes, loads, dumps, the clock, and faults.
//!
//! ```text
//!   Control           what the API does, without HTTP; testing::Server uses it, too
//!   Route, routes     the table of routes: method, path, types, handler
//!   openapi           GET /openapi.json, made from the same table
//!   ControlApi        answers a request: limits, replies
//!   ControlService    a connection to the control port: HTTP/1.1, token
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
mod data;
mod dump;
mod error;
mod faults;
mod load;
mod openapi;
mod operations;
mod request_stream;
mod requests;
mod reset;
mod reset_scope;
mod route;
mod routes;
mod sandboxes;
mod service;
mod snapshots;

pub use call::{BodyKind, Call, Input, Json, NoBody};
pub use client::{ControlClient, ControlReply};
pub use client_ports::{ClientAddresses, ClientPorts};
pub use clock::{ClockReply, ClockRequest};
pub use data::{JsonBytes, JsonCell, JsonData, JsonFamily, JsonRow};
pub use error::{ControlError, ErrorKind};
pub use faults::{FaultList, FaultReply};
pub use load::{LoadBody, LoadReply, load};
pub use openapi::document;
pub use operations::{Control, SnapshotLimits};
pub use request_stream::{RequestStream, StreamLine, StreamRequest};
pub use requests::{Expectation, VerifyReply, VerifyRequest};
pub use reset::ResetRequest;
pub use reset_scope::ResetScope;
pub use route::Route;
pub use routes::routes;
pub use sandboxes::{SandboxList, SandboxReply, SandboxRequest, Sandboxes};
pub use service::{ControlApi, ControlService, ControlTimes, ReplyBody};
pub use snapshots::{SnapshotList, SnapshotReply};
