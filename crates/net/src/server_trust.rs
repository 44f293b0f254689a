//! The servers that a client of TLS trusts.

use std::path::PathBuf;

/// The servers that a client trusts, and the certificate by which it identifies itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerTrust {
    /// Certificates of authorities, or of servers themselves.
    pub authorities: PathBuf,
    /// The client's own certificate and its key.
    pub own: Option<(PathBuf, PathBuf)>,
}
