//! The signal that asks a connection to close so that others get its place or memory, or because the server stops.

use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

/// The resource of the connection that others need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scarcity {
    /// Its place among the open connections.
    Connections,
    /// The memory of its messages and replies.
    Memory,
    /// The time of a server that stops.
    Time,
}

const NOT_ASKED: u8 = 0;
const CONNECTIONS: u8 = 1;
const MEMORY: u8 = 2;
const TIME: u8 = 3;

impl Scarcity {
    fn number(self) -> u8 {
        match self {
            Scarcity::Connections => CONNECTIONS,
            Scarcity::Memory => MEMORY,
            Scarcity::Time => TIME,
        }
    }
}

/// Asks one connection to close. The signal stays set unless it is withdrawn: the reason was its place, and the
/// connection completes its handshake, login or first request; or its memory, and bytes move again.
#[derive(Debug, Default)]
pub struct CloseRequest {
    reason: AtomicU8,
    wake: Notify,
}

impl CloseRequest {
    /// Asks the connection to close. The first reason is kept.
    pub fn ask(&self, scarcity: Scarcity) {
        let reason = scarcity.number();
        let _ = self.reason.compare_exchange(NOT_ASKED, reason, Ordering::Release, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// Clears the signal if the reason is this one.
    pub fn withdraw(&self, scarcity: Scarcity) {
        let _ =
            self.reason.compare_exchange(scarcity.number(), NOT_ASKED, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Waits until the connection is asked to close. Only one task may wait.
    pub async fn asked(&self) -> Scarcity {
        loop {
            match self.reason.load(Ordering::Acquire) {
                CONNECTIONS => return Scarcity::Connections,
                MEMORY => return Scarcity::Memory,
                TIME => return Scarcity::Time,
                _ => self.wake.notified().await,
            }
        }
    }

    /// Returns whether the connection is asked to close.
    pub fn is_asked(&self) -> bool {
        self.reason.load(Ordering::Acquire) != NOT_ASKED
    }
}
