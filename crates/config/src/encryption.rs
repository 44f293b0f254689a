//! `<ClientEncryptionOptions>`: TLS for the connections of clients.

use std::path::PathBuf;

use super::draft::Draft;
use super::element::{Element, Set, apply_children, row};
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::releases::FROM_1_2;
use super::settings::ClientEncryption;
use super::xml::Node;

/// The name of the element.
pub const ENCRYPTION: &str = "ClientEncryptionOptions";

/// The values of the elements of `<ClientEncryptionOptions>`.
#[derive(Debug, Default)]
pub struct EncryptionDraft {
    enabled: Option<bool>,
    optional: bool,
    certificate_file: Option<PathBuf>,
    key_file: Option<PathBuf>,
    client_authorities: Option<PathBuf>,
    require_client_auth: Option<bool>,
}

pub static ENCRYPTION_ELEMENTS: &[Element<EncryptionDraft>] = &[
    row(
        "Enabled",
        "true",
        "boolean",
        FROM_1_2,
        "Whether TLS is enabled. The default in cassandra.yaml is false.",
        Set::Value(|draft, value| {
            draft.enabled = Some(value.boolean()?);
            Ok(())
        }),
    ),
    row(
        "Optional",
        "false",
        "boolean",
        FROM_1_2,
        "Whether clients without TLS are accepted too, on the same port.",
        Set::Value(|draft, value| {
            draft.optional = value.boolean()?;
            Ok(())
        }),
    ),
    row(
        "CertificateFile",
        "",
        "path",
        FROM_1_2,
        "The server's certificate in PEM, followed by its intermediate certificates. Required.",
        Set::Value(|draft, value| {
            draft.certificate_file = Some(value.text.into());
            Ok(())
        }),
    ),
    row(
        "KeyFile",
        "",
        "path",
        FROM_1_2,
        "The certificate's private key in PEM, without a password. May be the same file. Required.",
        Set::Value(|draft, value| {
            draft.key_file = Some(value.text.into());
            Ok(())
        }),
    ),
    row(
        "ClientCertificateAuthorities",
        "",
        "path",
        FROM_1_2,
        "The authorities that sign clients' certificates, in PEM. With it the server requests a certificate from clients.",
        Set::Value(|draft, value| {
            draft.client_authorities = Some(value.text.into());
            Ok(())
        }),
    ),
    row(
        "RequireClientAuth",
        "true with ClientCertificateAuthorities",
        "boolean",
        FROM_1_2,
        "`false`: clients without a certificate are accepted, but none with an invalid one. `true` requires that `Optional` is false, because a client without TLS has no certificate.",
        Set::Value(|draft, value| {
            draft.require_client_auth = Some(value.boolean()?);
            Ok(())
        }),
    ),
];

pub fn read_encryption(draft: &mut Draft, node: &Node, reading: &mut ConfigReader<'_>) {
    if draft.encryption.is_some() {
        reading.warn(node.name.span, || format!("a second {ENCRYPTION} is ignored; the first one counts"));
        return;
    }
    let mut options = EncryptionDraft::default();
    apply_children(ENCRYPTION_ELEMENTS, &[], &mut options, node, reading);
    draft.encryption = Some(options.finish(node, reading));
}

impl EncryptionDraft {
    /// Checks the options together. Returns `None` if TLS is disabled or an option is wrong.
    fn finish(self, node: &Node, reading: &mut ConfigReader<'_>) -> Option<ClientEncryption> {
        if let (None, Some(true)) = (&self.client_authorities, self.require_client_auth)
            && let Some(asks) = node.child("RequireClientAuth")
        {
            reading.error(asks.name.span, Mistake::ClientAuthWithoutAuthorities);
        }
        if self.enabled == Some(false) {
            return None;
        }
        for (tag, path) in [("CertificateFile", &self.certificate_file), ("KeyFile", &self.key_file)] {
            if path.is_none() {
                reading.error(node.name.span, Mistake::EncryptionWithout { tag: tag.to_owned() });
            }
        }
        Some(ClientEncryption {
            certificate_file: self.certificate_file?,
            key_file: self.key_file?,
            require_client_auth: self.require_client_auth.unwrap_or(self.client_authorities.is_some()),
            client_authorities: self.client_authorities,
            optional: self.optional,
        })
    }
}
