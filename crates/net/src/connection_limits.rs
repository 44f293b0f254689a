//! The limits of connections as one value, so that tests can serve with smaller limits.

use std::time::Duration;

use crate::limits;
use crate::pace::PaceLimits;
use base::util::limits::MESSAGES_BYTES_MAX;

/// The limits of connections. The default values come from [`crate::limits`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections that are open at the same time.
    pub connections_max: usize,
    /// The number of these that may be unproven: without a completed handshake, login or request.
    pub unproven_max: usize,
    /// Memory of all messages and replies, in bytes.
    pub messages_bytes_max: usize,
    /// The time that a message or reply waits for memory.
    pub memory_wait: Duration,
    /// Minimum rate of a message or a reply.
    pub pace: PaceLimits,
    /// Minimum rate while other connections wait for memory.
    pub scarce_pace: PaceLimits,
    /// The time that a client of the native protocol may take for its handshake: STARTUP, and the login if one is
    /// required.
    pub native_handshake: Duration,
    /// The time that a client may be silent between two requests; `None` means no limit.
    pub idle: Option<Duration>,
}

impl Default for ConnectionLimits {
    fn default() -> ConnectionLimits {
        ConnectionLimits {
            connections_max: limits::CONNECTIONS_MAX,
            unproven_max: limits::UNPROVEN_CONNECTIONS_MAX,
            messages_bytes_max: MESSAGES_BYTES_MAX,
            memory_wait: Duration::from_secs(limits::MEMORY_WAIT_S),
            pace: PaceLimits {
                grace: Duration::from_secs(limits::PROGRESS_GRACE_S),
                bytes_per_s: limits::PROGRESS_BYTES_PER_S,
            },
            scarce_pace: PaceLimits {
                grace: Duration::from_millis(limits::SCARCE_GRACE_MS),
                bytes_per_s: limits::SCARCE_BYTES_PER_S,
            },
            native_handshake: Duration::from_secs(limits::NATIVE_HANDSHAKE_S),
            idle: None,
        }
    }
}
