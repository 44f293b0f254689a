//! TLS for the connections of clients: `<ClientEncryptionOptions>`, and `client_encryption_options` of a cassandra.yaml.

use std::path::PathBuf;

use super::apply::{apply_children, map};
use super::draft::Draft;
use super::mistake::Mistake;
use super::reading::ConfigReader;
use super::setting::{SettingParts, SettingTarget, assign, unset};
use super::settings::ClientEncryption;
use super::value::SettingValue;
use super::xml::XmlNode;

/// The name of the element.
pub(crate) const ENCRYPTION: &str = "ClientEncryptionOptions";

/// The values of the elements of `<ClientEncryptionOptions>`.
#[derive(Debug, Default)]
pub(crate) struct EncryptionDraft {
    enabled: Option<bool>,
    optional: bool,
    certificate_file: Option<PathBuf>,
    key_file: Option<PathBuf>,
    client_authorities: Option<PathBuf>,
    require_client_auth: Option<bool>,
}

/// The elements are named like the options in a cassandra.yaml, of which only `enabled` is read, because the others are
/// about Java keystores.
impl SettingTarget for EncryptionDraft {
    fn part(&self) -> &'static str {
        ENCRYPTION
    }

    fn set(&mut self, id: &str, value: &SettingValue<'_>) -> Result<(), Mistake> {
        match id {
            "Enabled" => assign(&mut self.enabled, value.boolean()),
            "Optional" => assign(&mut self.optional, value.boolean()),
            "CertificateFile" => assign(&mut self.certificate_file, value.path()),
            "KeyFile" => assign(&mut self.key_file, value.path()),
            "ClientCertificateAuthorities" => assign(&mut self.client_authorities, value.path()),
            "RequireClientAuth" => assign(&mut self.require_client_auth, value.boolean()),
            _ => unset(id),
        }
    }
}

/// Reads the options. Of a cassandra.yaml only `enabled` has an effect.
pub(crate) fn read_encryption(draft: &mut Draft, given: SettingParts<'_>, reading: &mut ConfigReader<'_>) {
    match given {
        SettingParts::Element(node) if draft.encryption.is_some() => reading.warn_of_second(node),
        SettingParts::Element(node) => {
            let mut options = EncryptionDraft::default();
            apply_children(&[], &mut options, node, reading);
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
