//! Where clients come to.

use std::io::Write;
use std::net::SocketAddr;

use crate::native::NativeService;
use crate::server::{Admission, Listener, Shutdown, ShutdownSignal, StatusService};
use crate::thrift::Service;

/// What is bound to what.
#[derive(Debug)]
pub struct Addresses {
    pub thrift: String,
    /// `None`: nowhere.
    pub native: Option<String>,
    /// Whether somebody has asked for the native protocol.
    pub must_be_native: bool,
    /// `None`: nowhere.
    pub status: Option<String>,
}

/// The ports, bound.
pub struct Ports {
    thrift: Listener,
    native: Option<Listener>,
    status: Option<Listener>,
}

/// Who answers at them.
pub struct Services {
    pub thrift: Service,
    pub native: NativeService,
    pub status: StatusService,
}

impl Ports {
    pub fn bind(addresses: &Addresses) -> Result<Ports, String> {
        let bind = |address: &str| Listener::bind(address).map_err(|error| error.to_string());
        Ok(Ports {
            thrift: bind(&addresses.thrift)?,
            native: native_listener(addresses)?,
            status: addresses.status.as_deref().map(bind).transpose()?,
        })
    }

    /// Serves until the end, and prints where. `admission` makes what the ports that clients use let in.
    pub fn serve(
        self,
        services: Services,
        admission: impl FnOnce(ShutdownSignal) -> Admission,
        shutdown: &Shutdown,
    ) {
        let Some(signal) = shutdown.signal() else { return };
        let admission = admission(signal.clone());
        let mut bound = vec![("Thrift", self.thrift.address)];
        tokio::spawn(self.thrift.run(services.thrift, admission.clone()));
        if let Some(listener) = self.native {
            bound.push(("CQL", listener.address));
            tokio::spawn(listener.run(services.native, admission));
        }
        if let Some(listener) = self.status {
            bound.push(("HTTP", listener.address));
            tokio::spawn(listener.run(services.status, Admission::for_status(signal)));
        }
        for (protocol, address) in bound {
            announce(protocol, address);
        }
    }
}

/// The native protocol's port. Where nobody has asked for it, a port that is taken is no reason not to start.
fn native_listener(addresses: &Addresses) -> Result<Option<Listener>, String> {
    let Some(address) = &addresses.native else { return Ok(None) };
    match Listener::bind(address) {
        Ok(listener) => Ok(Some(listener)),
        Err(error) if addresses.must_be_native => Err(error.to_string()),
        Err(error) => {
            tracing::warn!("{error}: the native protocol is not served; say with --cql HOST:PORT where else");
            Ok(None)
        }
    }
}

/// Tells that clients are served. Whoever started the server may have stopped listening to it; its clients have not.
fn announce(protocol: &str, address: SocketAddr) {
    tracing::info!("listening for {protocol} clients on {address}");
    if let Err(error) = writeln!(std::io::stdout(), "listening for {protocol} clients on {address}") {
        tracing::warn!("cannot print that {protocol} clients are served on {address}: {error}");
    }
}
