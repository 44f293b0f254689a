//! Binds and serves the ports of clients.

use std::io::Write;
use std::net::IpAddr;
use std::sync::Arc;

use super::http_services::HttpServices;
use crate::cli::Result;
use base::compat::features::ReportedVersion;
use console::Served;
use net::{Admission, Encryption, Listener, ShutdownSignal, check_address};
use server::native::NativeService;
use server::thrift::{Compat, Service};

/// The addresses of the ports.
#[derive(Debug)]
pub(super) struct Addresses {
    pub thrift: String,
    /// `None`: disabled.
    pub native: Option<String>,
    /// Whether a failure to bind the native protocol's address is an error: an option or the configuration sets it.
    pub must_be_native: bool,
    /// `None`: disabled.
    pub status: Option<String>,
    /// `None`: disabled.
    pub control: Option<String>,
    /// `None`: disabled.
    pub admin: Option<String>,
}

impl Addresses {
    /// Checks their form, before anything is opened.
    pub(super) fn check(&self) -> Result<()> {
        let of_options = [
            ("--status: ", &self.status),
            ("--control: ", &self.control),
            ("--admin: ", &self.admin),
            ("", &self.native),
        ];
        let options =
            of_options.into_iter().filter_map(|(option, address)| Some((option, address.as_ref()?)));
        for (option, address) in options.chain([("", &self.thrift)]) {
            check_address(address).map_err(|error| format!("{option}{error}"))?;
        }
        Ok(())
    }
}

/// The bound ports.
pub(super) struct Ports {
    thrift: Listener,
    native: Option<Listener>,
    status: Option<Listener>,
    control: Option<Listener>,
    admin: Option<Listener>,
}

/// The services of the ports.
pub(super) struct Services {
    pub thrift: Service,
    pub native: NativeService,
    pub http: HttpServices,
}

impl Ports {
    pub(super) fn bind(addresses: &Addresses) -> Result<Ports> {
        // The address for Thrift may come from the configuration.
        let thrift = Listener::bind(&addresses.thrift).map_err(|error| error.to_string())?;
        let of_option = |option: &str, address: &Option<String>| {
            let bound = address.as_deref().map(Listener::bind).transpose();
            bound.map_err(|error| format!("{option}: {error}"))
        };
        Ok(Ports {
            thrift,
            native: native_listener(addresses)?,
            status: of_option("--status", &addresses.status)?,
            control: of_option("--control", &addresses.control)?,
            admin: of_option("--admin", &addresses.admin)?,
        })
    }

    /// Returns the addresses of this machine at which clients of Thrift and of the native protocol connect.
    pub(super) fn client_hosts(&self) -> (IpAddr, IpAddr) {
        let thrift = self.thrift.address.ip();
        (thrift, self.native.as_ref().map_or(thrift, |listener| listener.address.ip()))
    }

    /// Returns the ports as the console shows them.
    pub(super) fn described(&self, compat: Compat, reported: ReportedVersion, is_encrypted: bool) -> Served {
        let address = |listener: &Option<Listener>| listener.as_ref().map(|listener| listener.address);
        Served {
            thrift: self.thrift.address,
            native: address(&self.native),
            status: address(&self.status),
            control: address(&self.control),
            admin: address(&self.admin),
            is_encrypted,
            compat,
            reported,
        }
    }

    /// Starts to serve all ports until shutdown, and prints their addresses. Client connections share `admission`; those
    /// to the admin server have their own TLS, if any.
    pub(super) fn serve(
        self,
        services: Services,
        admission: Admission,
        admin_encryption: Option<Arc<Encryption>>,
        signal: ShutdownSignal,
    ) {
        let mut bound = vec![("Thrift", self.thrift.address)];
        self.thrift.start(services.thrift, admission.clone());
        if let Some(listener) = self.native {
            bound.push(("CQL", listener.address));
            listener.start(services.native, admission);
        }
        if let Some(listener) = self.status {
            bound.push(("HTTP", listener.address));
            listener.start(services.http.status, Admission::for_status(signal.clone()));
        }
        if let (Some(listener), Some(service)) = (self.control, services.http.control) {
            bound.push(("control", listener.address));
            listener.start(service, Admission::for_control(signal.clone()));
        }
        for (protocol, address) in bound {
            announce(&format!("listening for {protocol} clients on {address}"));
        }
        if let Some(listener) = self.admin {
            let admission = Admission::for_admin(signal).with_encryption(admin_encryption);
            let is_reachable = !listener.address.ip().to_canonical().is_loopback();
            if is_reachable && !admission.is_encrypted() {
                tracing::warn!(
                    "passwords and the token of the admin server at {} cross the network unencrypted: set \
                     --tls-certificate FILE and --tls-key FILE, or use a loopback address",
                    listener.address
                );
            }
            let scheme = if admission.is_encrypted() { "https" } else { "http" };
            announce(&format!("the admin server is at {scheme}://{}/", listener.address));
            listener.start(services.http.admin, admission);
        }
    }
}

/// Binds the port of the native protocol. If nothing sets its address and the port is taken, the server starts without
/// it.
fn native_listener(addresses: &Addresses) -> Result<Option<Listener>> {
    let Some(address) = &addresses.native else { return Ok(None) };
    match Listener::bind(address) {
        Ok(listener) => Ok(Some(listener)),
        Err(error) if addresses.must_be_native => Err(error.to_string()),
        Err(error) => {
            tracing::warn!(
                "{error}: the native protocol is disabled; set another address with --cql HOST:PORT"
            );
            Ok(None)
        }
    }
}

/// Logs and prints the address of a port. Standard output may be closed, which must not end the server.
fn announce(line: &str) {
    tracing::info!("{line}");
    if let Err(error) = writeln!(std::io::stdout(), "{line}") {
        tracing::warn!("cannot print this line: {line}: {error}");
    }
}
