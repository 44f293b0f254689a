//! What all ports together let in.

use std::sync::Arc;
use std::time::Duration;

use super::busy_poll::BusyPoll;
use super::connection_limits::ConnectionLimits;
use super::connections::Connections;
use super::encryption::Encryption;
use super::memory_budget::MemoryBudget;
use super::repeated_lines::RepeatedLines;
use super::shutdown::ShutdownSignal;
use crate::util::limits::STATUS_CONNECTIONS_MAX;

/// The limits that the connections of all ports share, whether they are encrypted, who hears of their requests, and the
/// sign that ends them. Give a clone of it to each listener.
#[derive(Clone)]
pub struct Admission {
    pub(super) connections: Connections,
    pub(super) limits: ConnectionLimits,
    pub(super) budget: MemoryBudget,
    pub(super) shutdown: ShutdownSignal,
    pub(super) encryption: Option<Arc<Encryption>>,
    pub(super) busy_poll: BusyPoll,
    /// Log lines about connections that ended.
    pub(super) lines: Arc<RepeatedLines>,
}

impl Admission {
    pub fn new(shutdown: ShutdownSignal) -> Admission {
        Admission::limited(shutdown, ConnectionLimits::default())
    }

    /// With other limits than those of `util::limits`.
    pub fn limited(shutdown: ShutdownSignal, limits: ConnectionLimits) -> Admission {
        Admission {
            connections: Connections::new(limits.connections_max, limits.unproven_max),
            limits,
            budget: MemoryBudget::new(limits.messages_bytes_max, limits.memory_wait),
            shutdown,
            encryption: None,
            busy_poll: BusyPoll::off(),
            lines: Arc::default(),
        }
    }

    /// For the status port: few connections, and none that takes the place of a client's.
    pub fn for_status(shutdown: ShutdownSignal) -> Admission {
        let places = STATUS_CONNECTIONS_MAX;
        let limits = ConnectionLimits { connections_max: places, unproven_max: places, ..Default::default() };
        Admission::limited(shutdown, limits)
    }

    /// The same with TLS.
    #[must_use]
    pub fn with_encryption(self, encryption: Option<Arc<Encryption>>) -> Admission {
        Admission { encryption, ..self }
    }

    /// The same with a processor kept awake for the next request.
    #[must_use]
    pub fn with_busy_poll(self, busy_poll: BusyPoll) -> Admission {
        Admission { busy_poll, ..self }
    }

    /// The same with a limit to how long a client may be silent between two requests.
    #[must_use]
    pub fn with_idle_timeout(self, idle: Option<Duration>) -> Admission {
        Admission { limits: ConnectionLimits { idle, ..self.limits }, ..self }
    }

    /// The same with so many bytes of memory for all messages and replies.
    #[must_use]
    pub fn with_message_memory(self, bytes: usize) -> Admission {
        Admission { budget: MemoryBudget::new(bytes, self.limits.memory_wait), ..self }
    }
}
