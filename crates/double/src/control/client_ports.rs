//! Serves a database in memory to clients, on free ports.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use base::compat::features::ReportedVersion;
use base::util::meter::RequestLimits;
use db::Database;
use net::{Admission, ListenError, Listener};
use server::native::NativeService;
use server::thrift::{Compat, Service};

/// The common settings of the ports of several databases.
#[derive(Clone)]
pub struct ClientPorts {
    /// The addresses of this machine to listen on: for Thrift, and for the native protocol.
    pub hosts: (IpAddr, IpAddr),
    /// The releases whose behaviour Thrift calls get.
    pub compat: Compat,
    /// The version that the native protocol reports.
    pub reported: ReportedVersion,
    /// The memory and the times of each request.
    pub limits: RequestLimits,
}

/// The addresses at which clients reach a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClientAddresses {
    /// The address of Thrift.
    pub thrift: SocketAddr,
    /// The address of the native protocol.
    pub native: SocketAddr,
}

impl ClientPorts {
    /// Serves a database until the shutdown of `admission`. Must be called on a thread of the runtime that serves it.
    ///
    /// # Errors
    /// If no port is free.
    pub fn serve(
        &self,
        database: &Arc<Database>,
        admission: Admission,
    ) -> Result<ClientAddresses, ListenError> {
        let free_port = |host| Listener::bind(&SocketAddr::new(host, 0).to_string());
        let (thrift_port, native_port) = (free_port(self.hosts.0)?, free_port(self.hosts.1)?);
        let addresses = ClientAddresses { thrift: thrift_port.address, native: native_port.address };
        let thrift = Service::new(database.clone(), self.compat).with_limits(self.limits.clone());
        let native = NativeService::new(database.clone(), thrift.statements.clone(), self.reported.clone());
        thrift_port.start(thrift, admission.clone());
        native_port.start(native.with_limits(self.limits.clone()), admission);
        Ok(addresses)
    }
}
