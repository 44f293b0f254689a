//! A password that stands in a file, so that it is not on a command line.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::limits::PASSWORD_FILE_BYTES_MAX;

/// The first line of a file, which must not be empty. `whose` is the password's owner, as in `the cluster's`.
pub fn password_of(whose: &str, file: &Path) -> Result<String, String> {
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
        Some(line) if !line.is_empty() => Ok(line.to_owned()),
        _ => Err(format!("{name} has nothing in its first line, where {whose} password should be")),
    }
}
