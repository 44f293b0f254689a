//! Looks at a running server from outside, as a client.

use std::net::IpAddr;

use super::finding::Findings;
use super::probe::{self, SpokenProtocol};
use crate::cli::Result;
use crate::cli::data;
use crate::cli::http_port::is_loopback;
use base::compat::features::api_version;
use base::schema::is_system_keyspace;
use base::util::limits::LOGGED_KEYSPACES_MAX;
use base::util::{Release, counted, listed};
use traffic::report::{Visible, short};
use transfer::endpoint::ThriftAddress;
use transfer::thrift::{Fields, ThriftClient, ThriftValue};
use wire::thrift::frame::Transport;

/// Characters that are printed of a text of a server.
const SHOWN_CHARS_MAX: usize = 200;

/// Looks at the server at an address.
///
/// # Errors
/// If this process cannot run the client.
pub(super) fn check(address: &str, findings: &mut Findings) -> Result<()> {
    match probe::connect(address) {
        Ok((_, took)) => findings.fine(format!("{address} accepts connections, within {took:.1?}")),
        Err(why) => {
            findings.problem(
                format!("cannot connect to {address}: {why}"),
                "check that the server runs, that it listens on this address (its first lines say where), and the firewall",
            );
            return Ok(());
        }
    }
    match probe::protocol_of(address) {
        SpokenProtocol::ThriftFramed => check_thrift(address, Transport::Framed, findings)?,
        SpokenProtocol::ThriftUnframed => check_thrift(address, Transport::Unframed, findings)?,
        SpokenProtocol::Native => {
            findings.fine("it speaks the native protocol, for CQL drivers; Thrift clients need another port");
        }
        SpokenProtocol::Http(status) => check_health(status, findings),
        SpokenProtocol::Tls => findings.advice(
            "it requires TLS, so nothing more was asked",
            "connect with a client that trusts the server's certificate",
        ),
        SpokenProtocol::Unknown => findings.problem(
            "it answers neither Thrift, nor the native protocol, nor HTTP",
            "something else listens there, or the server is overloaded; look at its log",
        ),
    }
    Ok(())
}

fn check_health(status: u16, findings: &mut Findings) {
    match status {
        200 => findings.fine("it speaks HTTP, and /health is well"),
        401 | 403 => findings.advice(
            format!("it speaks HTTP, and refuses /health without a token ({status})"),
            "ask with the token: curl -H 'Authorization: Bearer TOKEN' http://HOST:PORT/health",
        ),
        503 => findings.problem(
            "it speaks HTTP, and /health reports that the server cannot do its work (503)",
            "open / on this port, which says what is wrong, and look at the server's log",
        ),
        _ => findings.advice(
            format!("it speaks HTTP, and answers /health with {status}"),
            "the admin server and the status port answer 200 there; something else may listen on this port",
        ),
    }
}

fn check_thrift(address: &str, transport: Transport, findings: &mut Findings) -> Result<()> {
    let framing = if transport == Transport::Framed { "framed" } else { "unframed" };
    findings.fine(format!("it speaks Thrift, {framing}"));
    let place =
        ThriftAddress { address: address.to_owned(), transport, is_keyed: false, login: None, tls: None };
    data::run(async {
        match ThriftClient::connect(&place, None).await {
            Ok(client) => Look { client, address }.all(findings).await,
            Err(why) => {
                findings.problem(format!("it does not accept a second connection: {why}"), "look at its log")
            }
        }
        Ok(())
    })
}

/// A look by calls of Thrift.
struct Look<'a> {
    client: ThriftClient,
    address: &'a str,
}

impl Look<'_> {
    async fn all(&mut self, findings: &mut Findings) {
        match self.text("describe_version").await {
            Ok(version) => findings.fine(format!("the API has version {version}{}", releases_with(&version))),
            Err(why) => {
                return findings.advice(
                    shown(&why),
                    "servers before 0.6 do not have describe_version; look at the log of any other server",
                );
            }
        }
        if let Ok(name) = self.text("describe_cluster_name").await {
            findings.fine(format!("the cluster is called \"{name}\""));
        }
        let keyspaces = self.keyspaces().await;
        self.check_schema(findings).await;
        match keyspaces {
            Ok(names) => {
                self.check_access(findings);
                self.report_keyspaces(&names, findings).await;
            }
            Err(why) if is_refusal(&why) => {
                findings
                    .fine(format!("it requires a login, so its keyspaces are not shown: {}", shown(&why)));
            }
            Err(why) => findings.advice(shown(&why), ""),
        }
    }

    async fn report_keyspaces(&mut self, names: &[String], findings: &mut Findings) {
        let own: Vec<&String> = names.iter().filter(|name| !is_system_keyspace(name)).collect();
        let Some(first) = own.first() else {
            return findings.advice(
                "it has no keyspaces of applications",
                "define them in the configuration, or let a client create them",
            );
        };
        let names: Vec<String> = own.iter().map(|name| shown(name)).collect();
        let number = counted(own.len() as u64, "keyspace");
        findings.fine(format!("{number}: {}", listed(&names, LOGGED_KEYSPACES_MAX)));
        if let Ok(endpoints) = self.endpoints(first).await {
            self.check_endpoints(&endpoints, findings);
        }
    }

    /// Reports that an address which the network reaches needs no login.
    fn check_access(&self, findings: &mut Findings) {
        if !is_loopback(self.address) {
            findings.advice(
                format!("it needs no login: everybody who reaches {} can read, and probably write", self.address),
                "set an Authenticator (docs/logins.md), or let a firewall admit the application's machines only",
            );
        }
    }

    /// Reports nodes that clients which discover the ring cannot reach.
    fn check_endpoints(&self, endpoints: &[String], findings: &mut Findings) {
        let asked: Option<IpAddr> = self.address.rsplit_once(':').and_then(|(host, _)| host.parse().ok());
        let is_local = asked.is_none_or(|address| address.is_loopback());
        let wrong: Vec<&str> = endpoints
            .iter()
            .filter(|endpoint| {
                endpoint
                    .parse::<IpAddr>()
                    .is_ok_and(|ip| ip.is_unspecified() || ip.is_loopback() && !is_local)
            })
            .map(String::as_str)
            .collect();
        if !wrong.is_empty() {
            findings.advice(
                format!(
                    "describe_ring returns {}: clients that discover the nodes of the ring connect there, and fail",
                    wrong.join(", ")
                ),
                "set ListenAddress in the configuration to the address that clients use",
            );
        }
    }

    /// Reports nodes that disagree about the schema.
    async fn check_schema(&mut self, findings: &mut Findings) {
        if let Ok(ThriftValue::Map(versions)) =
            self.client.call("describe_schema_versions", Fields::default()).await
            && versions.len() > 1
        {
            let versions = versions.len();
            findings.problem(
                format!("the nodes of the cluster have {versions} different schemas, or some are down"),
                "see which: describe_schema_versions, or `nodetool describecluster`",
            );
        }
    }

    async fn text(&mut self, method: &str) -> Result<String> {
        Ok(shown(&self.client.call(method, Fields::default()).await?.into_text()?))
    }

    async fn keyspaces(&mut self) -> Result<Vec<String>> {
        let keyspaces = self.client.call("describe_keyspaces", Fields::default()).await?.into_list()?;
        // Up to 0.6 the call returns a set of names, later a list of definitions.
        let names = keyspaces.into_iter().map(|keyspace| match keyspace {
            ThriftValue::Struct(mut definition) => {
                definition.text(1).ok_or_else(|| "describe_keyspaces: a keyspace has no name".to_owned())
            }
            name => name.into_text(),
        });
        names.collect()
    }

    async fn endpoints(&mut self, keyspace: &str) -> Result<Vec<String>> {
        let ranges = self.client.call("describe_ring", Fields(vec![(1, keyspace.into())])).await?;
        endpoints_of(ranges.into_structs()?)
    }
}

/// Returns the releases that report a version of the API, such as 19.39.0, as the end of a message; empty for an unknown
/// version. The last number differs within a release.
fn releases_with(version: &str) -> String {
    let line = |version: &str| version.rsplit_once('.').map(|(line, _)| line.to_owned());
    let releases = Release::ALL.into_iter().filter(|release| line(api_version(*release)) == line(version));
    let releases: Vec<String> = releases.map(|release| release.to_string()).collect();
    if releases.is_empty() {
        String::new()
    } else {
        format!(", as Cassandra {} has it", releases.join(" and "))
    }
}

fn is_refusal(why: &str) -> bool {
    let why = why.to_lowercase();
    ["logged in", "login", "authenticat", "authoriz"].iter().any(|word| why.contains(word))
}

/// Returns a text of the server on one line, without control characters, which a terminal would obey. A long one is cut.
fn shown(text: &str) -> String {
    short(&Visible(text).to_string(), SHOWN_CHARS_MAX).into_owned()
}

/// Returns the endpoints of a list of TokenRange, each once. Field 4 has the addresses for clients, field 3 the addresses
/// of nodes.
fn endpoints_of(ranges: Vec<Fields>) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for mut range in ranges {
        let mut of_clients = range.take(4).map(ThriftValue::into_list).transpose()?.unwrap_or_default();
        if of_clients.is_empty() {
            of_clients = range.take(3).map(ThriftValue::into_list).transpose()?.unwrap_or_default();
        }
        for endpoint in of_clients {
            found.push(endpoint.into_text()?);
        }
    }
    found.sort();
    found.dedup();
    Ok(found)
}
