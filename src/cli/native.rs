//! What the command line says about the native protocol.

use std::net::{Ipv6Addr, SocketAddr};

use clap::Args;

use crate::compat::features::Claim;
use crate::config::Config;

/// The release that drivers of today take for one they know, and whose schema tables they then read.
const CLAIM: &str = "4.0.11";

/// The value of `--cql` with which there is no native protocol.
const OFF: &str = "off";

#[derive(Debug, Args)]
pub struct NativeArgs {
    /// Where clients of CQL's native protocol are served, instead of the configuration's NativeTransportAddress and
    /// NativeTransportPort; port 0 picks a free one; `off` serves none [default: port 9042 where Thrift clients are
    /// served, or a free one if theirs is]
    #[arg(long, value_name = "HOST:PORT")]
    cql: Option<String>,
    /// The release that the native protocol says the server is: drivers choose by it what they ask for [default: 4.0.11]
    #[arg(long, value_name = "VERSION", value_parser = Claim::new)]
    claim: Option<Claim>,
}

impl NativeArgs {
    /// Whether somebody has said where the native protocol is served.
    pub fn is_asked_for(&self, config: &Config) -> bool {
        self.cql.is_some() || config.native_address.is_some()
    }

    /// The release that the native protocol reports.
    pub fn claim(&self) -> Claim {
        self.claim.clone().or_else(|| Claim::new(CLAIM).ok()).unwrap_or_default()
    }

    /// Where the native protocol is served; `None`: nowhere. `thrift` is the `--thrift` of the command line: it moves
    /// the native protocol along, but for its port. A gateway of a cluster serves none, and to ask for it is an error.
    pub fn address(
        &self,
        config: &Config,
        thrift: Option<&str>,
        is_gateway: bool,
    ) -> Result<Option<String>, String> {
        let address = self.address_of_protocol(config, thrift, is_gateway)?;
        if address.is_none() && self.claim.is_some() {
            return Err(
                "--claim has no effect: it is for the native protocol, which is not served; leave it away"
                    .to_owned(),
            );
        }
        Ok(address)
    }

    fn address_of_protocol(
        &self,
        config: &Config,
        thrift: Option<&str>,
        is_gateway: bool,
    ) -> Result<Option<String>, String> {
        match self.cql.as_deref() {
            Some(OFF) => return Ok(None),
            Some(_) if is_gateway => {
                return Err("--cql: a gateway of a cluster does not serve the native protocol; applications that speak CQL \
                            find the same tables on the cluster itself"
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
        // Where the Thrift port does not matter, several servers run side by side.
        let is_any = moved.map_or(config.thrift_port == 0, |(_, port)| port == "0");
        let port = if is_any { 0 } else { config.native_port };
        Ok(Some(socket_address(host, port)))
    }
}

/// `host:port`, with the brackets that an address of IPv6 needs.
fn socket_address(host: &str, port: u16) -> String {
    match host.parse::<Ipv6Addr>() {
        Ok(address) => SocketAddr::from((address, port)).to_string(),
        Err(_) => format!("{host}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config;
    use crate::marshal::Types;

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
    fn a_claim_without_the_protocol_is_refused() {
        let config = config::parse(config::DEFAULT, "a.xml", &Types::builtin()).unwrap();
        let args = |cql: &str| NativeArgs { cql: Some(cql.to_owned()), claim: Claim::new("3.11.0").ok() };
        assert!(args("off").address(&config, None, false).unwrap_err().contains("--claim has no effect"));
        assert!(args("localhost:1").address(&config, None, false).unwrap().is_some());
        assert_eq!(NativeArgs { cql: None, claim: None }.claim(), Claim::new(CLAIM).unwrap());
    }

    #[test]
    fn the_native_protocol_is_where_thrift_is() {
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
