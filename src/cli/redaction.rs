//! The options of redaction.

use std::path::PathBuf;

use clap::Args;

use crate::cli::Result;
use base::util::limits::REDACTION_KEY_BYTES_MAX;
use traffic::redact::{DataRole, DataRoles, Hashes, RedactionKey};

#[derive(Debug, Args)]
pub(super) struct RedactionArgs {
    /// Replace these by keyed hashes: values, keys, names. Any of them replaces all constants, values and results of CQL
    #[arg(long, value_name = "ROLES", value_delimiter = ',')]
    redact: Vec<DataRole>,
    /// A file with a secret: recordings redacted with the same secret have the same hashes [default: a new random key]
    #[arg(long, value_name = "FILE", requires = "redact")]
    redact_key: Option<PathBuf>,
}

impl RedactionArgs {
    /// Returns the redaction; `None` if nothing is.
    ///
    /// # Errors
    ///
    /// If the file of the secret cannot be read, is empty or is too long.
    pub(super) fn hashes(&self) -> Result<Option<Hashes>> {
        if self.redact.is_empty() {
            return Ok(None);
        }
        let key = match &self.redact_key {
            None => RedactionKey::random(),
            Some(file) => {
                let shown = file.display();
                let about =
                    std::fs::metadata(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
                if !about.is_file() || about.len() == 0 || about.len() > REDACTION_KEY_BYTES_MAX {
                    return Err(format!(
                        "{shown} has no secret: use a file of 1 to {REDACTION_KEY_BYTES_MAX} bytes, such as \
                         `head -c 32 /dev/urandom` writes"
                    ));
                }
                let secret = std::fs::read(file).map_err(|error| format!("cannot read {shown}: {error}"))?;
                RedactionKey::of_secret(&secret)
            }
        };
        Ok(Some(Hashes::new(key, DataRoles::new(&self.redact))))
    }
}
