//! A certificate authority and certificates that tests create at run time.

use std::fs;
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use config::ClientEncryption;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{
    ClientConfig, ClientConnection, RootCertStore, StreamOwned, SupportedProtocolVersion,
};

use super::client::PATIENCE;

/// A client's stream over TLS.
pub type TlsStream = StreamOwned<ClientConnection, TcpStream>;

/// A certificate authority with a new random name.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate with its key, as PEM.
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    pub fn new() -> Authority {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        let name = uuid::Uuid::new_v4().to_string();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        Authority(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub fn pem(&self) -> String {
        self.0.pem()
    }

    /// Creates and signs a certificate that is valid for a server on localhost and for a client.
    pub fn sign(&self) -> Identity {
        let key = KeyPair::generate().unwrap();
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let certificate = CertificateParams::new(names).unwrap().signed_by(&key, &self.0).unwrap();
        Identity { certificate: certificate.pem(), key: key.serialize_pem() }
    }

    /// Writes the files of a new server certificate, and returns the encryption settings that name them.
    pub fn server_in(&self, directory: &Path, optional: bool) -> ClientEncryption {
        let [certificate_file, key_file] = self.sign().write(directory);
        ClientEncryption {
            certificate_file,
            key_file,
            client_authorities: None,
            require_client_auth: false,
            optional,
        }
    }

    /// Connects a client that trusts this authority. The handshake happens with the first message, so its errors appear
    /// there.
    pub fn connect(
        &self,
        address: SocketAddr,
        version: &'static SupportedProtocolVersion,
        identity: Option<&Identity>,
    ) -> TlsStream {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem().as_bytes()).unwrap()).unwrap();
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(roots);
        let config = match identity {
            None => builder.with_no_client_auth(),
            Some(identity) => builder
                .with_client_auth_cert(
                    vec![CertificateDer::from_pem_slice(identity.certificate.as_bytes()).unwrap()],
                    PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap(),
                )
                .unwrap(),
        };
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::new(config), name).unwrap();
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        StreamOwned::new(connection, stream)
    }
}

impl Identity {
    /// Writes `server.pem` and `server.key` into a directory and overwrites existing files.
    pub fn write(&self, directory: &Path) -> [PathBuf; 2] {
        let files = [directory.join("server.pem"), directory.join("server.key")];
        fs::write(&files[0], &self.certificate).unwrap();
        fs::write(&files[1], &self.key).unwrap();
        files
    }
}
