//! Reads certificates and keys, and makes the TLS configuration of the server.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::{VerifierBuilderError, WebPkiClientVerifier, danger::ClientCertVerifier};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{
    self, ClientConfig, DigitallySignedStruct, RootCertStore, ServerConfig, SignatureScheme,
};

use crate::limits::PEM_BYTES_MAX;
use config::ClientEncryption;

/// Why the files cannot be used for TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error("cannot read {}: {reason}", file.display())]
    Unreadable { file: PathBuf, reason: std::io::Error },
    #[error("{} has more than {PEM_BYTES_MAX} bytes: it is not a certificate or key", file.display())]
    TooLong { file: PathBuf },
    #[error("{} is not a PEM file with {wanted}: {reason}", file.display())]
    NotPem { file: PathBuf, wanted: &'static str, reason: String },
    #[error("the certificate in {} cannot be used with the key in {}: {reason}", certificate.display(), key.display())]
    Pair { certificate: PathBuf, key: PathBuf, reason: rustls::Error },
    #[error("the authorities in {} cannot be used: {reason}", file.display())]
    Authorities { file: PathBuf, reason: String },
    #[error("TLS cannot be set up: {0}")]
    Protocol(rustls::Error),
}

/// Reads the files and returns a server configuration for TLS 1.2 and 1.3.
pub fn server_config(options: &ClientEncryption) -> Result<ServerConfig, TlsError> {
    let (certificate_file, key_file) = (&options.certificate_file, &options.key_file);
    let certificates = certificates(certificate_file)?;
    let key = private_key(key_file)?;
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&TLS12, &TLS13])
        .map_err(TlsError::Protocol)?;
    let builder = match &options.client_authorities {
        Some(file) => builder.with_client_cert_verifier(verifier(file, options.require_client_auth)?),
        None => builder.with_no_client_auth(),
    };
    builder.with_single_cert(certificates, key).map_err(|reason| TlsError::Pair {
        certificate: certificate_file.clone(),
        key: key_file.clone(),
        reason,
    })
}

/// Returns the verifier of client certificates, which must be signed by an authority in `file`.
fn verifier(file: &Path, is_required: bool) -> Result<Arc<dyn ClientCertVerifier>, TlsError> {
    let wrong = |reason: String| TlsError::Authorities { file: file.to_owned(), reason };
    let mut authorities = RootCertStore::empty();
    for certificate in certificates(file)? {
        authorities.add(certificate).map_err(|error| wrong(error.to_string()))?;
    }
    let provider = Arc::new(ring::default_provider());
    let mut builder = WebPkiClientVerifier::builder_with_provider(Arc::new(authorities), provider);
    if !is_required {
        builder = builder.allow_unauthenticated();
    }
    builder.build().map_err(|error: VerifierBuilderError| wrong(error.to_string()))
}

/// The servers that a client trusts, and the certificate by which it identifies itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTrust {
    /// Certificates of authorities, or of servers themselves.
    pub authorities: PathBuf,
    /// The client's own certificate and its key.
    pub own: Option<(PathBuf, PathBuf)>,
}

/// Reads the files and returns a client configuration for TLS 1.2 and 1.3.
///
/// A server is trusted if its certificate is in the file, whatever name it has, or if an authority in the file has signed
/// it for the server's name. Old clusters often have certificates without a name, which clients trusted one by one.
pub fn client_config(trust: &ServerTrust) -> Result<ClientConfig, TlsError> {
    let provider = Arc::new(ring::default_provider());
    let known = certificates(&trust.authorities)?;
    let mut roots = RootCertStore::empty();
    let wrong = |reason: String| TlsError::Authorities { file: trust.authorities.clone(), reason };
    for certificate in &known {
        roots.add(certificate.clone()).map_err(|error| wrong(error.to_string()))?;
    }
    let signed = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
    let signed = signed.map_err(|error| wrong(error.to_string()))?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS12, &TLS13])
        .map_err(TlsError::Protocol)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(KnownOrSigned { known, signed }));
    match &trust.own {
        None => Ok(builder.with_no_client_auth()),
        Some((certificate, key)) => {
            let pair = builder.with_client_auth_cert(certificates(certificate)?, private_key(key)?);
            pair.map_err(|reason| TlsError::Pair {
                certificate: certificate.clone(),
                key: key.clone(),
                reason,
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
    let has = |words: &[u8]| text.windows(words.len()).any(|window| window == words);
    let reason = if text.starts_with(&JAVA_KEYSTORE) {
        "it is a Java keystore: convert it with `keytool -importkeystore -deststoretype PKCS12` and `openssl pkcs12 -nodes`"
            .to_owned()
    } else if text.starts_with(&DER) {
        "it is binary: convert a keystore with `openssl pkcs12 -nodes`, a certificate with `openssl x509 -inform der`"
            .to_owned()
    } else if has(b"ENCRYPTED") {
        "the key has a password: `openssl pkey` takes it off".to_owned()
    } else if matches!(error, pem::Error::NoItemsFound) {
        "there are none in it".to_owned()
    } else {
        error.to_string()
    };
    TlsError::NotPem { file: file.to_owned(), wanted, reason }
}
