//! The check of SimpleAuthenticator's files when the server starts.
//!
//! A login reads the files as Java reads properties, where any line is a pair. A mistyped line would therefore only
//! show when a user cannot log in, so the start refuses it.

use std::path::Path;

use super::access_file;
use super::authenticate::{PasswordMode, SimpleAuthenticator};
use super::properties::{self, PropertyPair};

const PASSWD_FORM: &str = "user=password";
const ACCESS_FORM: &str = "keyspace=user,user (0.6), keyspace.columnfamily.<ro>=user,user, \
                           keyspace.columnfamily.<rw>=user,user, keyspace.<rw>=user,user or <modify-keyspaces>=user,user";

impl SimpleAuthenticator {
    /// Checks the current contents of both files. The error names the file, the line and the required form.
    pub fn check_files(&self) -> Result<(), String> {
        let users = read("--passwd", &self.passwd_file)?;
        for pair in &users {
            let wrong = |what: &str| at_line("--passwd", &self.passwd_file, pair, what, PASSWD_FORM);
            check_pair(pair).map_err(|what| wrong(&what))?;
            self.check_password(&pair.value)
                .map_err(|what| wrong(&format!("user {} has {what}", pair.key)))?;
        }
        if users.is_empty() {
            let file = self.passwd_file.display();
            return Err(format!("--passwd {file} has no user: write a line {PASSWD_FORM} for each"));
        }
        let Some(file) = &self.access_file else { return Ok(()) };
        for pair in &read("--access", file)? {
            let wrong = |what: &str| at_line("--access", file, pair, what, ACCESS_FORM);
            check_pair(pair).map_err(|what| wrong(&what))?;
            if !access_file::is_well_formed(&pair.key) {
                return Err(wrong(&format!("{} names neither a keyspace nor a right", pair.key)));
            }
        }
        Ok(())
    }

    fn check_password(&self, stored: &str) -> Result<(), &'static str> {
        let is_md5 = stored.len() == 32 && stored.bytes().all(|byte| byte.is_ascii_hexdigit());
        match self.mode {
            _ if stored.is_empty() => Err("no password"),
            PasswordMode::Md5 if !is_md5 => Err("a password that is not an MD5 of 32 hexadecimal digits \
                                                 (for plain passwords: --passwd-mode PLAIN)"),
            PasswordMode::Md5 | PasswordMode::Plain => Ok(()),
        }
    }
}

fn read(option: &str, file: &Path) -> Result<Vec<PropertyPair>, String> {
    let text = properties::read_text(file);
    let text = text.map_err(|error| format!("cannot read {option} {}: {error}", file.display()))?;
    Ok(properties::pairs(&text))
}

/// Checks a line of either file and returns what is wrong with it.
fn check_pair(pair: &PropertyPair) -> Result<(), String> {
    if pair.has_bad_escape() {
        Err("an invalid escape sequence".to_owned())
    } else if !pair.has_separator {
        Err("a name without a value".to_owned())
    } else if pair.key.is_empty() {
        Err("a value without a name before it".to_owned())
    } else {
        Ok(())
    }
}

fn at_line(option: &str, file: &Path, pair: &PropertyPair, what: &str, form: &str) -> String {
    format!("{option} {}, line {}: {what}; a line is {form}", file.display(), pair.line)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Checks a file of users and, if given, a file of rights, and returns what is wrong with them.
    fn check(users: &[u8], rights: Option<&str>, mode: PasswordMode) -> Result<(), String> {
        let directory = tempfile::tempdir().unwrap();
        let (passwd_file, access) = (directory.path().join("passwd"), directory.path().join("access"));
        fs::write(&passwd_file, users).unwrap();
        if let Some(rights) = rights {
            fs::write(&access, rights).unwrap();
        }
        let access_file = rights.map(|_| access);
        SimpleAuthenticator { passwd_file, access_file, mode }.check_files()
    }

    #[test]
    fn files_of_the_old_servers_are_accepted() {
        let users = b"# users\njsmith=havebadpass\nElvis\\ Presley:graceland4evar\nkey pass\n";
        let rights = "<modify-keyspaces>=jsmith\nKeyspace1=jsmith,Elvis Presley\nKeyspace1.<rw>=jsmith\n\
                      Keyspace1.Standard1.<ro>=jsmith\nKeyspace1.Standard1.<rw>=\n";
        assert_eq!(check(users, Some(rights), PasswordMode::Plain), Ok(()));
        assert_eq!(check(users, None, PasswordMode::Plain), Ok(()));
        assert_eq!(check(users, Some(""), PasswordMode::Plain), Ok(()));
        let md5 = b"jsmith=5EBE2294ecd0e0f08eab7690d2a6ee69\n";
        assert_eq!(check(md5, None, PasswordMode::Md5), Ok(()));
    }

    #[test]
    fn errors_name_the_line_and_the_expected_format() {
        let plain = PasswordMode::Plain;
        for (users, mode, why) in [
            (&b"a=b\nanna\n"[..], plain, "passwd, line 2: a name without a value; a line is user=password"),
            (b"anna=\n", plain, "line 1: user anna has no password; a line is user=password"),
            (b"\n=secret\n", plain, "line 2: a value without a name before it"),
            (b"anna=\\u12\n", plain, "line 1: an invalid escape sequence"),
            (
                b"anna=secret\n",
                PasswordMode::Md5,
                "user anna has a password that is not an MD5 of 32 hexadecimal digits",
            ),
            (b"# nobody\n", plain, "has no user: write a line user=password for each"),
            (b"anna=\xfc\n", plain, "cannot read --passwd"),
        ] {
            let error = check(users, None, mode).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        for (rights, why) in [
            (
                "K=anna\nK.<wr>=anna\n",
                "access, line 2: K.<wr> names neither a keyspace nor a right; a line is ",
            ),
            ("<modify-keyspace>=anna\n", "line 1: <modify-keyspace> names neither"),
            (".<rw>=anna\n", "line 1: .<rw> names neither"),
            ("K\n", "line 1: a name without a value"),
        ] {
            let error = check(b"anna=secret\n", Some(rights), plain).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn a_file_that_is_missing_or_too_long_cannot_be_read() {
        let authenticator = |passwd_file: &str, access_file: Option<&str>| SimpleAuthenticator {
            passwd_file: passwd_file.into(),
            access_file: access_file.map(Into::into),
            mode: PasswordMode::Plain,
        };
        let error = authenticator("no/such/file", None).check_files().unwrap_err();
        assert!(error.starts_with("cannot read --passwd no/such/file: "), "{error}");
        let directory = tempfile::tempdir().unwrap();
        let passwd = directory.path().join("passwd");
        fs::write(&passwd, "anna=secret\n").unwrap();
        let error = authenticator(passwd.to_str().unwrap(), Some("no/such/file")).check_files().unwrap_err();
        assert!(error.starts_with("cannot read --access no/such/file: "), "{error}");
        fs::write(&passwd, "a=b\n".repeat(2 * 1024 * 1024)).unwrap();
        let error = authenticator(passwd.to_str().unwrap(), None).check_files().unwrap_err();
        assert!(error.contains("more than 4194304 bytes"), "{error}");
    }
}
