//! The state that the connections of all ports share.

use std::sync::Arc;
use std::time::Duration;

use crate::busy_poll::BusyPoll;
use crate::connection_limits::ConnectionLimits;
use crate::connection_metrics::ConnectionMetrics;
use crate::connection_table::{ConnectedClient, ConnectionTable};
use crate::connections::Connections;
use crate::encryption::Encryption;
use crate::limits::{ADMIN_CONNECTIONS_MAX, CONTROL_CONNECTIONS_MAX, STATUS_CONNECTIONS_MAX};
use crate::memory_budget::MemoryBudget;
use crate::shutdown::ShutdownSignal;
use base::util::RepeatedLines;

/// The state that the connections of all ports share: limits, memory, TLS, busy polling and the shutdown signal. Each
/// listener has a clone of it.
#[derive(Clone)]
pub struct Admission {
    pub(super) connections: Connections,
    pub(super) limits: ConnectionLimits,
    pub(super) budget: MemoryBudget,
    pub(super) shutdown: ShutdownSignal,
    pub(super) encryption: Option<Arc<Encryption>>,
    pub(super) busy_poll: BusyPoll,
    /// Counts repeated log lines about connections that ended.
    pub(super) lines: Arc<RepeatedLines>,
    pub(super) metrics: Arc<ConnectionMetrics>,
    pub(super) table: Arc<ConnectionTable>,
}

/// The open connections, for the server's end: it waits until no shutdown signal is left.
pub struct OpenConnections {
    connections: Connections,
    budget: MemoryBudget,
}

impl OpenConnections {
    /// Returns the number of open connections.
    pub fn count(&self) -> usize {
        self.connections.taken()
    }

    /// Closes connections of a stopping server that wait for memory, or for a client that does not read.
    pub fn end_blocked(&self) {
        self.budget.end_blocked();
    }
}

impl Admission {
    /// Creates an `Admission` with the limits of [`crate::limits`].
    pub fn new(shutdown: ShutdownSignal) -> Admission {
        Admission::limited(shutdown, ConnectionLimits::default())
    }

    /// Creates an `Admission` with other limits than [`crate::limits`].
    pub fn limited(shutdown: ShutdownSignal, limits: ConnectionLimits) -> Admission {
        Admission {
            connections: Connections::new(limits.connections_max, limits.unproven_max),
            limits,
            budget: MemoryBudget::new(limits.messages_bytes_max, limits.memory_wait),
            shutdown,
            encryption: None,
            busy_poll: BusyPoll::off(),
            lines: Arc::default(),
            metrics: Arc::default(),
            table: Arc::default(),
        }
    }

    /// Creates the `Admission` of the status port: it has few places, and none of them is a place of a Thrift or native
    /// connection.
    pub fn for_status(shutdown: ShutdownSignal) -> Admission {
        Admission::with_places(shutdown, STATUS_CONNECTIONS_MAX)
    }

    /// Creates the `Admission` of the control port, which has places of its own, too.
    pub fn for_control(shutdown: ShutdownSignal) -> Admission {
        Admission::with_places(shutdown, CONTROL_CONNECTIONS_MAX)
    }

    /// Creates the `Admission` of the admin server, which has places of its own, too.
    pub fn for_admin(shutdown: ShutdownSignal) -> Admission {
        Admission::with_places(shutdown, ADMIN_CONNECTIONS_MAX)
    }

    fn with_places(shutdown: ShutdownSignal, places: usize) -> Admission {
        let limits = ConnectionLimits { connections_max: places, unproven_max: places, ..Default::default() };
        Admission::limited(shutdown, limits)
    }

    /// Returns the `Admission` of connections with another shutdown, which share everything else with these.
    #[must_use]
    pub fn with_shutdown(&self, shutdown: ShutdownSignal) -> Admission {
        Admission { shutdown, ..self.clone() }
    }

    /// Returns the same `Admission` with TLS; `None` is without TLS.
    #[must_use]
    pub fn with_encryption(self, encryption: Option<Arc<Encryption>>) -> Admission {
        Admission { encryption, ..self }
    }

    /// Returns the counts of these connections.
    pub fn metrics(&self) -> &Arc<ConnectionMetrics> {
        &self.metrics
    }

    /// Returns the number of open connections.
    pub fn open_connections(&self) -> usize {
        self.connections.taken()
    }

    /// Returns the open connections, oldest first.
    pub fn clients(&self) -> Vec<ConnectedClient> {
        self.table.list()
    }

    /// Returns the bytes that messages and replies hold.
    pub fn message_bytes(&self) -> usize {
        self.budget.held_by_all()
    }

    /// Returns the open connections, without their shutdown signal.
    pub fn watch(&self) -> OpenConnections {
        OpenConnections { connections: self.connections.clone(), budget: self.budget.clone() }
    }

    /// Returns whether connections have TLS.
    pub fn is_encrypted(&self) -> bool {
        self.encryption.is_some()
    }

    /// Returns the same `Admission` with busy polling for the next request.
    #[must_use]
    pub fn with_busy_poll(self, busy_poll: BusyPoll) -> Admission {
        Admission { busy_poll, ..self }
    }

    /// Returns the same `Admission` with the longest silence of a client between two requests; `None` means no limit.
    #[must_use]
    pub fn with_idle_timeout(self, idle: Option<Duration>) -> Admission {
        Admission { limits: ConnectionLimits { idle, ..self.limits }, ..self }
    }

    /// Returns the same `Admission` with `bytes` of memory for all messages and replies.
    #[must_use]
    pub fn with_message_memory(self, bytes: usize) -> Admission {
        Admission { budget: MemoryBudget::new(bytes, self.limits.memory_wait), ..self }
    }
}
