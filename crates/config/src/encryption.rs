//! TLS for the connections of clients: `<ClientEncryptionOptions>`, and `client_encryption_options` of a cassandra.yaml.

use std::path::PathBuf;

use super::apply::{apply_children, map};
use super::draft::Draft;
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::releases::FROM_1_2;
use super::setting::{ConfigSetting, EXTENSION, SettingParts, assign, element, elsewhere, row};
use super::settings::ClientEncryption;
use super::xml::XmlNode;

/// The name of the element.
pub(crate) const ENCRYPTION: &str = "ClientEncryptionOptions";

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

/// The elements of `<ClientEncryptionOptions>`. They are named like the options in a cassandra.yaml, of which only
/// `enabled` is read, because the others are about Java keystores.
pub static ENCRYPTION_SETTINGS: &[ConfigSetting<EncryptionDraft>] = &[
    row(element("Enabled", FROM_1_2), elsewhere("client_encryption_options"))
        .default("true")
        .unit("boolean")
        .meaning("Whether TLS is enabled. The default in cassandra.yaml is false.")
        .sets(|draft, value| assign(&mut draft.enabled, value.boolean())),
    row(element("Optional", FROM_1_2), elsewhere("client_encryption_options"))
        .default("false")
        .unit("boolean")
        .meaning("Whether clients without TLS are accepted too, on the same port.")
        .sets(|draft, value| assign(&mut draft.optional, value.boolean())),
    row(element("CertificateFile", FROM_1_2), EXTENSION)
        .unit("path")
        .meaning("The server's certificate in PEM, followed by its intermediate certificates. Required.")
        .sets(|draft, value| assign(&mut draft.certificate_file, value.path())),
    row(element("KeyFile", FROM_1_2), EXTENSION)
        .unit("path")
        .meaning("The certificate's private key in PEM, without a password. May be the same file. Required.")
        .sets(|draft, value| assign(&mut draft.key_file, value.path())),
    row(element("ClientCertificateAuthorities", FROM_1_2), EXTENSION)
        .unit("path")
        .meaning(
            "The authorities that sign clients' certificates, in PEM. With it the server requests a certificate from \
             clients.",
        )
        .sets(|draft, value| assign(&mut draft.client_authorities, value.path())),
    row(element("RequireClientAuth", FROM_1_2), elsewhere("client_encryption_options"))
        .default("true with ClientCertificateAuthorities")
        .unit("boolean")
        .meaning(
            "`false`: clients without a certificate are accepted, but none with an invalid one. `true` requires that \
             `Optional` is false, because a client without TLS has no certificate.",
        )
        .sets(|draft, value| assign(&mut draft.require_client_auth, value.boolean())),
];

/// Reads the options. Of a cassandra.yaml only `enabled` has an effect.
pub(crate) fn read_encryption(draft: &mut Draft, given: SettingParts<'_>, reading: &mut ConfigReader<'_>) {
    match given {
        SettingParts::Element(node) if draft.encryption.is_some() => reading.warn_of_second(node),
        SettingParts::Element(node) => {
            let mut options = EncryptionDraft::default();
            apply_children(ENCRYPTION_SETTINGS, &[], &mut options, node, reading);
            draft.encryption = Some(options.finish(node, reading));
        }
        SettingParts::Entry(entry) => {
            for option in map(&entry.key.value, &entry.value, reading) {
                let is_true = option.value.text().is_some_and(|text| text.value.eq_ignore_ascii_case("true"));
                draft.config.needs_tls |= option.key.value == "enabled" && is_true;
            }
        }
    }
}

impl EncryptionDraft {
    /// Checks the options together. Returns `None` if TLS is disabled or an option is wrong.
    fn finish(self, node: &XmlNode, reading: &mut ConfigReader<'_>) -> Option<ClientEncryption> {
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
