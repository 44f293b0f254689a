//! HTTP on the sockets of `net`: each port that speaks HTTP has routes of axum, and an [`HttpService`] that serves them on
//! each connection, within its [`HttpLimits`].
//!
//! ```text
//!   net       accepts a socket, and hands it to a ConnectionHandler
//!     HttpService          HTTP/1.1: limits of heads and times, shutdown, places that others need
//!       HttpConnection     the connection of a request, among the request's extensions
//!       HostNames          the Host header must name this server: 421 otherwise, against DNS rebinding
//!       axum::Router       paths, handlers, and layers that check a request before its handler
//!         AccessToken      Authorization: Bearer TOKEN
//! ```
//!
//! The status port and the page of a shadow are only read, by people and probes. Both are a [`ReadOnlyPort`]:
//!
//! ```text
//!   GET /health, with the token      the handler of the route
//!   GET /health, without it          401
//!   POST /health                     405
//!   GET /other                       404
//! ```

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

mod access_token;
mod arriving_body;
mod connection;
mod host;
mod read_only_port;
mod service;

pub use access_token::{AccessToken, NEEDS_TOKEN, is_same};
pub use connection::HttpConnection;
pub use host::HostNames;
pub use read_only_port::ReadOnlyPort;
pub use service::{HttpLimits, HttpService, HttpTimes};
