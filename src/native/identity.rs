//! Who is on a connection, and in which keyspace.

use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::db::User;
use crate::util::meter::ClientPresence;

/// Shared by the requests of a connection, which run at the same time.
#[derive(Debug)]
pub struct Identity {
    /// Where the client is.
    pub address: IpAddr,
    /// Whether it is still there.
    pub client: Arc<ClientPresence>,
    keyspace: Mutex<Option<Arc<str>>>,
    user: Mutex<Option<Arc<User>>>,
}

impl Identity {
    pub fn new(address: IpAddr) -> Identity {
        Identity { address, client: Arc::default(), keyspace: Mutex::default(), user: Mutex::default() }
    }

    /// What USE chose.
    pub fn keyspace(&self) -> Option<Arc<str>> {
        self.keyspace.lock().clone()
    }

    pub fn enter(&self, keyspace: &str) {
        *self.keyspace.lock() = Some(Arc::from(keyspace));
    }

    /// Who has logged in, where there are users.
    pub fn user(&self) -> Option<Arc<User>> {
        self.user.lock().clone()
    }

    pub fn log_in(&self, user: Option<User>) {
        *self.user.lock() = user.map(Arc::new);
    }
}
