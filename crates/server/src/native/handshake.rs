//! The handshake of a connection: STARTUP, login, REGISTER and OPTIONS.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};

use super::error::{FailedOperation, NativeError};
use super::event::NativeEventKind;
use super::identity::Identity;
use super::reply::Reply;
use super::request;
use super::service::NativeService;
use crate::observed_request::report_unreadable;
use base::util::metrics::EndedRequest;
use db::faults::ClientConnection;
use db::{Credential, Error};
use wire::native::{
    BodyReader, BodyWriter, Compression, ProtocolVersion, RequestCode, ResponseCode, UNREADABLE,
};

/// The authenticator class that makes drivers send a name and a password.
const AUTHENTICATOR: &str = "org.apache.cassandra.auth.PasswordAuthenticator";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Before STARTUP.
    New,
    /// A login is required and has not succeeded.
    LoggingIn,
    /// The client may send statements.
    Ready,
}

/// The state of a connection's handshake, and what the client has selected in it.
#[derive(Debug)]
pub struct Handshake {
    phase: Phase,
    /// The keyspace and the user of the connection, which statements share.
    pub identity: Arc<Identity>,
    /// The compression that STARTUP has selected; `None` for uncompressed frames.
    pub compression: Option<Compression>,
    /// The kinds of events that the client has registered for.
    pub(crate) registered: Vec<NativeEventKind>,
}

/// The opcode and body of a reply.
type Answer = (ResponseCode, BytesMut);

impl Handshake {
    /// Returns the initial state for a client at an address. `connection` is set on a server with faults.
    pub fn new(client: IpAddr, connection: Option<ClientConnection>) -> Handshake {
        let identity = Arc::new(Identity::new(client, connection));
        Handshake { phase: Phase::New, identity, compression: None, registered: Vec::new() }
    }

    /// Returns whether STARTUP has succeeded.
    pub fn has_started(&self) -> bool {
        self.phase != Phase::New
    }

    /// Returns whether the client may send statements.
    pub fn is_ready(&self) -> bool {
        self.phase == Phase::Ready
    }

    /// Checks whether a request is allowed in this state. The texts are Cassandra's.
    pub fn check(&self, code: RequestCode, version: ProtocolVersion) -> Result<(), NativeError> {
        use RequestCode::{AuthResponse, Credentials, Options, Startup};
        check_version(code, version)?;
        let unexpected = |why: &str| {
            let name = code.name();
            Err(NativeError::protocol(format!("Unexpected message {name}, {why}")))
        };
        match (self.phase, code) {
            (_, Options) | (Phase::New, Startup) | (Phase::LoggingIn, AuthResponse | Credentials) => Ok(()),
            (Phase::New, _) => unexpected("expecting STARTUP or OPTIONS"),
            (Phase::LoggingIn, _) if version < ProtocolVersion::V2 => unexpected("expecting CREDENTIALS"),
            (Phase::LoggingIn, _) => unexpected("expecting SASL_RESPONSE"),
            (Phase::Ready, Startup | AuthResponse | Credentials) => {
                unexpected("the connection is already initialized")
            }
            (Phase::Ready, _) => Ok(()),
        }
    }

    /// Answers a request of the handshake. The connection waits for the reply, because later requests depend on it.
    pub async fn answer(
        &mut self,
        service: &NativeService,
        code: RequestCode,
        stream: i16,
        body: BodyReader,
    ) -> Reply {
        let version = body.version;
        match self.answered(service, code, body).await {
            Ok((code, body)) => Reply::new(stream, code, body),
            Err(error) => {
                match &error {
                    NativeError::Protocol(_) => {
                        report_unreadable(&service.database, UNREADABLE, &error, &EndedRequest::UNREADABLE)
                    }
                    _ => service.database.activity().errors.add("native", code.name(), &error),
                }
                Reply::error(stream, &error, FailedOperation::default(), version)
            }
        }
    }

    async fn answered(
        &mut self,
        service: &NativeService,
        code: RequestCode,
        mut body: BodyReader,
    ) -> Result<Answer, NativeError> {
        let version = body.version;
        match code {
            RequestCode::Startup => self.start(service, request::startup(&mut body)?, version),
            RequestCode::Credentials => {
                let credentials = body.string_map()?.into_iter();
                let credentials = credentials.map(|(name, value)| (name.into(), value.into())).collect();
                self.log_in(service, credentials).await?;
                Ok((ResponseCode::Ready, BytesMut::new()))
            }
            RequestCode::AuthResponse => {
                let credentials = plain(&body.bytes()?.unwrap_or_default())?;
                self.log_in(service, credentials).await?;
                let mut answer = BytesMut::new();
                BodyWriter::new(&mut answer, version).bytes(None);
                Ok((ResponseCode::AuthSuccess, answer))
            }
            RequestCode::Register => {
                for kind in request::register(&mut body)? {
                    if !self.registered.contains(&kind) {
                        self.registered.push(kind);
                    }
                }
                Ok((ResponseCode::Ready, BytesMut::new()))
            }
            _ => Ok((ResponseCode::Supported, supported(service, version))),
        }
    }

    fn start(
        &mut self,
        service: &NativeService,
        options: BTreeMap<String, String>,
        version: ProtocolVersion,
    ) -> Result<Answer, NativeError> {
        let Some(cql_version) = options.get("CQL_VERSION") else {
            return Err(NativeError::protocol("Missing value CQL_VERSION in STARTUP message"));
        };
        let mut numbers = cql_version.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
        let leading = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
        if leading < (2, 99) {
            return Err(NativeError::protocol(format!(
                "CQL version {cql_version} is not supported by the binary protocol (supported version are >= 3.0.0)"
            )));
        }
        if let Some(name) = options.get("COMPRESSION") {
            let name = name.to_ascii_lowercase();
            let Some(compression) = Compression::named(&name) else {
                return Err(NativeError::protocol(format!("Unknown compression algorithm: {name}")));
            };
            if version.has_segments() && compression == Compression::Snappy {
                return Err(NativeError::protocol("Snappy compression is not supported in protocol V5"));
            }
            self.compression = Some(compression);
        }
        if service.database.logins().are_required() {
            self.phase = Phase::LoggingIn;
            let mut answer = BytesMut::new();
            BodyWriter::new(&mut answer, version).string(AUTHENTICATOR);
            return Ok((ResponseCode::Authenticate, answer));
        }
        self.phase = Phase::Ready;
        Ok((ResponseCode::Ready, BytesMut::new()))
    }

    async fn log_in(
        &mut self,
        service: &NativeService,
        credentials: Vec<Credential>,
    ) -> Result<(), NativeError> {
        let release = service.behaviour().release;
        let logins = service.database.logins();
        let login = logins.authenticate(&credentials, release);
        let user = logins.guarded(Some(self.identity.address), &credentials, login).await?;
        self.identity.log_in(user);
        self.phase = Phase::Ready;
        Ok(())
    }
}

/// Checks whether a version of the protocol has a kind of request.
fn check_version(code: RequestCode, version: ProtocolVersion) -> Result<(), NativeError> {
    let why = match code {
        RequestCode::Batch if version < ProtocolVersion::V2 => {
            "BATCH messages are not support in version 1 of the protocol"
        }
        RequestCode::AuthResponse if version < ProtocolVersion::V2 => {
            "SASL Authentication is not supported in version 1 of the protocol"
        }
        RequestCode::Credentials if version > ProtocolVersion::V1 => {
            "Legacy credentials authentication is not supported in protocol versions > 1. Please use SASL \
             authentication via a SaslResponse message"
        }
        _ => return Ok(()),
    };
    Err(NativeError::protocol(why))
}

/// Returns the name and password in a SASL PLAIN token: `authorization 00 name 00 password`.
fn plain(token: &Bytes) -> Result<Vec<Credential>, NativeError> {
    let wrong = |what: &str| NativeError::from(Error::Authentication(what.to_owned()));
    let mut parts = token.split(|byte| *byte == 0).skip(1);
    let name = parts.next().filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| wrong("Authentication ID must not be null"))?;
    let password = parts.next().filter(|password| !password.is_empty());
    let password = password.ok_or_else(|| wrong("Password must not be null"))?;
    let credential = |key: &'static str, value: &[u8]| (Bytes::from(key), Bytes::copy_from_slice(value));
    Ok(vec![credential("username", name), credential("password", password)])
}

/// Returns the body of SUPPORTED.
fn supported(service: &NativeService, version: ProtocolVersion) -> BytesMut {
    let mut body = BytesMut::new();
    let mut writer = BodyWriter::new(&mut body, version);
    let compressions = if version.has_segments() { &Compression::NAMES[..1] } else { &Compression::NAMES };
    let highest = service.highest_version();
    let supported = ProtocolVersion::ALL.iter().filter(|version| **version <= highest);
    let versions: Vec<String> = supported.map(ProtocolVersion::to_string).collect();
    writer.u16(3);
    writer.string("COMPRESSION");
    writer.strings(compressions.iter().copied());
    writer.string("CQL_VERSION");
    writer.strings(service.reported.of(version).supported_cql_versions().into_iter());
    writer.string("PROTOCOL_VERSIONS");
    writer.strings(versions.iter().map(String::as_str));
    body
}
