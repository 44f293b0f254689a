//! The properties of a request that are known before it runs.

use std::net::IpAddr;
use std::time::Duration;

use super::{ClientConnection, JournalEntry};
use base::compat::features::ApiGeneration;
use base::util::whole_micros;

/// The properties of a request that are known before it runs.
#[derive(Debug, Clone, Copy)]
pub struct RequestOrigin {
    /// `thrift` or `native`.
    pub protocol: &'static str,
    /// The Thrift method, or the opcode of the native protocol.
    pub method: &'static str,
    /// The API generation of a Thrift call.
    pub generation: Option<ApiGeneration>,
    /// The connection; `None` for a call within the process.
    pub connection: Option<ClientConnection>,
    /// The address of the client, for a server that does not number its connections.
    pub address: Option<IpAddr>,
}

impl RequestOrigin {
    /// Returns the entry of a request that took `time`, without the properties that are known later.
    pub(crate) fn entry(&self, time: Duration) -> JournalEntry {
        let client = self.connection.map(|connection| connection.client.to_string());
        JournalEntry {
            protocol: self.protocol.to_owned(),
            method: self.method.to_owned(),
            generation: self.generation,
            connection: self.connection.map(|connection| connection.number),
            client: client.or(self.address.map(|address| address.to_string())),
            micros: whole_micros(time),
            ..JournalEntry::default()
        }
    }
}
