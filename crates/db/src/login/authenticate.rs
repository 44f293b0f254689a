//! Authentication: none (AllowAllAuthenticator), by the files of SimpleAuthenticator, or by the roles in the store.

use std::path::{Path, PathBuf};

use bytes::Bytes;
use md5::{Digest, Md5};

use super::access_file::AccessFile;
use super::properties;
use super::user::{RightsSource, User};
use crate::{Error, Result};

use base::compat::features::releases::LOGIN_TO_KEYSPACE;
use base::compat::texts;
use base::util::{Release, hex};

/// A credential of a login: its name, such as "username", and its value.
pub type Credential = (Bytes, Bytes);

/// The ways to authenticate the user of a connection.
#[derive(Debug, Clone)]
pub enum Authenticator {
    /// No login is required, and every login succeeds.
    AllowAll,
    /// The users and rights in two files.
    Simple(SimpleAuthenticator),
    /// The roles in the store.
    Password {
        /// Whether permissions are enforced; otherwise every logged-in user may do everything.
        are_permissions_enforced: bool,
    },
}

/// The form of the passwords in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordMode {
    /// As text.
    Plain,
    /// As the hexadecimal MD5 of the password.
    Md5,
}

impl std::str::FromStr for PasswordMode {
    type Err = String;

    fn from_str(text: &str) -> Result<PasswordMode, String> {
        match text {
            "PLAIN" | "" => Ok(PasswordMode::Plain),
            "MD5" => Ok(PasswordMode::Md5),
            other => Err(format!(
                "The requested password check mode '{other}' is not a valid mode.  Possible values are 'PLAIN', \
                 'MD5', or leave it unspecified."
            )),
        }
    }
}

/// Users and rights in two Java properties files, which every login reads anew, as in 0.6. 0.7 and 0.8 read the
/// rights at every call; here the rights read at a login are used until the next login.
#[derive(Debug, Clone)]
pub struct SimpleAuthenticator {
    /// `user=password` lines.
    pub passwd_file: PathBuf,
    /// The file of rights. `None`: every logged-in user may do everything.
    pub access_file: Option<PathBuf>,
    /// The form of the passwords.
    pub mode: PasswordMode,
}

impl Authenticator {
    /// Returns whether calls are refused before a login.
    pub fn requires_login(&self) -> bool {
        !matches!(self, Authenticator::AllowAll)
    }
}

impl SimpleAuthenticator {
    /// Checks a login to a keyspace (0.6).
    pub(super) fn login(&self, keyspace: &[u8], credentials: &[Credential]) -> Result<()> {
        let user = self.authenticate(credentials, LOGIN_TO_KEYSPACE)?;
        self.authorize(&user, keyspace)
    }

    /// Checks a login and returns its user (0.7 and later).
    pub(super) fn user(&self, credentials: &[Credential], release: Release) -> Result<User> {
        let name = self.authenticate(credentials, release)?;
        let standing = match self.access()? {
            Some(access) => RightsSource::File(access.rights_of(&name)),
            None => RightsSource::Everything,
        };
        Ok(User { name, standing })
    }

    /// Checks name and password and returns the name. From 1.2 on the messages come from PasswordAuthenticator.
    fn authenticate(&self, credentials: &[Credential], release: Release) -> Result<String> {
        let user = required(credentials, "username", release)?;
        let password = required(credentials, "password", release)?;
        let users = properties::read(&self.passwd_file)
            .map_err(|error| unreadable("passwd", &self.passwd_file, &error))?;
        let is_known = users.get(&user).is_some_and(|stored| self.matches(stored, &password));
        if !is_known {
            let mode = match self.mode {
                PasswordMode::Plain => "PLAIN",
                PasswordMode::Md5 => "MD5",
            };
            return Err(Error::Authentication(texts::wrong_password(release, mode, &user)));
        }
        Ok(user)
    }

    fn authorize(&self, user: &str, keyspace: &[u8]) -> Result<()> {
        let keyspace = String::from_utf8_lossy(keyspace);
        if self.access()?.is_none_or(|access| access.opens(&keyspace, user)) {
            return Ok(());
        }
        // 0.6 answers a keyspace without a line with an internal error.
        Err(Error::Authorization(format!("User {user} could not be authorized to use keyspace {keyspace}")))
    }

    /// Reads the access file.
    fn access(&self) -> Result<Option<AccessFile>> {
        let read =
            |path: &PathBuf| AccessFile::read(path).map_err(|error| unreadable("access", path, &error));
        self.access_file.as_ref().map(read).transpose()
    }

    fn matches(&self, stored: &str, password: &str) -> bool {
        match self.mode {
            PasswordMode::Plain => stored == password,
            PasswordMode::Md5 => {
                let digest = Md5::digest(password.as_bytes());
                stored.eq_ignore_ascii_case(&hex(&digest))
            }
        }
    }
}

fn required(credentials: &[Credential], name: &str, release: Release) -> Result<String> {
    let found = credentials.iter().find(|(key, _)| *key == *name.as_bytes());
    found
        .map(|(_, value)| String::from_utf8_lossy(value).into_owned())
        .ok_or_else(|| Error::Authentication(texts::missing_credential(release, name)))
}

/// Returns the error for the client; the file's path is only logged.
fn unreadable(what: &str, path: &Path, error: &std::io::Error) -> Error {
    tracing::error!("cannot read the {what} file {}: {error}", path.display());
    Error::Authentication(format!("the server cannot read its {what} file"))
}
