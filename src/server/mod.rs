//! Serves sockets: listeners, connections, their limits, TLS, and a clean shutdown.

mod admission;
mod busy_poll;
mod client_link;
mod client_stream;
mod close_request;
mod connection;
mod connection_limits;
mod connections;
mod encryption;
mod handler;
mod listener;
mod memory_budget;
mod native_answering;
mod native_connection;
mod pace;
mod repeated_lines;
mod short_turns;
mod shutdown;
mod status;
mod tls;
mod turn;

pub use admission::Admission;
pub use busy_poll::BusyPoll;
pub use client_stream::ClientStream;
pub use close_request::{CloseRequest, Scarcity};
pub use connection_limits::ConnectionLimits;
pub use connections::{Connections, Place};
pub use encryption::{Encryption, HandshakeError};
pub use handler::{Client, ConnectionEnd, ConnectionHandler};
pub use listener::{ListenError, Listener};
pub use memory_budget::{HoldError, MemoryBudget, Share};
pub use pace::PaceLimits;
pub use short_turns::request_short_slices;
pub use shutdown::{Shutdown, ShutdownSignal};
pub use status::StatusService;
pub use tls::TlsError;
