//! The services of the server besides its data: its ports, and the releases whose behaviour clients get.

use std::net::{IpAddr, SocketAddr};

use base::compat::features::ReportedVersion;
use server::thrift::Compat;

/// The ports of a server, and the releases that it follows.
#[derive(Debug, Clone)]
pub struct Served {
    /// The address of Thrift.
    pub thrift: SocketAddr,
    /// The address of the native protocol. `None`: disabled, as the following.
    pub native: Option<SocketAddr>,
    /// The address of the status port.
    pub status: Option<SocketAddr>,
    /// The address of the control port.
    pub control: Option<SocketAddr>,
    /// The address of the admin server.
    pub admin: Option<SocketAddr>,
    /// Whether clients may use TLS.
    pub is_encrypted: bool,
    /// The releases whose behaviour Thrift calls get.
    pub compat: Compat,
    /// The version that the native protocol reports.
    pub reported: ReportedVersion,
}

impl Served {
    /// Returns the ports with their names.
    pub fn ports(&self) -> Vec<(&'static str, SocketAddr)> {
        let named = [
            ("Thrift", Some(self.thrift)),
            ("CQL native protocol", self.native),
            ("Admin server", self.admin),
            ("Control API", self.control),
            ("Status", self.status),
        ];
        named.into_iter().filter_map(|(name, address)| Some((name, address?))).collect()
    }

    /// Returns the host by which a client reaches a port. A port on all addresses is reached by the one that the visitor
    /// has used.
    pub fn host(port: SocketAddr, used: IpAddr) -> IpAddr {
        if port.ip().is_unspecified() { used.to_canonical() } else { port.ip() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_on_all_addresses_has_the_host_that_the_visitor_used() {
        let used: IpAddr = "10.0.0.7".parse().unwrap();
        let host = |port: &str| Served::host(port.parse().unwrap(), used).to_string();
        assert_eq!(host("127.0.0.1:9160"), "127.0.0.1");
        assert_eq!(host("0.0.0.0:9160"), "10.0.0.7");
        assert_eq!(host("[::]:9160"), "10.0.0.7");
    }
}
