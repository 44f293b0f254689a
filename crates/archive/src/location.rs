//! The address of an archive. Credentials come from the environment, or from the platform: never from the address.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, ObjectStore, ObjectStoreScheme, RetryConfig};
use tokio_rustls::rustls::crypto::ring;
use url::Url;

use crate::{ArchiveError, Result};

/// Variables of the environment that configure object storage, by their first letters.
const VARIABLES: [&str; 3] = ["AWS_", "AZURE_", "GOOGLE_"];
/// Requests that the client of the object storage repeats itself. The archive repeats them again, and counts that.
const CLIENT_RETRIES: usize = 2;
const CLIENT_RETRY_TIMEOUT: Duration = Duration::from_secs(20);

/// The time that one request may take, which may read a whole table.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(300);

/// Where an archive is.
#[derive(Debug, Clone)]
pub struct ArchiveLocation {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) shown: String,
}

impl ArchiveLocation {
    /// Reads an address: `s3://BUCKET/PREFIX`, `gs://BUCKET/PREFIX`, `az://CONTAINER/PREFIX` or `file:///DIR`. No request
    /// is made. The directory of a `file` address is created if `creates` is set.
    ///
    /// # Errors
    /// `Refused` if the address cannot be used, or the environment lacks something.
    pub fn open(address: &str, creates: bool) -> Result<ArchiveLocation> {
        let url = Url::parse(address).map_err(|error| {
            ArchiveError::Refused(format!(
                "this is not the address of an archive ({error}); use s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, \
                 az://CONTAINER/PREFIX or file:///DIR"
            ))
        })?;
        // Neither part is shown, since it may be a secret.
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(ArchiveError::Refused(
                "the address of an archive has no user, password or parameters: set credentials in the environment, such \
                 as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                    .to_owned(),
            ));
        }
        choose_cryptography();
        let refused = |error: object_store::Error| match ArchiveError::of_request(address, &error) {
            ArchiveError::Storage(why) => ArchiveError::Refused(why),
            error => error,
        };
        let unknown = || {
            ArchiveError::Refused(format!(
                "{address}: use s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, az://CONTAINER/PREFIX or file:///DIR"
            ))
        };
        let (scheme, prefix) = ObjectStoreScheme::parse(&url).map_err(|_| unknown())?;
        let retry = RetryConfig {
            max_retries: CLIENT_RETRIES,
            retry_timeout: CLIENT_RETRY_TIMEOUT,
            ..RetryConfig::default()
        };
        macro_rules! configured {
            ($builder:ty) => {{
                let client = ClientOptions::new().with_timeout(CLIENT_TIMEOUT);
                let builder =
                    <$builder>::new().with_url(address).with_retry(retry).with_client_options(client);
                let builder = variables().fold(builder, |builder, (key, value)| match key.parse() {
                    Ok(key) => builder.with_config(key, value),
                    Err(_) => builder,
                });
                Arc::new(builder.build().map_err(refused)?) as Arc<dyn ObjectStore>
            }};
        }
        let store = match scheme {
            ObjectStoreScheme::Local => return ArchiveLocation::directory(address, &url, creates),
            ObjectStoreScheme::AmazonS3 => configured!(AmazonS3Builder),
            ObjectStoreScheme::GoogleCloudStorage => configured!(GoogleCloudStorageBuilder),
            ObjectStoreScheme::MicrosoftAzure => configured!(MicrosoftAzureBuilder),
            _ => return Err(unknown()),
        };
        Ok(ArchiveLocation::new(Arc::new(PrefixStore::new(store, prefix)), address))
    }

    fn directory(address: &str, url: &Url, creates: bool) -> Result<ArchiveLocation> {
        let Ok(path) = url.to_file_path() else {
            return Err(ArchiveError::Refused(format!("{address}: use file:///DIR, with an absolute path")));
        };
        let failed = |error| ArchiveError::of_file(&path, &error);
        if creates {
            create_private(&path).map_err(failed)?;
        } else {
            std::fs::metadata(&path).map_err(failed)?;
        }
        let store = LocalFileSystem::new_with_prefix(&path);
        let store = store.map_err(|error| ArchiveError::of_request(address, &error))?;
        Ok(ArchiveLocation::new(Arc::new(store.with_fsync(true)), address))
    }

    /// Returns an archive in any object storage, for tests.
    pub fn new(store: Arc<dyn ObjectStore>, shown: &str) -> ArchiveLocation {
        ArchiveLocation { store, shown: shown.trim_end_matches('/').to_owned() }
    }
}

/// Returns the variables of the environment that configure object storage, with names in lower case.
fn variables() -> impl Iterator<Item = (String, String)> {
    let all = std::env::vars_os()
        .filter_map(|(key, value)| Some((key.into_string().ok()?, value.into_string().ok()?)));
    all.filter(|(key, _)| VARIABLES.iter().any(|begin| key.starts_with(begin)))
        .map(|(key, value)| (key.to_ascii_lowercase(), value))
}

/// Creates a directory that only this user may read, unless it exists: it will have all data.
fn create_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Chooses the cryptography of all HTTP clients of the process: those in a program with archives are built without one, and
/// panic if none was chosen. Another part of the process may have chosen already.
pub fn choose_cryptography() {
    let _ = ring::default_provider().install_default();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_an_address_are_refused_and_not_shown() {
        for address in ["s3://KEY:hunter2@bucket/a", "az://container/a?sig=hunter2", "s3://hunter2@bucket"] {
            let why = ArchiveLocation::open(address, false).unwrap_err().to_string();
            assert!(why.contains("set credentials in the environment") && !why.contains("hunter2"), "{why}");
        }
    }

    #[test]
    fn addresses_of_other_kinds_are_refused() {
        for address in
            ["/var/backup", "ftp://host/a", "http://host/a", "memory:///", "file://host/a", "s3:///a"]
        {
            let why = ArchiveLocation::open(address, false).unwrap_err().to_string();
            assert!(why.contains("use s3://BUCKET") || why.contains("use file:///DIR"), "{address}: {why}");
        }
        let missing = ArchiveLocation::open("file:///nowhere/at/all", false).unwrap_err().to_string();
        assert!(missing.contains("/nowhere/at/all"), "{missing}");
    }
}
