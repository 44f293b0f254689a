//! Takes the place of `tls` in a build without the feature `cluster-tls`.

use scylla::client::session_builder::SessionBuilder;

use crate::options::ClusterTls;
use store::{Result, StoreError};

/// Returns `Mismatch`: a gateway that is configured to encrypt must not connect without TLS.
pub(super) fn encrypt(_builder: SessionBuilder, _tls: &ClusterTls) -> Result<SessionBuilder> {
    Err(StoreError::Mismatch(
        "TLS to the nodes is configured (CertificateAuthorities in <Cluster>, or --cluster-ca), and this program was \
         built without it: start it with ./serve, which builds it with TLS then, or build it with `cargo build \
         --release --features cluster-tls`"
            .to_owned(),
    ))
}
