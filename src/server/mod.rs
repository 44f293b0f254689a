//! The sockets: listeners, connections, limits and an orderly end.

mod connection;
mod listener;
mod memory_budget;
mod shutdown;

pub use listener::{ListenError, Listener};
pub use shutdown::{Shutdown, ShutdownSignal};
