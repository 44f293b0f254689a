//! The options of TLS.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use crate::cli::Result;
use config::ClientEncryption;
use net::Encryption;

/// The clients that the server accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum TlsMode {
    /// Only clients with TLS
    Required,
    /// Clients with and without TLS, on the same port
    Optional,
    /// Only clients without TLS, whatever the configuration says
    Off,
}

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "TLS for clients")]
pub(super) struct TlsArgs {
    /// Enable TLS with this certificate of the server
    ///
    /// The file has it in PEM, followed by its intermediate certificates.
    /// SIGHUP reads it again. This and the following options override the configuration's ClientEncryptionOptions.
    #[arg(long = "tls-certificate", value_name = "FILE", requires = "key")]
    certificate: Option<PathBuf>,
    /// The private key of the certificate
    ///
    /// In PEM, without a password.
    #[arg(long = "tls-key", value_name = "FILE", requires = "certificate")]
    key: Option<PathBuf>,
    /// Accept only clients with a certificate that an authority in this file has signed
    #[arg(long = "tls-client-ca", value_name = "FILE", hide_short_help = true)]
    client_ca: Option<PathBuf>,
    /// The clients that the server accepts [default: required if there is a certificate]
    #[arg(long = "tls", value_name = "MODE", hide_short_help = true)]
    mode: Option<TlsMode>,
}

impl TlsArgs {
    /// Returns whether TLS is disabled whatever the configuration says.
    pub(super) fn is_off(&self) -> bool {
        self.mode == Some(TlsMode::Off)
    }

    /// Opens TLS with the options alone; `None` if they do not enable it.
    pub(super) fn open(&self) -> Result<Option<Arc<Encryption>>> {
        let Some(options) = self.over(None)? else { return Ok(None) };
        let encryption = Encryption::open(options).map_err(|error| error.to_string())?;
        Ok(Some(Arc::new(encryption)))
    }

    /// Returns the TLS settings: options override the configuration.
    ///
    /// # Errors
    ///
    /// Names the options that are missing or contradict each other.
    pub(super) fn over(&self, configured: Option<ClientEncryption>) -> Result<Option<ClientEncryption>> {
        if self.mode == Some(TlsMode::Off) {
            return match self.certificate.is_some() || self.client_ca.is_some() {
                true => Err("--tls off disables TLS, so --tls-certificate, --tls-key and --tls-client-ca would have no effect: \
                             remove --tls off or the others"
                    .to_owned()),
                false => Ok(None),
            };
        }
        let given = match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => Some((certificate.clone(), key.clone())),
            _ => None,
        };
        let mut options = match (configured, given) {
            (Some(configured), Some((certificate_file, key_file))) => {
                ClientEncryption { certificate_file, key_file, ..configured }
            }
            (Some(configured), None) => configured,
            (None, Some((certificate_file, key_file))) => ClientEncryption {
                certificate_file,
                key_file,
                client_authorities: None,
                require_client_auth: false,
                optional: false,
            },
            (None, None) if self.client_ca.is_none() && self.mode.is_none() => return Ok(None),
            (None, None) => {
                return Err(
                    "TLS needs a certificate: set --tls-certificate FILE and --tls-key FILE".to_owned()
                );
            }
        };
        if let Some(file) = &self.client_ca {
            options.client_authorities = Some(file.clone());
            options.require_client_auth = true;
        }
        if let Some(mode) = self.mode {
            options.optional = mode == TlsMode::Optional;
        }
        if options.optional && options.require_client_auth {
            return Err(
                "clients' certificates are required, but TLS is optional, and clients without TLS have no certificate; \
                 require TLS, or set RequireClientAuth to false"
                    .to_owned(),
            );
        }
        Ok(Some(options))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn configured() -> ClientEncryption {
        ClientEncryption {
            certificate_file: "a.pem".into(),
            key_file: "a.key".into(),
            client_authorities: Some("clients.pem".into()),
            require_client_auth: false,
            optional: true,
        }
    }

    #[test]
    fn options_that_are_not_given_are_as_configured() {
        assert_eq!(TlsArgs::default().over(None), Ok(None));
        assert_eq!(TlsArgs::default().over(Some(configured())), Ok(Some(configured())));
        let args =
            TlsArgs { certificate: Some("b.pem".into()), key: Some("b.key".into()), ..TlsArgs::default() };
        let expected =
            ClientEncryption { certificate_file: "b.pem".into(), key_file: "b.key".into(), ..configured() };
        assert_eq!(args.over(Some(configured())), Ok(Some(expected)));
        let alone = args.over(None).unwrap().unwrap();
        assert_eq!((alone.client_authorities, alone.optional), (None, false));
    }

    #[test]
    fn modes_and_authorities_override_the_configuration() {
        let mode = |mode| TlsArgs { mode: Some(mode), ..TlsArgs::default() };
        assert_eq!(mode(TlsMode::Off).over(Some(configured())), Ok(None));
        assert!(!mode(TlsMode::Required).over(Some(configured())).unwrap().unwrap().optional);
        assert!(mode(TlsMode::Optional).over(Some(configured())).unwrap().unwrap().optional);
        let args = TlsArgs { client_ca: Some("others.pem".into()), ..TlsArgs::default() };
        let refused = args.over(Some(configured())).unwrap_err();
        assert!(refused.contains("TLS is optional"), "required certificates with optional TLS: {refused}");
        let args = TlsArgs { mode: Some(TlsMode::Required), ..args };
        let options = args.over(Some(configured())).unwrap().unwrap();
        assert_eq!(
            (options.client_authorities, options.require_client_auth),
            (Some("others.pem".into()), true)
        );
    }

    #[test]
    fn off_and_a_certificate_contradict_each_other() {
        let off = TlsArgs { mode: Some(TlsMode::Off), ..TlsArgs::default() };
        let certificate = TlsArgs { certificate: Some("a.pem".into()), key: Some("a.key".into()), ..off };
        assert!(certificate.over(None).unwrap_err().contains("--tls off disables TLS"));
        let authority =
            TlsArgs { mode: Some(TlsMode::Off), client_ca: Some("a.pem".into()), ..TlsArgs::default() };
        assert!(authority.over(Some(configured())).is_err());
    }

    #[test]
    fn without_a_certificate_there_is_no_tls() {
        for args in [
            TlsArgs { client_ca: Some("a.pem".into()), ..TlsArgs::default() },
            TlsArgs { mode: Some(TlsMode::Required), ..TlsArgs::default() },
            TlsArgs { mode: Some(TlsMode::Optional), ..TlsArgs::default() },
        ] {
            assert!(args.over(None).unwrap_err().contains("--tls-certificate"));
        }
    }
}
