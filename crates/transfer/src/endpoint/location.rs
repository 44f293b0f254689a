//! Parses where an endpoint of a copy is.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use base::compat::features::ApiGeneration;
use base::compat::features::releases::{FIRST_AFTER_SET_KEYSPACE, HAS_RANGES_OF_ROWS};
use net::{Connector, ServerStream, ServerTrust, Upstream};
use wire::thrift::frame::Transport;

/// A store to copy from or to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A data directory.
    Data(PathBuf),
    /// A Thrift server.
    Thrift(ThriftAddress),
    /// A server of the native protocol. Only the source of an export.
    Native(NativeAddress),
    /// A directory for SSTables of 3.11. Only a target.
    Sstables(PathBuf),
    /// A cluster with its contact points as given; `None` for the configured cluster.
    Cluster(Option<String>),
}

/// The address of a Thrift server, and how to connect to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThriftAddress {
    /// `host:port`.
    pub address: String,
    /// Whether messages are framed; servers before 0.7 use unframed ones by default.
    pub transport: Transport,
    /// Calls have a keyspace argument, as up to 0.6.
    pub is_keyed: bool,
    /// The login, if the server requires one: the user, and a file whose first line is the password.
    pub login: Option<(String, PathBuf)>,
    /// The trusted servers, if connections are encrypted.
    pub tls: Option<ServerTrust>,
}

/// The address of a server of the native protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NativeAddress {
    /// `host:port`.
    pub address: String,
    /// The login, as for Thrift.
    pub login: Option<(String, PathBuf)>,
    /// The trusted servers, as for Thrift.
    pub tls: Option<ServerTrust>,
}

/// The default ports.
const THRIFT_PORT: u16 = 9160;
const NATIVE_PORT: u16 = 9042;

impl FromStr for Location {
    type Err = String;

    fn from_str(text: &str) -> Result<Location, String> {
        let forms = "use data:DIRECTORY, thrift:HOST:PORT, cluster:HOST,HOST or sstables:DIRECTORY";
        if text == "cluster" {
            return Ok(Location::Cluster(None));
        }
        let (kind, rest) =
            text.split_once(':').ok_or_else(|| format!("unknown location {text:?}: {forms}"))?;
        if rest.is_empty() {
            return Err(format!("{text:?} has no address: {forms}"));
        }
        match kind {
            "data" => Ok(Location::Data(PathBuf::from(rest))),
            "sstables" => Ok(Location::Sstables(PathBuf::from(rest))),
            "thrift" => thrift_place(rest).map(Location::Thrift),
            "native" => native_place(rest).map(Location::Native),
            "cluster" => Ok(Location::Cluster(Some(rest.to_owned()))),
            _ => Err(format!("unknown location {text:?}: {forms}")),
        }
    }
}

fn thrift_place(text: &str) -> Result<ThriftAddress, String> {
    let (address, options) = text.split_once('?').unwrap_or((text, ""));
    let mut version = FIRST_AFTER_SET_KEYSPACE;
    let mut transport = None;
    let mut access = Access::default();
    for option in options.split('&').filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            None if option == "framed" => transport = Some(Transport::Framed),
            None if option == "unframed" => transport = Some(Transport::Unframed),
            Some(("version", release)) => version = release.parse()?,
            Some((name, value)) if access.take(name, value) => {}
            _ => {
                return Err(format!(
                    "unknown option {option:?} of a Thrift server: use framed, unframed, version=0.6, {ACCESS_OPTIONS}"
                ));
            }
        }
    }
    if !HAS_RANGES_OF_ROWS.has(version) {
        return Err(format!("cannot copy from a server of {version}: get_range_slices exists from 0.6 on"));
    }
    let is_keyed = ApiGeneration::of_release(version) != ApiGeneration::AfterSetKeyspace;
    // The default of each release.
    let default = if is_keyed { Transport::Unframed } else { Transport::Framed };
    let (address, transport) = (with_port(address, THRIFT_PORT), transport.unwrap_or(default));
    Ok(ThriftAddress { address, transport, is_keyed, login: access.login()?, tls: access.tls()? })
}

fn native_place(text: &str) -> Result<NativeAddress, String> {
    let (address, options) = text.split_once('?').unwrap_or((text, ""));
    let mut access = Access::default();
    for option in options.split('&').filter(|option| !option.is_empty()) {
        match option.split_once('=') {
            Some((name, value)) if access.take(name, value) => {}
            _ => return Err(format!("unknown option {option:?}: use {ACCESS_OPTIONS}")),
        }
    }
    let address = with_port(address, NATIVE_PORT);
    Ok(NativeAddress { address, login: access.login()?, tls: access.tls()? })
}

fn with_port(address: &str, usual: u16) -> String {
    let has_port = address.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    if has_port { address.to_owned() } else { format!("{address}:{usual}") }
}

const ACCESS_OPTIONS: &str =
    "user=NAME and password-file=FILE, tls-ca=FILE, tls-certificate=FILE and tls-key=FILE";

/// The options of both protocols: the login, and TLS.
#[derive(Debug, Default)]
struct Access {
    user: Option<String>,
    password_file: Option<PathBuf>,
    authorities: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
}

impl Access {
    /// Takes an option. Returns false if it is none of these.
    fn take(&mut self, name: &str, value: &str) -> bool {
        match name {
            "user" => self.user = Some(value.to_owned()),
            "password-file" => self.password_file = Some(PathBuf::from(value)),
            "tls-ca" => self.authorities = Some(PathBuf::from(value)),
            "tls-certificate" => self.certificate = Some(PathBuf::from(value)),
            "tls-key" => self.key = Some(PathBuf::from(value)),
            _ => return false,
        }
        true
    }

    fn login(&self) -> Result<Option<(String, PathBuf)>, String> {
        match (&self.user, &self.password_file) {
            (Some(user), Some(file)) => Ok(Some((user.clone(), file.clone()))),
            (None, None) => Ok(None),
            _ => Err("a login needs both user=NAME and password-file=FILE".to_owned()),
        }
    }

    fn tls(self) -> Result<Option<ServerTrust>, String> {
        match (self.authorities, self.certificate, self.key) {
            (None, None, None) => Ok(None),
            (Some(authorities), None, None) => Ok(Some(ServerTrust { authorities, own: None })),
            (Some(authorities), Some(certificate), Some(key)) => {
                Ok(Some(ServerTrust { authorities, own: Some((certificate, key)) }))
            }
            _ => Err("TLS needs tls-ca=FILE, whose authorities have signed the server's certificate; a client's certificate \
                      needs both tls-certificate=FILE and tls-key=FILE"
                .to_owned()),
        }
    }
}

/// Connects to a server.
///
/// # Errors
///
/// If it does not answer, its certificate is not one of the trusted authorities for this host, or this program was built
/// without TLS.
pub(crate) async fn connect(address: &str, tls: Option<&ServerTrust>) -> Result<ServerStream, String> {
    let connector = tls.map(Connector::open).transpose().map_err(|error| error.to_string())?;
    let upstream = Upstream::new(address, connector).map_err(|error| error.to_string())?;
    upstream.connect().await.map_err(|error| error.to_string())
}

/// Returns the absolute path of a directory, so that its name does not depend on the working directory.
fn absolute(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).or_else(|_| std::path::absolute(path)).unwrap_or_else(|_| path.to_path_buf())
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Location::Data(path) => write!(f, "data:{}", absolute(path).display()),
            Location::Sstables(path) => write!(f, "sstables:{}", absolute(path).display()),
            Location::Thrift(place) => write!(f, "thrift:{}", place.address),
            Location::Native(place) => write!(f, "native:{}", place.address),
            Location::Cluster(Some(points)) => write!(f, "cluster:{points}"),
            Location::Cluster(None) => f.write_str("cluster"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thrift(text: &str) -> ThriftAddress {
        match text.parse().unwrap() {
            Location::Thrift(place) => place,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn places_are_parsed() {
        assert_eq!("data:/var/lib/a:b".parse(), Ok(Location::Data("/var/lib/a:b".into())));
        assert_eq!("cluster:a:9042,b".parse(), Ok(Location::Cluster(Some("a:9042,b".to_owned()))));
        assert_eq!("cluster".parse(), Ok(Location::Cluster(None)));
        assert_eq!("sstables:out".parse(), Ok(Location::Sstables("out".into())));
        let place = thrift("thrift:old.example.org");
        assert_eq!(place.address, "old.example.org:9160");
        assert_eq!((place.transport, place.is_keyed), (Transport::Framed, false));
        let place = thrift("thrift:[::1]:9161?version=0.6");
        assert_eq!(place.address, "[::1]:9161");
        assert_eq!((place.transport, place.is_keyed), (Transport::Unframed, true));
        let login = Some(("theo".to_owned(), "p.txt".into()));
        assert_eq!(thrift("thrift:a?user=theo&password-file=p.txt").login, login);
        let native = NativeAddress {
            address: "a:9042".to_owned(),
            login: thrift("thrift:a?user=theo&password-file=p.txt").login,
            tls: None,
        };
        assert_eq!("native:a?user=theo&password-file=p.txt".parse(), Ok(Location::Native(native)));
        let own = Some(("c.pem".into(), "k.pem".into()));
        let trust = Some(ServerTrust { authorities: "ca.pem".into(), own });
        assert_eq!(thrift("thrift:a?tls-ca=ca.pem&tls-certificate=c.pem&tls-key=k.pem").tls, trust);
        assert_eq!(thrift("thrift:a:1?framed&version=0.6").transport, Transport::Framed);
        assert_eq!(thrift("thrift:a:1?version=2.1&unframed").transport, Transport::Unframed);
    }

    #[test]
    fn invalid_places_are_refused() {
        for (text, expected) in [
            ("data", "use data:DIRECTORY"),
            ("data:", "has no address"),
            ("http://a", "unknown location"),
            ("thrift:a?version=0.5", "from 0.6 on"),
            ("thrift:a?version=9", "unknown release"),
            ("thrift:a?fast", "unknown option"),
            ("thrift:a?user=theo", "needs both"),
            ("thrift:a?tls-certificate=c.pem&tls-key=k.pem", "TLS needs tls-ca"),
            ("native:a?tls-ca=ca.pem&tls-key=k.pem", "both tls-certificate"),
            ("native:a?framed", "unknown option"),
        ] {
            let error = text.parse::<Location>().unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
