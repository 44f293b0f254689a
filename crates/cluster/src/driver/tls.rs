//! TLS for connections to the cluster's nodes.

use std::path::Path;
use std::sync::Arc;

use scylla::client::session_builder::SessionBuilder;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use crate::options::ClusterTls;
use store::{Result, StoreError};

/// Makes the driver encrypt its connections to the nodes.
///
/// # Errors
/// `Mismatch` if a file cannot be read or used.
pub(super) fn encrypt(builder: SessionBuilder, tls: &ClusterTls) -> Result<SessionBuilder> {
    Ok(builder.tls_context(Some(Arc::new(client_config(tls)?))))
}

fn client_config(tls: &ClusterTls) -> Result<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .map_err(|error| StoreError::Mismatch(error.to_string()))?;
    let builder = match &tls.authorities {
        Some(file) => builder.with_root_certificates(authorities(file)?),
        None => builder.dangerous().with_custom_certificate_verifier(Arc::new(AnyCertificate(provider))),
    };
    let Some((certificate, key)) = &tls.certificate else { return Ok(builder.with_no_client_auth()) };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect);
    let chain = chain.map_err(|error| unreadable(certificate, &error))?;
    let own_key = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, &error))?;
    builder.with_client_auth_cert(chain, own_key).map_err(|error| {
        StoreError::Mismatch(format!("{} and {}: {error}", certificate.display(), key.display()))
    })
}

fn authorities(file: &Path) -> Result<RootCertStore> {
    let mut store = RootCertStore::empty();
    let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect::<Result<Vec<_>, _>>);
    for certificate in read.map_err(|error| unreadable(file, &error))? {
        store
            .add(certificate)
            .map_err(|error| StoreError::Mismatch(format!("{}: {error}", file.display())))?;
    }
    if store.is_empty() {
        return Err(StoreError::Mismatch(format!("{} contains no certificate", file.display())));
    }
    Ok(store)
}

fn unreadable(file: &Path, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Mismatch(format!("cannot read {}: {error}", file.display()))
}

/// Accepts any certificate: the connection is encrypted, but the node is not authenticated.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
