//! What all ports together let in.

use std::sync::Arc;

use tokio::sync::Semaphore;

use super::busy_poll::BusyPoll;
use super::encryption::Encryption;
use super::memory_budget::MemoryBudget;
use super::shutdown::ShutdownSignal;
use crate::util::limits::{CONNECTIONS_MAX, STATUS_CONNECTIONS_MAX};

/// The limits that the connections of all ports share, whether they are encrypted, who hears of their requests, and the
/// sign that ends them. Give a clone of it to each listener.
#[derive(Clone)]
pub struct Admission {
    pub(super) permits: Arc<Semaphore>,
    pub(super) budget: MemoryBudget,
    pub(super) shutdown: ShutdownSignal,
    pub(super) encryption: Option<Arc<Encryption>>,
    pub(super) busy_poll: BusyPoll,
}

impl Admission {
    pub fn new(shutdown: ShutdownSignal) -> Admission {
        Admission {
            permits: Arc::new(Semaphore::new(CONNECTIONS_MAX)),
            budget: MemoryBudget::new(),
            shutdown,
            encryption: None,
            busy_poll: BusyPoll::off(),
        }
    }

    /// For the status port: few connections, and none that takes the place of a client's.
    pub fn for_status(shutdown: ShutdownSignal) -> Admission {
        let permits = Arc::new(Semaphore::new(STATUS_CONNECTIONS_MAX));
        Admission { permits, ..Admission::new(shutdown) }
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
}
