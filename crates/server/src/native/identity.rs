//! The user and keyspace of a connection.

use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use base::util::meter::ClientPresence;
use db::User;
use db::faults::ClientConnection;

/// The state that the concurrent requests of a connection share.
#[derive(Debug)]
pub struct Identity {
    /// The address of the client.
    pub address: IpAddr,
    /// The connection, on a server with faults.
    pub connection: Option<ClientConnection>,
    /// Whether the client is still connected.
    pub client: Arc<ClientPresence>,
    keyspace: Mutex<Option<Arc<str>>>,
    user: Mutex<Option<Arc<User>>>,
}

impl Identity {
    /// Returns the identity of a client that has neither logged in nor selected a keyspace.
    pub fn new(address: IpAddr, connection: Option<ClientConnection>) -> Identity {
        Identity {
            address,
            connection,
            client: Arc::default(),
            keyspace: Mutex::default(),
            user: Mutex::default(),
        }
    }

    /// Returns the keyspace that USE selected.
    pub fn keyspace(&self) -> Option<Arc<str>> {
        self.keyspace.lock().clone()
    }

    /// Selects a keyspace.
    pub fn enter(&self, keyspace: &str) {
        *self.keyspace.lock() = Some(Arc::from(keyspace));
    }

    /// Returns the user that has logged in; `None` if the server has no users.
    pub fn user(&self) -> Option<Arc<User>> {
        self.user.lock().clone()
    }

    /// Sets the user after a login; `None` if the server has no users.
    pub(crate) fn log_in(&self, user: Option<User>) {
        *self.user.lock() = user.map(Arc::new);
    }
}
