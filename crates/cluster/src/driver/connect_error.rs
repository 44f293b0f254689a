//! Errors of connecting to the cluster: whether a later attempt may succeed, and otherwise what to change.

use std::io;

use scylla::errors::{
    BrokenConnectionError, BrokenConnectionErrorKind, ConnectionError, ConnectionPoolError,
    ConnectionSetupRequestErrorKind, DbError, FrameHeaderParseError, MetadataError, NewSessionError,
};
use tokio_rustls::rustls;

use store::StoreError;

/// Converts an error of connecting. `Unavailable`: a later attempt may succeed. `Mismatch`: the configuration must be
/// changed.
pub(super) fn of_connecting(error: &NewSessionError, has_tls: bool) -> StoreError {
    match error {
        NewSessionError::EmptyKnownNodesList | NewSessionError::IllegalConfig(_) => {
            StoreError::Mismatch(error.to_string())
        }
        NewSessionError::MetadataError(MetadataError::ConnectionPoolError(ConnectionPoolError::Broken {
            last_connection_error,
        })) => of_connection(last_connection_error, has_tls),
        NewSessionError::FailedToResolveAnyHostname(names) => {
            unreached(format!("no address was found for {}", names.join(", ")))
        }
        other => unreached(other.to_string()),
    }
}

fn of_connection(error: &ConnectionError, has_tls: bool) -> StoreError {
    match error {
        ConnectionError::ConnectTimeout => unreached("no node answers".to_owned()),
        ConnectionError::IoError(error) => of_io(error),
        ConnectionError::BrokenConnection(error) => of_broken(error, has_tls),
        ConnectionError::ConnectionSetupRequestError(failed) => of_setup(failed.get_error(), has_tls),
        other => unreached(other.to_string()),
    }
}

/// Converts the error of a node to the first requests on a connection.
fn of_setup(error: &ConnectionSetupRequestErrorKind, has_tls: bool) -> StoreError {
    match error {
        ConnectionSetupRequestErrorKind::DbError(DbError::AuthenticationError, message) => {
            // A node also reports this if the replicas that store the passwords are down.
            if message.contains("Unable to perform authentication") {
                return unreached(message.clone());
            }
            StoreError::Mismatch(format!("the cluster refuses the user and password: {message}"))
        }
        ConnectionSetupRequestErrorKind::MissingAuthentication => StoreError::Mismatch(
            "the cluster requires a user and a password: set User and PasswordFile in <Cluster>, or \
             --cluster-user and --cluster-password-file"
                .to_owned(),
        ),
        ConnectionSetupRequestErrorKind::BrokenConnection(error) => of_broken(error, has_tls),
        other => unreached(other.to_string()),
    }
}

fn of_broken(error: &BrokenConnectionError, has_tls: bool) -> StoreError {
    let io = match error.downcast_ref::<BrokenConnectionErrorKind>() {
        Some(
            BrokenConnectionErrorKind::FrameHeaderParseError(FrameHeaderParseError::HeaderIoError(error))
            | BrokenConnectionErrorKind::WriteError(error),
        ) => Some(error),
        _ => None,
    };
    match io {
        Some(error) if tls_error(error).is_some() => of_io(error),
        _ if !has_tls => unreached(format!(
            "{error}; if the nodes accept only TLS, set CertificateAuthorities in <Cluster>, or --cluster-ca, to the \
             authority that signs their certificates"
        )),
        _ => unreached(error.to_string()),
    }
}

/// Converts an error of the network or of TLS.
fn of_io(error: &io::Error) -> StoreError {
    match tls_error(error) {
        None => unreached(error.to_string()),
        Some(rustls::Error::InvalidCertificate(why)) => StoreError::Mismatch(format!(
            "a node's certificate is refused ({why}): it must be signed by one of the configured authorities, and \
             contain the node's address"
        )),
        Some(rustls::Error::InvalidMessage(_)) => StoreError::Mismatch(
            "a node does not speak TLS: remove CertificateAuthorities (--cluster-ca), or enable TLS on the cluster"
                .to_owned(),
        ),
        Some(rustls::Error::AlertReceived(alert)) => StoreError::Mismatch(format!(
            "a node has refused the TLS handshake ({alert:?}); if it requires a certificate, set CertificateFile and KeyFile in \
             <Cluster>, or --cluster-cert and --cluster-key"
        )),
        Some(other) => StoreError::Mismatch(format!("TLS with a node failed: {other}")),
    }
}

fn tls_error(error: &io::Error) -> Option<&rustls::Error> {
    error.get_ref()?.downcast_ref()
}

fn unreached(why: String) -> StoreError {
    StoreError::Unavailable { why, required: 1, alive: 0 }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    fn of_tls(error: rustls::Error) -> StoreError {
        let error = io::Error::new(io::ErrorKind::InvalidData, error);
        of_connection(&ConnectionError::IoError(Arc::new(error)), true)
    }

    #[test]
    fn errors_of_the_configuration_are_permanent() {
        let refused = |message: &str| {
            let kind =
                ConnectionSetupRequestErrorKind::DbError(DbError::AuthenticationError, message.to_owned());
            of_setup(&kind, false)
        };
        let wrong_password = refused("Provided username front and/or password are incorrect");
        let no_password = of_setup(&ConnectionSetupRequestErrorKind::MissingAuthentication, false);
        let other_authority =
            of_tls(rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer));
        let plain = of_tls(rustls::Error::InvalidMessage(rustls::InvalidMessage::InvalidContentType));
        let no_certificate =
            of_tls(rustls::Error::AlertReceived(rustls::AlertDescription::CertificateRequired));
        for (error, expected) in [
            (wrong_password, "refuses the user and password"),
            (no_password, "--cluster-user"),
            (other_authority, "UnknownIssuer"),
            (plain, "does not speak TLS"),
            (no_certificate, "--cluster-cert"),
        ] {
            assert!(matches!(&error, StoreError::Mismatch(why) if why.contains(expected)), "{error:?}");
        }
        let no_replicas =
            refused("Unable to perform authentication: Cannot achieve consistency level QUORUM");
        assert!(matches!(no_replicas, StoreError::Unavailable { .. }));
    }

    #[test]
    fn errors_of_the_network_are_temporary() {
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        for error in [
            of_connection(&ConnectionError::IoError(Arc::new(refused)), true),
            of_connection(&ConnectionError::ConnectTimeout, false),
            of_connecting(&NewSessionError::FailedToResolveAnyHostname(vec!["db1".to_owned()]), false),
        ] {
            assert!(matches!(error, StoreError::Unavailable { .. }), "{error:?}");
        }
    }
}
