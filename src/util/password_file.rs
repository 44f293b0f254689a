//! A password that stands in a file, so that it is not on a command line.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::limits::PASSWORD_FILE_BYTES_MAX;

/// A password. What prints it to look into it does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    pub fn new(password: &str) -> Password {
        Password(password.to_owned())
    }

    /// The password itself, for who asks for it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("(a password)")
    }
}

/// The first line of a file, which must not be empty. `whose` is the password's owner, as in `the cluster's`.
pub fn password_of(whose: &str, file: &Path) -> Result<Password, String> {
    let name = file.display();
    let mut text = String::new();
    // One byte more than is allowed, so that a file that never ends is found out.
    let limit = PASSWORD_FILE_BYTES_MAX as u64 + 1;
    File::open(file)
        .and_then(|opened| opened.take(limit).read_to_string(&mut text))
        .map_err(|error| format!("cannot read {whose} password from {name}: {error}"))?;
    if text.len() > PASSWORD_FILE_BYTES_MAX {
        return Err(format!("{name} has more than {PASSWORD_FILE_BYTES_MAX} bytes: it holds no password"));
    }
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(Password::new(line)),
        _ => Err(format!("{name} has nothing in its first line, where {whose} password should be")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_does_not_show_itself() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("password");
        std::fs::write(&file, "se cret\nmore\n").unwrap();
        let password = password_of("somebody's", &file).unwrap();
        assert_eq!(password.reveal(), "se cret");
        assert_eq!(format!("{password:?}"), "(a password)");
    }
}
