//! Sockets of any protocol: listeners, connections, their limits of memory and pace, TLS, and a clean shutdown.
//!
//! ```text
//!   Listener      accepts a socket; refuses it if an Admission has no room
//!     Encryption  the TLS handshake, or detection of clients without TLS
//!     ConnectionHandler::serve(Client)     the protocol, which knows what the bytes mean
//!       ClientLink    reads into one buffer, writes replies; takes memory for both from the MemoryBudget first
//!   Shutdown      tells every connection to finish, and waits
//! ```

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

mod admission;
mod busy_poll;
mod client_link;
mod client_stream;
mod close_request;
mod connection_limits;
mod connection_metrics;
mod connection_table;
mod connections;
mod encryption;
mod handler;
pub mod limits;
mod listener;
mod maybe_tls;
mod memory_budget;
mod pace;
mod server_trust;
mod short_turns;
mod shutdown;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "without_tls.rs"]
mod tls;
mod tls_error;
mod turn;
mod upstream;

pub use admission::{Admission, OpenConnections};
pub use busy_poll::BusyPoll;
pub use client_link::{ClientLink, Expected, HeldBytes, LinkError, Missing, enlarge};
pub use client_stream::{BUFFER_BYTES, ClientStream, give_back};
pub use close_request::{CloseRequest, Scarcity};
pub use connection_limits::ConnectionLimits;
pub use connection_metrics::ConnectionMetrics;
pub use connection_table::{ClientKind, ConnectedClient, ConnectionEntry, ConnectionTable};
pub use connections::{ConnectionPlace, Connections};
pub use encryption::Encryption;
pub use handler::{Client, ConnectionEnd, ConnectionHandler, Conversation};
pub use listener::{ListenError, Listener, check_address, keep_alive};
pub use maybe_tls::MaybeTls;
pub use memory_budget::{HoldError, MemoryBudget, Share};
pub use pace::PaceLimits;
pub use server_trust::ServerTrust;
pub use short_turns::request_short_slices;
pub use shutdown::{Shutdown, ShutdownSignal};
pub use tls::{ClientTls, Connector, ServerTls};
pub use tls_error::{HandshakeError, TlsError};
pub use turn::let_others_go_first;
pub use upstream::{ServerStream, Upstream, UpstreamError};
