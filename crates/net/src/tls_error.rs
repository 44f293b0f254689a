//! Errors of TLS, which builds without TLS have too.

use std::path::PathBuf;
use std::time::Duration;

use crate::limits::PEM_BYTES_MAX;

/// Why the files cannot be used for TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    #[error(
        "this program was built without TLS: start it with ./serve, which builds it with TLS if the configuration or \
         an option asks for it, or build it with `cargo build --release`"
    )]
    NotBuilt,
    #[error("cannot read {}: {reason}", file.display())]
    Unreadable { file: PathBuf, reason: std::io::Error },
    #[error("{} has more than {PEM_BYTES_MAX} bytes: it is not a certificate or key", file.display())]
    TooLong { file: PathBuf },
    #[error("{} is not a PEM file with {wanted}: {reason}", file.display())]
    NotPem { file: PathBuf, wanted: &'static str, reason: String },
    #[error("the certificate in {} cannot be used with the key in {}: {reason}", certificate.display(), key.display())]
    Pair { certificate: PathBuf, key: PathBuf, reason: String },
    #[error("the authorities in {} cannot be used: {reason}", file.display())]
    Authorities { file: PathBuf, reason: String },
    #[error("TLS cannot be set up: {0}")]
    Protocol(String),
}

/// Why a handshake failed.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    #[error(
        "the client does not use TLS, which this server requires; `--tls optional`, or \
         <Optional>true</Optional> in <ClientEncryptionOptions>, allows clients without TLS"
    )]
    NotTls,
    #[error("the client did not complete the TLS handshake within {0:?}")]
    TooSlow(Duration),
    #[error("the TLS handshake failed: {0}; the server supports TLS 1.2 and 1.3 with their secure ciphers")]
    Outdated(String),
    #[error("the TLS handshake failed: {0}; the client does not trust the server's certificate")]
    Distrusted(String),
    #[error("the TLS handshake failed: {0}")]
    Failed(String),
}
