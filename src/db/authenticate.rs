//! Who may connect: everybody, or the users of 0.6's SimpleAuthenticator.

use std::path::PathBuf;

use bytes::Bytes;
use md5::{Digest, Md5};

use super::{Error, properties};

/// What a login sends: a name, as "username", and its value.
pub type Credential = (Bytes, Bytes);

/// How a connection becomes somebody's.
#[derive(Debug, Clone)]
pub enum Authenticator {
    /// Login is not needed, and always succeeds.
    AllowAll,
    Simple(SimpleAuthenticator),
}

/// How passwords stand in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordMode {
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

/// Users and rights in two Java properties files, read anew at every login as 0.6 does.
#[derive(Debug, Clone)]
pub struct SimpleAuthenticator {
    /// `user=password` lines.
    pub passwd_file: PathBuf,
    /// `keyspace=user,user` lines. The names are not trimmed: a blank after a comma belongs to the name.
    pub access_file: PathBuf,
    pub mode: PasswordMode,
}

impl Authenticator {
    /// Whether calls are refused before a login.
    pub fn requires_login(&self) -> bool {
        !matches!(self, Authenticator::AllowAll)
    }

    /// Checks a login to a keyspace.
    pub fn login(&self, keyspace: &[u8], credentials: &[Credential]) -> Result<(), Error> {
        match self {
            Authenticator::AllowAll => Ok(()),
            Authenticator::Simple(simple) => simple.login(keyspace, credentials),
        }
    }

    /// Checks who logs in; answers with the name, where there are names.
    pub fn authenticate(&self, credentials: &[Credential]) -> Result<Option<String>, Error> {
        match self {
            Authenticator::AllowAll => Ok(None),
            Authenticator::Simple(simple) => simple.authenticate(credentials).map(Some),
        }
    }
}

impl SimpleAuthenticator {
    fn login(&self, keyspace: &[u8], credentials: &[Credential]) -> Result<(), Error> {
        let user = self.authenticate(credentials)?;
        self.authorize(&user, keyspace)
    }

    /// Checks name and password; answers with the name.
    fn authenticate(&self, credentials: &[Credential]) -> Result<String, Error> {
        let user = required(credentials, "username")?;
        let password = required(credentials, "password")?;
        let users = read(&self.passwd_file, "passwd")?;
        let is_known = users.get(&user).is_some_and(|stored| self.matches(stored, &password));
        if !is_known {
            // 0.6 answers an unknown user with an internal error; the sentence is that of a wrong password.
            let mode = match self.mode {
                PasswordMode::Plain => "PLAIN",
                PasswordMode::Md5 => "MD5",
            };
            return Err(Error::Authentication(format!(
                "Given password in password mode {mode} could not be validated for user {user}"
            )));
        }
        Ok(user)
    }

    fn authorize(&self, user: &str, keyspace: &[u8]) -> Result<(), Error> {
        let keyspace = String::from_utf8_lossy(keyspace);
        let rights = read(&self.access_file, "access")?;
        let is_allowed =
            rights.get(&*keyspace).is_some_and(|users| users.split(',').any(|name| name == user));
        if is_allowed {
            return Ok(());
        }
        // 0.6 answers a keyspace without a line with an internal error.
        Err(Error::Authorization(format!("User {user} could not be authorized to use keyspace {keyspace}")))
    }

    fn matches(&self, stored: &str, password: &str) -> bool {
        match self.mode {
            PasswordMode::Plain => stored == password,
            PasswordMode::Md5 => {
                let digest = Md5::digest(password.as_bytes());
                let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
                stored.eq_ignore_ascii_case(&hex)
            }
        }
    }
}

fn required(credentials: &[Credential], name: &str) -> Result<String, Error> {
    let found = credentials.iter().find(|(key, _)| *key == *name.as_bytes());
    found.map(|(_, value)| String::from_utf8_lossy(value).into_owned()).ok_or_else(|| {
        Error::Authentication(format!("Authentication request was missing the required key '{name}'"))
    })
}

fn read(path: &std::path::Path, what: &str) -> Result<std::collections::BTreeMap<String, String>, Error> {
    properties::read(path).map_err(|error| {
        tracing::error!("cannot read the {what} file {}: {error}", path.display());
        Error::Authentication(format!("the server cannot read its {what} file"))
    })
}
