//! Errors of TLS, which builds without TLS have too.

use std::path::PathBuf;
use std::time::Duration;

use crate::limits::PEM_BYTES_MAX;

/// Why the files cannot be used for TLS.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The program has no TLS.
    #[error(
        "this program was built without TLS: start it with ./serve, which builds it with TLS if the configuration or \
         an option asks for it, or build it with `cargo build --release`"
    )]
    NotBuilt,
    /// A file cannot be read.
    #[error("cannot read {}: {reason}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The error of the operating system.
        reason: std::io::Error,
    },
    /// A file is too long for a certificate or key.
    #[error("{} has more than {PEM_BYTES_MAX} bytes: it is not a certificate or key", file.display())]
    TooLong {
        /// The file.
        file: PathBuf,
    },
    /// A file has no certificate or key in PEM.
    #[error("{} is not a PEM file with {wanted}: {reason}", file.display())]
    NotPem {
        /// The file.
        file: PathBuf,
        /// The missing item, in words.
        wanted: &'static str,
        /// The message of the library.
        reason: String,
    },
    /// The key does not belong to the certificate, or cannot be used.
    #[error("the certificate in {} cannot be used with the key in {}: {reason}", certificate.display(), key.display())]
    Pair {
        /// The file of the certificate.
        certificate: PathBuf,
        /// The file of the key.
        key: PathBuf,
        /// The message of the library.
        reason: String,
    },
    /// No verifier can be made of a file of authorities.
    #[error("the authorities in {} cannot be used: {reason}", file.display())]
    Authorities {
        /// The file.
        file: PathBuf,
        /// The message of the library.
        reason: String,
    },
    /// The library refuses the versions of TLS.
    #[error("TLS cannot be set up: {0}")]
    Protocol(String),
}

/// Why a handshake failed.
#[derive(Debug, thiserror::Error)]
pub enum HandshakeError {
    /// The first bytes of the client are not TLS.
    #[error(
        "the client does not use TLS, which this server requires; `--tls optional`, or \
         <Optional>true</Optional> in <ClientEncryptionOptions>, allows clients without TLS"
    )]
    NotTls,
    /// The handshake was not completed within this time.
    #[error("the client did not complete the TLS handshake within {0:?}")]
    TooSlow(Duration),
    /// Client and server have no version or cipher in common.
    #[error("the TLS handshake failed: {0}; the server supports TLS 1.2 and 1.3 with their secure ciphers")]
    Outdated(String),
    /// The client refused the server's certificate.
    #[error("the TLS handshake failed: {0}; the client does not trust the server's certificate")]
    Distrusted(String),
    /// Another error of the handshake.
    #[error("the TLS handshake failed: {0}")]
    Failed(String),
}
