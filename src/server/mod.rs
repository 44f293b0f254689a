//! The sockets: listeners, connections, limits and an orderly end.

mod admission;
mod busy_poll;
mod client_stream;
mod connection;
mod encryption;
mod handler;
mod listener;
mod memory_budget;
mod native_connection;
mod short_turns;
mod shutdown;
mod status;
mod tls;
mod turn;

pub use admission::Admission;
pub use busy_poll::BusyPoll;
pub use client_stream::ClientStream;
pub use encryption::{Encryption, HandshakeError};
pub use handler::{Client, ConnectionEnd, ConnectionHandler};
pub use listener::{ListenError, Listener};
pub use short_turns::ask_for_short_turns;
pub use shutdown::{Shutdown, ShutdownSignal};
pub use status::StatusService;
pub use tls::TlsError;
