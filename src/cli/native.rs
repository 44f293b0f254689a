//! The options of the native protocol.

use std::net::{Ipv6Addr, SocketAddr};

use clap::Args;

use crate::cli::Result;
use base::compat::features::ReportedVersion;
use config::Config;

/// The default reported version: current drivers support it, and read its schema tables.
const CLAIM: &str = "4.0.11";

/// The value of `--cql` that disables the native protocol.
const OFF: &str = "off";

#[derive(Debug, Args)]
#[command(next_help_heading = "CQL clients")]
pub(super) struct NativeArgs {
    /// The address of CQL, or `off` [default: 127.0.0.1:9042]
    ///
    /// The default comes from the configuration, else it is port 9042 at the address of Thrift. The configuration's are
    /// NativeTransportAddress and NativeTransportPort. Port 0 picks a free one, which is also the default if Thrift has
    /// port 0.
    #[arg(long, value_name = "HOST:PORT")]
    cql: Option<String>,
    /// The version that drivers see [default: 4.0.11]
    ///
    /// Drivers choose features by this version.
    #[arg(long, value_name = "VERSION", value_parser = ReportedVersion::new)]
    claim: Option<ReportedVersion>,
}

impl NativeArgs {
    /// Returns whether an option or the configuration sets the address of the native protocol.
    pub(super) fn is_asked_for(&self, config: &Config) -> bool {
        self.cql.is_some() || config.native_address.is_some()
    }

    /// Returns the reported version.
    pub(super) fn claim(&self) -> ReportedVersion {
        self.claim.clone().or_else(|| ReportedVersion::new(CLAIM).ok()).unwrap_or_default()
    }

    /// Returns the address of the native protocol; `None` if it is disabled. `thrift` is the `--thrift` option: its
    /// host applies to the native protocol, too. A gateway does not serve the native protocol.
    ///
    /// # Errors
    ///
    /// If options contradict each other, or enable the protocol on a gateway.
    pub(super) fn address(
        &self,
        config: &Config,
        thrift: Option<&str>,
        is_gateway: bool,
    ) -> Result<Option<String>> {
        let address = self.address_of_protocol(config, thrift, is_gateway)?;
        if address.is_none() && self.claim.is_some() {
            return Err("--claim has no effect: it is for the native protocol, which is disabled; remove it"
                .to_owned());
        }
        Ok(address)
    }

    fn address_of_protocol(
        &self,
        config: &Config,
        thrift: Option<&str>,
        is_gateway: bool,
    ) -> Result<Option<String>> {
        match self.cql.as_deref() {
            Some(OFF) => return Ok(None),
            Some(_) if is_gateway => {
                return Err("--cql: a gateway of a cluster does not serve the native protocol; CQL applications can use the \
                            same tables on the cluster itself"
                    .to_owned());
            }
            None if is_gateway => return Ok(None),
            Some(address) => return Ok(Some(address.to_owned())),
            None if !config.native_transport => return Ok(None),
            None => {}
        }
        let moved = thrift.and_then(|address| address.rsplit_once(':'));
        let host = match (&config.native_address, moved) {
            (None, Some((host, _))) => host,
            _ => config.native_host(),
        };
        // If the Thrift port is a free one, several servers may run on this machine.
        let is_any = moved.map_or(config.thrift_port == 0, |(_, port)| port == "0");
        let port = if is_any { 0 } else { config.native_port };
        Ok(Some(socket_address(host, port)))
    }
}

/// Returns `host:port`, with brackets around an IPv6 address.
fn socket_address(host: &str, port: u16) -> String {
    match host.parse::<Ipv6Addr>() {
        Ok(address) => SocketAddr::from((address, port)).to_string(),
        Err(_) => format!("{host}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::marshal::Types;

    fn address(cql: Option<&str>, thrift: Option<&str>, elements: &str) -> Option<String> {
        let args = NativeArgs { cql: cql.map(str::to_owned), claim: None };
        let file = format!("<Storage>{elements}</Storage>");
        args.address(&config::parse(&file, "a.xml", &Types::builtin()).unwrap(), thrift, false).unwrap()
    }

    #[test]
    fn a_gateway_serves_no_native_protocol() {
        let config = config::parse(config::DEFAULT, "a.xml", &Types::builtin()).unwrap();
        let of = |cql: Option<&str>| {
            NativeArgs { cql: cql.map(str::to_owned), claim: None }.address(&config, None, true)
        };
        assert_eq!(of(None), Ok(None));
        assert_eq!(of(Some("off")), Ok(None));
        assert!(of(Some("localhost:1")).unwrap_err().contains("on the cluster itself"));
    }

    #[test]
    fn a_reported_version_without_the_native_protocol_is_refused() {
        let config = config::parse(config::DEFAULT, "a.xml", &Types::builtin()).unwrap();
        let args =
            |cql: &str| NativeArgs { cql: Some(cql.to_owned()), claim: ReportedVersion::new("3.11.0").ok() };
        assert!(args("off").address(&config, None, false).unwrap_err().contains("--claim has no effect"));
        assert!(args("localhost:1").address(&config, None, false).unwrap().is_some());
        assert_eq!(NativeArgs { cql: None, claim: None }.claim(), ReportedVersion::new(CLAIM).unwrap());
    }

    #[test]
    fn the_native_protocol_has_the_host_of_thrift() {
        let own = "<NativeTransportAddress>::1</NativeTransportAddress><NativeTransportPort>9</NativeTransportPort>";
        for (cql, thrift, elements, expected) in [
            (None, None, "", Some("127.0.0.1:9042")),
            (
                None,
                None,
                "<ThriftAddress>cassandra.example.org</ThriftAddress>",
                Some("cassandra.example.org:9042"),
            ),
            (None, None, "<ThriftPort>0</ThriftPort>", Some("127.0.0.1:0")),
            (None, Some("0.0.0.0:9161"), "<ThriftPort>0</ThriftPort>", Some("0.0.0.0:9042")),
            (None, Some("[::1]:0"), "", Some("[::1]:0")),
            (None, Some("0.0.0.0:9161"), own, Some("[::1]:9")),
            (Some("localhost:1"), Some("0.0.0.0:0"), own, Some("localhost:1")),
            (
                Some("localhost:1"),
                None,
                "<StartNativeTransport>false</StartNativeTransport>",
                Some("localhost:1"),
            ),
            (None, None, "<StartNativeTransport>false</StartNativeTransport>", None),
            (Some("off"), None, "", None),
        ] {
            assert_eq!(address(cql, thrift, elements).as_deref(), expected, "{cql:?} {thrift:?} {elements}");
        }
    }
}
