//! The signal that asks a connection to close so that others get its place or memory.

use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

/// Which resource of the connection others need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scarcity {
    /// Its place among the open connections.
    Connections,
    /// The memory of its messages and replies.
    Memory,
}

const NOT_ASKED: u8 = 0;
const CONNECTIONS: u8 = 1;
const MEMORY: u8 = 2;

/// Asks one connection to close. The signal stays set unless the reason was its place and the connection completes its
/// handshake, login or first request.
#[derive(Debug, Default)]
pub struct CloseRequest {
    reason: AtomicU8,
    wake: Notify,
}

impl CloseRequest {
    /// Asks the connection to close. The first reason is kept.
    pub fn ask(&self, scarcity: Scarcity) {
        let reason = match scarcity {
            Scarcity::Connections => CONNECTIONS,
            Scarcity::Memory => MEMORY,
        };
        let _ = self.reason.compare_exchange(NOT_ASKED, reason, Ordering::Release, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// Clears the signal if the reason is the connection's place, not if it is its memory.
    pub fn keep_place(&self) {
        let _ = self.reason.compare_exchange(CONNECTIONS, NOT_ASKED, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Waits until the connection is asked to close. Only one task may wait.
    pub async fn asked(&self) -> Scarcity {
        loop {
            match self.reason.load(Ordering::Acquire) {
                CONNECTIONS => return Scarcity::Connections,
                MEMORY => return Scarcity::Memory,
                _ => self.wake.notified().await,
            }
        }
    }

    pub fn is_asked(&self) -> bool {
        self.reason.load(Ordering::Acquire) != NOT_ASKED
    }
}
