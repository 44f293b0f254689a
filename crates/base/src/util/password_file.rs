//! Reads a password from a file, so that it is not on a command line.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::limits::PASSWORD_FILE_BYTES_MAX;

/// A password. `Debug` does not print it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// Takes a password as the user wrote it.
    pub fn new(password: &str) -> Password {
        Password(password.to_owned())
    }

    /// Returns the password as text.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("(a password)")
    }
}

/// Reads a password or token from the first line of a file, which must not be empty. `what` names it in errors, as in
/// `the cluster's password`.
pub fn password_of(what: &str, file: &Path) -> Result<Password, String> {
    let name = file.display();
    let mut text = String::new();
    // Read one byte more than allowed, to detect a longer file without reading all of it.
    let limit = PASSWORD_FILE_BYTES_MAX as u64 + 1;
    File::open(file)
        .and_then(|opened| opened.take(limit).read_to_string(&mut text))
        .map_err(|error| format!("cannot read {what} from {name}: {error}"))?;
    if text.len() > PASSWORD_FILE_BYTES_MAX {
        return Err(format!(
            "{name} has more than {PASSWORD_FILE_BYTES_MAX} bytes: it should have one line, {what}"
        ));
    }
    match text.lines().next() {
        Some(line) if !line.is_empty() => Ok(Password::new(line)),
        _ => Err(format!("{name} has nothing in its first line, where {what} should be")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_does_not_print_the_password() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("password");
        std::fs::write(&file, "se cret\nmore\n").unwrap();
        let password = password_of("the user's password", &file).unwrap();
        assert_eq!(password.reveal(), "se cret");
        assert_eq!(format!("{password:?}"), "(a password)");
    }
}
