//! The table of open client connections: who is connected, by which protocol and API generation.
//!
//! It has one entry for each place of a connection. A connection writes to its own record only.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use strum::VariantArray;

use base::compat::features::ApiGeneration;

/// The protocol and the API generation of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, VariantArray)]
#[repr(u8)]
pub enum ClientKind {
    /// It has sent no request that shows it.
    Unknown,
    /// Thrift, in calls that do not show the API generation.
    Thrift,
    /// Thrift of 0.3.
    Thrift03,
    /// Thrift of 0.4 to 0.6.
    Thrift04,
    /// Thrift of 0.7 and later.
    Thrift07,
    /// The native protocol.
    Native,
}

impl ClientKind {
    /// All kinds, by their numbers.
    const ALL: &[ClientKind] = ClientKind::VARIANTS;

    /// Returns the kind of a Thrift client.
    pub fn of_thrift(generation: Option<ApiGeneration>) -> ClientKind {
        match generation {
            None => ClientKind::Thrift,
            Some(ApiGeneration::WithTextPaths) => ClientKind::Thrift03,
            Some(ApiGeneration::WithKeyspace) => ClientKind::Thrift04,
            Some(ApiGeneration::AfterSetKeyspace) => ClientKind::Thrift07,
        }
    }

    /// Returns the words for it.
    pub fn name(self) -> &'static str {
        match self {
            ClientKind::Unknown => "no request yet",
            ClientKind::Thrift => "Thrift",
            ClientKind::Thrift03 => "Thrift 0.3",
            ClientKind::Thrift04 => "Thrift 0.4 to 0.6",
            ClientKind::Thrift07 => "Thrift 0.7 to 2.1",
            ClientKind::Native => "CQL native protocol",
        }
    }
}

/// The connections of all ports.
#[derive(Debug, Default)]
pub struct ConnectionTable(Mutex<EntryRows>);

#[derive(Debug, Default)]
struct EntryRows {
    next_number: u64,
    by_number: BTreeMap<u64, Arc<ConnectionRecord>>,
}

/// The known properties of an open connection.
#[derive(Debug)]
struct ConnectionRecord {
    peer: SocketAddr,
    is_encrypted: bool,
    opened: Instant,
    kind: AtomicU8,
    requests: AtomicU64,
    user: Mutex<Option<Box<str>>>,
}

/// The row of one connection. Dropping it removes the row.
#[derive(Debug)]
pub struct ConnectionEntry {
    table: Arc<ConnectionTable>,
    number: u64,
    record: Arc<ConnectionRecord>,
}

/// An open connection, as it was when the table was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectedClient {
    /// The address of the client.
    pub peer: SocketAddr,
    /// Whether it uses TLS.
    pub is_encrypted: bool,
    /// The time since it was accepted.
    pub open_for: Duration,
    /// Its protocol.
    pub kind: ClientKind,
    /// The requests that it has sent.
    pub requests: u64,
    /// The user of its last login.
    pub user: Option<String>,
}

impl ConnectionTable {
    /// Adds a new connection.
    pub fn enter(self: &Arc<Self>, peer: SocketAddr, is_encrypted: bool) -> ConnectionEntry {
        let record = Arc::new(ConnectionRecord {
            peer,
            is_encrypted,
            opened: Instant::now(),
            kind: AtomicU8::new(ClientKind::Unknown as u8),
            requests: AtomicU64::new(0),
            user: Mutex::default(),
        });
        let mut rows = self.0.lock();
        let number = rows.next_number;
        rows.next_number += 1;
        rows.by_number.insert(number, record.clone());
        ConnectionEntry { table: self.clone(), number, record }
    }

    /// Returns all open connections, oldest first.
    pub fn list(&self) -> Vec<ConnectedClient> {
        let records: Vec<Arc<ConnectionRecord>> = self.0.lock().by_number.values().cloned().collect();
        records.iter().map(|record| record.client()).collect()
    }
}

impl ConnectionRecord {
    fn client(&self) -> ConnectedClient {
        let kind = usize::from(self.kind.load(Ordering::Relaxed));
        ConnectedClient {
            peer: self.peer,
            is_encrypted: self.is_encrypted,
            open_for: self.opened.elapsed(),
            kind: ClientKind::ALL.get(kind).copied().unwrap_or(ClientKind::Unknown),
            requests: self.requests.load(Ordering::Relaxed),
            user: self.user.lock().as_deref().map(str::to_owned),
        }
    }
}

impl ConnectionEntry {
    /// Counts a request of the connection. Only the connection's own task calls it, so nothing is lost between the two
    /// steps.
    #[inline]
    pub fn record_request(&self, kind: ClientKind) {
        let requests = &self.record.requests;
        requests.store(requests.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        self.record.kind.store(kind as u8, Ordering::Relaxed);
    }

    /// Records the user of the last login.
    pub fn set_user(&self, name: &str) {
        let mut user = self.record.user.lock();
        if user.as_deref() != Some(name) {
            *user = Some(name.into());
        }
    }
}

impl Drop for ConnectionEntry {
    fn drop(&mut self) {
        self.table.0.lock().by_number.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn open_connections_are_listed() {
        let table = Arc::new(ConnectionTable::default());
        let address = |port: u16| SocketAddr::from(([10, 0, 0, 7], port));
        let first = table.enter(address(1), false);
        let second = table.enter(address(2), true);
        second.record_request(ClientKind::of_thrift(Some(ApiGeneration::WithKeyspace)));
        second.record_request(ClientKind::Thrift04);
        second.set_user("anna");
        let listed = table.list();
        assert_eq!(
            (listed[0].peer, listed[0].kind, listed[0].requests),
            (address(1), ClientKind::Unknown, 0)
        );
        assert_eq!((listed[1].kind, listed[1].requests), (ClientKind::Thrift04, 2));
        assert_eq!((listed[1].user.as_deref(), listed[1].is_encrypted), (Some("anna"), true));
        drop(first);
        assert_eq!(table.list().len(), 1);
        drop(second);
        assert!(table.list().is_empty());
    }

    #[test]
    fn kinds_have_their_numbers() {
        for (number, kind) in ClientKind::ALL.iter().copied().enumerate() {
            assert_eq!(kind as usize, number, "{}", kind.name());
        }
    }
}
