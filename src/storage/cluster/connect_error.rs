//! Why the cluster cannot be reached: whether that may pass, and if not, what to put right.

use std::io;

use scylla::errors::{
    BrokenConnectionError, BrokenConnectionErrorKind, ConnectionError, ConnectionPoolError,
    ConnectionSetupRequestErrorKind, DbError, FrameHeaderParseError, MetadataError, NewSessionError,
};
use tokio_rustls::rustls;

use crate::storage::StoreError;

/// What a failure to connect means. `Unavailable`: the next attempt may do; `Mismatch`: none will.
pub fn of_connecting(error: &NewSessionError, has_tls: bool) -> StoreError {
    match error {
        NewSessionError::EmptyKnownNodesList | NewSessionError::IllegalConfig(_) => {
            StoreError::Mismatch(error.to_string())
        }
        NewSessionError::MetadataError(MetadataError::ConnectionPoolError(ConnectionPoolError::Broken {
            last_connection_error,
        })) => of_connection(last_connection_error, has_tls),
        NewSessionError::FailedToResolveAnyHostname(names) => {
            unreached(format!("no address is known for {}", names.join(", ")))
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

/// A node's answer to the first requests on a connection.
fn of_setup(error: &ConnectionSetupRequestErrorKind, has_tls: bool) -> StoreError {
    match error {
        ConnectionSetupRequestErrorKind::DbError(DbError::AuthenticationError, message) => {
            // That is what a node says, too, whose fellows with the passwords are down.
            if message.contains("Unable to perform authentication") {
                return unreached(message.clone());
            }
            StoreError::Mismatch(format!("the cluster does not take the user and password: {message}"))
        }
        ConnectionSetupRequestErrorKind::MissingAuthentication => StoreError::Mismatch(
            "the cluster asks for a user and a password: say with User and PasswordFile in <Cluster>, or with \
             --cluster-user and --cluster-password-file, which"
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
            "{error}; a node that speaks TLS alone hangs up on whoever does not: then say with CertificateAuthorities in \
             <Cluster>, or with --cluster-ca, who signs its certificate"
        )),
        _ => unreached(error.to_string()),
    }
}

/// A failure of the network, or of TLS on it.
fn of_io(error: &io::Error) -> StoreError {
    match tls_error(error) {
        None => unreached(error.to_string()),
        Some(rustls::Error::InvalidCertificate(why)) => StoreError::Mismatch(format!(
            "a node's certificate is refused ({why}): it has to be signed by one of the authorities that are configured, and \
             to name the node's address"
        )),
        Some(rustls::Error::InvalidMessage(_)) => StoreError::Mismatch(
            "a node does not speak TLS: leave CertificateAuthorities (--cluster-ca) away, or have the cluster speak it"
                .to_owned(),
        ),
        Some(rustls::Error::AlertReceived(alert)) => StoreError::Mismatch(format!(
            "a node has refused the TLS handshake ({alert:?}); if it asks for a certificate, say with CertificateFile and \
             KeyFile in <Cluster>, or with --cluster-cert and --cluster-key, which is ours"
        )),
        Some(other) => StoreError::Mismatch(format!("TLS with a node fails: {other}")),
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
    fn what_only_an_operator_can_put_right_does_not_pass() {
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
            (wrong_password, "does not take the user and password"),
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
    fn what_the_network_does_may_pass() {
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
