//! Faults of all connections: a server that restarts, or that nobody can connect to.

use std::fmt;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::watch;

/// A client's connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientConnection {
    /// Counts the connections of both protocols since the start.
    pub number: u64,
    /// The address of the client.
    pub client: SocketAddr,
}

/// The faults of connections.
#[derive(Default)]
pub struct FaultyConnections {
    opened: AtomicU64,
    is_refusing: AtomicBool,
    restarts: watch::Sender<u64>,
    /// Functions that remove the other state that a restart forgets.
    forgotten: Mutex<Vec<Box<dyn Fn() + Send + Sync>>>,
}

impl fmt::Debug for FaultyConnections {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("FaultyConnections").field("is_refusing", &self.is_refusing).finish_non_exhaustive()
    }
}

impl FaultyConnections {
    /// Gives a new connection its number.
    pub fn open(&self, client: SocketAddr) -> ClientConnection {
        ClientConnection { number: self.opened.fetch_add(1, Ordering::Relaxed) + 1, client }
    }

    /// Closes new connections at once, or accepts them again.
    pub fn refuse(&self, refuses: bool) {
        self.is_refusing.store(refuses, Ordering::Relaxed);
    }

    /// Returns whether new connections are closed at once.
    pub fn are_refused(&self) -> bool {
        self.is_refusing.load(Ordering::Relaxed)
    }

    /// Adds a function that a restart calls in addition to closing connections.
    pub fn at_restart(&self, forget: impl Fn() + Send + Sync + 'static) {
        self.forgotten.lock().push(Box::new(forget));
    }

    /// Does the part of a restart that clients see: closes all open connections, each when its current request is
    /// answered, and forgets the state that is only in the memory of a server.
    pub fn restart(&self) {
        self.forgotten.lock().iter().for_each(|forget| forget());
        self.restarts.send_modify(|number| *number += 1);
    }

    /// Returns a receiver that changes at each restart.
    pub fn restarts(&self) -> watch::Receiver<u64> {
        self.restarts.subscribe()
    }
}
