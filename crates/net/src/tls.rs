//! TLS of servers and clients: reads certificates and keys, and does the handshakes.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::{WebPkiClientVerifier, danger::ClientCertVerifier};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{
    self, AlertDescription, ClientConfig, DigitallySignedStruct, RootCertStore, ServerConfig, SignatureScheme,
};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::handler::ConnectionEnd;
use crate::limits::PEM_BYTES_MAX;
use crate::server_trust::ServerTrust;
use crate::tls_error::{HandshakeError, TlsError};
use config::ClientEncryption;

/// The stream of a client, after the handshake.
pub type ServerTls = tokio_rustls::server::TlsStream<TcpStream>;
/// The stream to a server, after the handshake.
pub type ClientTls = tokio_rustls::client::TlsStream<TcpStream>;

/// Returns the TCP connection below a client's stream.
pub(crate) fn socket_of(stream: &ServerTls) -> &TcpStream {
    stream.get_ref().0
}

/// Does the handshakes of a server.
#[derive(Clone)]
pub(crate) struct Acceptor(TlsAcceptor);

impl Acceptor {
    /// Reads the certificate, the key and the authorities that the options name.
    pub(crate) fn open(options: &ClientEncryption) -> Result<Acceptor, TlsError> {
        Ok(Acceptor(TlsAcceptor::from(Arc::new(server_config(options)?))))
    }

    /// Does the handshake with a client. A TLS error closes the connection, an error of the network has lost it.
    pub(crate) async fn accept(&self, stream: TcpStream) -> Result<ServerTls, ConnectionEnd> {
        self.0.accept(stream).await.map_err(|error| {
            let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
            match of_tls {
                Some(why) => ConnectionEnd::Closed(handshake_error(why).into()),
                None => ConnectionEnd::Lost(error),
            }
        })
    }
}

fn handshake_error(error: &rustls::Error) -> HandshakeError {
    use AlertDescription::{BadCertificate, CertificateUnknown, UnknownCA};
    let why = error.to_string();
    match error {
        rustls::Error::PeerIncompatible(_) => HandshakeError::Outdated(why),
        rustls::Error::AlertReceived(BadCertificate | CertificateUnknown | UnknownCA) => {
            HandshakeError::Distrusted(why)
        }
        _ => HandshakeError::Failed(why),
    }
}

/// Does the handshakes of a client.
#[derive(Clone)]
pub struct Connector(TlsConnector);

impl Connector {
    /// Reads the files of the trust.
    pub fn open(trust: &ServerTrust) -> Result<Connector, TlsError> {
        Ok(Connector(TlsConnector::from(Arc::new(client_config(trust)?))))
    }

    /// Returns whether certificates can have the name of a host.
    pub fn can_name(&self, host: &str) -> bool {
        ServerName::try_from(host).is_ok()
    }

    /// Does the handshake with the server of a host, which is a name or an address.
    pub async fn connect(&self, host: &str, stream: TcpStream) -> io::Result<ClientTls> {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        self.0.connect(name, stream).await
    }
}

/// Reads the files and returns a server configuration for TLS 1.2 and 1.3.
fn server_config(options: &ClientEncryption) -> Result<ServerConfig, TlsError> {
    let (certificate_file, key_file) = (&options.certificate_file, &options.key_file);
    let certificates = certificates(certificate_file)?;
    let key = private_key(key_file)?;
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS12, &TLS13])
        .map_err(|why| TlsError::Protocol(why.to_string()))?;
    let builder = match &options.client_authorities {
        Some(file) => builder.with_client_cert_verifier(verifier(file, options.require_client_auth)?),
        None => builder.with_no_client_auth(),
    };
    builder.with_single_cert(certificates, key).map_err(|reason| TlsError::Pair {
        certificate: certificate_file.clone(),
        key: key_file.clone(),
        reason: reason.to_string(),
    })
}

fn wrong_authorities(file: &Path, reason: &dyn Display) -> TlsError {
    TlsError::Authorities { file: file.to_owned(), reason: reason.to_string() }
}

/// Returns the verifier of client certificates, which must be signed by an authority in `file`.
fn verifier(file: &Path, is_required: bool) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let mut authorities = RootCertStore::empty();
    for certificate in certificates(file)? {
        authorities.add(certificate).map_err(|error| wrong_authorities(file, &error))?;
    }
    let provider = Arc::new(ring::default_provider());
    let mut builder = WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), provider);
    if !is_required {
        builder = builder.allow_unauthenticated();
    }
    builder.build().map_err(|error| wrong_authorities(file, &error))
}

/// Reads the files and returns a client configuration for TLS 1.2 and 1.3.
///
/// A server is trusted if its certificate is in the file, whatever name it has, or if an authority in the file has signed
/// it for the server's name. Old clusters often have certificates without a name, which clients trusted one by one.
fn client_config(trust: &ServerTrust) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let known = certificates(&trust.authorities)?;
    let mut roots = RootCertStore::empty();
    for certificate in &known {
        roots.add(certificate.clone()).map_err(|error| wrong_authorities(&trust.authorities, &error))?;
    }
    let signed = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
    let signed = signed.map_err(|error| wrong_authorities(&trust.authorities, &error))?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS12, &TLS13])
        .map_err(|why| TlsError::Protocol(why.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(KnownOrSigned { known, signed }));
    match &trust.own {
        None => Ok(builder.with_no_client_auth()),
        Some((certificate, key)) => {
            let pair = builder.with_client_auth_cert(certificates(certificate)?, private_key(key)?);
            pair.map_err(|reason| TlsError::Pair {
                certificate: certificate.clone(),
                key: key.clone(),
                reason: reason.to_string(),
            })
        }
    }
}

/// Verifies that a server's certificate is known, or signed by a known authority. The signatures of the handshake, which
/// prove that the server has the key of its certificate, are verified in both cases.
#[derive(Debug)]
struct KnownOrSigned {
    known: Vec<CertificateDer<'static>>,
    signed: Arc<WebPkiServerVerifier>,
}

impl ServerCertVerifier for KnownOrSigned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if self.known.iter().any(|known| known == end_entity) {
            return Ok(ServerCertVerified::assertion());
        }
        self.signed.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signed.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.signed.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.signed.supported_verify_schemes()
    }
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    const WANTED: &str = "certificates";
    let text = read(file)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    match found {
        Ok(certificates) if certificates.is_empty() => {
            Err(not_pem(file, &text, WANTED, &pem::Error::NoItemsFound))
        }
        Ok(certificates) => Ok(certificates),
        Err(error) => Err(not_pem(file, &text, WANTED, &error)),
    }
}

fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let text = read(file)?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| not_pem(file, &text, "a private key", &error))
}

fn read(file: &Path) -> Result<Vec<u8>, TlsError> {
    let mut text = Vec::new();
    // Read one byte more than allowed, to detect a longer file without reading all of it.
    let limit = PEM_BYTES_MAX as u64 + 1;
    File::open(file)
        .and_then(|opened| opened.take(limit).read_to_end(&mut text))
        .map_err(|reason| TlsError::Unreadable { file: file.to_owned(), reason })?;
    if text.len() > PEM_BYTES_MAX {
        return Err(TlsError::TooLong { file: file.to_owned() });
    }
    Ok(text)
}

/// Returns the error for a file without PEM data. It names the format of the file if that is a common one, and the
/// command that converts it.
fn not_pem(file: &Path, text: &[u8], wanted: &'static str, error: &pem::Error) -> TlsError {
    const JAVA_KEYSTORE: [u8; 4] = [0xfe, 0xed, 0xfe, 0xed];
    // The outer sequence of a PKCS #12 file, which newer keystores are.
    const DER: [u8; 2] = [0x30, 0x82];
    let reason = if text.starts_with(&JAVA_KEYSTORE) {
        "it is a Java keystore: convert it with `keytool -importkeystore -deststoretype PKCS12` and `openssl pkcs12 -nodes`"
            .to_owned()
    } else if text.starts_with(&DER) {
        "it is binary: convert a keystore with `openssl pkcs12 -nodes`, a certificate with `openssl x509 -inform der`"
            .to_owned()
    } else if text.windows(9).any(|window| window == b"ENCRYPTED") {
        "the key has a password: `openssl pkey` takes it off".to_owned()
    } else if matches!(error, pem::Error::NoItemsFound) {
        "there are none in it".to_owned()
    } else {
        error.to_string()
    };
    TlsError::NotPem { file: file.to_owned(), wanted, reason }
}
