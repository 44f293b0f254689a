//! Reads certificates and keys, and makes the TLS configuration of the server.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::server::{VerifierBuilderError, WebPkiClientVerifier, danger::ClientCertVerifier};
use tokio_rustls::rustls::version::{TLS12, TLS13};
use tokio_rustls::rustls::{self, RootCertStore, ServerConfig};

use crate::config::ClientEncryption;
use crate::util::limits::PEM_BYTES_MAX;

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
