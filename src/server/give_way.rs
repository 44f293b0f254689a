//! The signal that tells a connection to make room for others.

use std::sync::atomic::{AtomicU8, Ordering};

use tokio::sync::Notify;

/// What others need that the connection has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scarcity {
    /// A place among the connections that are served.
    Connections,
    /// Memory of messages and replies.
    Memory,
}

const NOT_TOLD: u8 = 0;
const CONNECTIONS: u8 = 1;
const MEMORY: u8 = 2;

/// Asks one connection to close because another one needs its place or its memory. It stays set unless the connection
/// completes its handshake and so keeps its place.
#[derive(Debug, Default)]
pub struct GiveWay {
    reason: AtomicU8,
    wake: Notify,
}

impl GiveWay {
    /// Tells the connection to end. The first reason counts.
    pub fn tell(&self, scarcity: Scarcity) {
        let reason = match scarcity {
            Scarcity::Connections => CONNECTIONS,
            Scarcity::Memory => MEMORY,
        };
        let _ = self.reason.compare_exchange(NOT_TOLD, reason, Ordering::Release, Ordering::Relaxed);
        self.wake.notify_one();
    }

    /// Takes back that others need the connection's place. That they need its memory stays.
    pub fn keep_place(&self) {
        let _ = self.reason.compare_exchange(CONNECTIONS, NOT_TOLD, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Returns when the connection has been told to end. Only one task may wait.
    pub async fn told(&self) -> Scarcity {
        loop {
            match self.reason.load(Ordering::Acquire) {
                CONNECTIONS => return Scarcity::Connections,
                MEMORY => return Scarcity::Memory,
                _ => self.wake.notified().await,
            }
        }
    }

    pub fn is_told(&self) -> bool {
        self.reason.load(Ordering::Acquire) != NOT_TOLD
    }
}
