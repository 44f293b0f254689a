//! The control API of a test double: resets, snapshots, loads, dumps, and the clock of a server in memory.
//!
//! ```text
//!   Control           what the API does, without HTTP; testing::Server uses it, too
//!   Route, routes     the table of routes: method, path, types, handler
//!   openapi           GET /openapi.json, made from the same table
//!   ControlService    a connection: HTTP/1.1, token, limits, replies
//!   ControlClient     a client of it
//!   ControlError      an error and its HTTP status
//! ```
//!
//! A new request is a function in a file of its own with its types, and a row in `routes.rs`.

mod client;
mod clock;
mod data;
mod dump;
mod error;
mod faults;
mod load;
mod openapi;
mod operations;
mod requests;
mod reset;
mod route;
mod routes;
mod service;
mod snapshots;

pub use client::{ControlClient, ControlReply};
pub use clock::{ClockReply, ClockRequest};
pub use data::{JsonBytes, JsonCell, JsonData, JsonFamily, JsonRow};
pub use error::{ControlError, ErrorKind};
pub use faults::{FaultList, FaultReply};
pub use load::{LoadBody, LoadReply, load};
pub use openapi::document;
pub use operations::{Control, SnapshotLimits};
pub use requests::{Expectation, VerifyReply, VerifyRequest};
pub use reset::{ResetRequest, ResetScope};
pub use route::{BodyKind, Call, Input, Json, NoBody, Route};
pub use routes::routes;
pub use service::{ControlService, ControlTimes};
pub use snapshots::{SnapshotList, SnapshotReply};
