//! The errors of an archive.

use std::path::Path;

use store::StoreError;

/// Characters of an error of the object storage that are shown: its replies can be whole pages.
const SHOWN_CHARS: usize = 400;

/// Why an archive cannot be written or read.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ArchiveError {
    /// A request to the object storage failed, with the object and the cause.
    #[error("{0}")]
    Storage(String),
    /// An object does not exist.
    #[error("{0} is missing in the archive")]
    Missing(String),
    /// An object has other contents than were written.
    #[error("{object} is damaged: {why}")]
    Damaged {
        /// The name of the object.
        object: String,
        /// The reason.
        why: String,
    },
    /// The archive does not have what was asked for, or an argument cannot be used.
    #[error("{0}")]
    Refused(String),
    /// The data directory cannot be read or written.
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl ArchiveError {
    /// Converts an error of a request. Addresses lose their queries, which may have signatures.
    pub(crate) fn of_request(object: &str, error: &object_store::Error) -> ArchiveError {
        if matches!(error, object_store::Error::NotFound { .. }) {
            return ArchiveError::Missing(object.to_owned());
        }
        let text = error.to_string();
        let words = text.split_whitespace().map(|word| match word.split_once('?') {
            Some((address, _)) if address.contains("://") => address,
            _ => word,
        });
        let text: String = words.collect::<Vec<_>>().join(" ").chars().take(SHOWN_CHARS).collect();
        ArchiveError::Storage(format!("{object}: {text}"))
    }

    pub(crate) fn of_file(path: &Path, error: &std::io::Error) -> ArchiveError {
        ArchiveError::Store(StoreError::Io(format!("{}: {error}", path.display())))
    }

    pub(crate) fn damaged(object: &str, why: impl Into<String>) -> ArchiveError {
        ArchiveError::Damaged { object: object.to_owned(), why: why.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures_in_addresses_are_not_shown() {
        let source =
            "error sending request for url (https://a.blob.core.windows.net/b/c?sig=SECRET&se=1): timeout";
        let error = object_store::Error::Generic { store: "Azure", source: source.into() };
        let shown = ArchiveError::of_request("log/1", &error).to_string();
        assert!(shown.contains("blob.core.windows.net/b/c") && !shown.contains("SECRET"), "{shown}");
    }
}
