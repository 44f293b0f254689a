//! Replaces files as a whole: after a kill at any time there is the old or the new one.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

/// Replaces a file by one with these bytes, which are durable before the file gets its name. `sync_name` makes the name
/// durable, too.
///
/// # Errors
/// If the file cannot be written. Then the old one is still there.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut new = path.as_os_str().to_owned();
    new.push(".new");
    let mut file = File::create(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new, path)
}

/// Makes the name of a file durable.
///
/// # Errors
/// If its directory cannot be synced. The name is there all the same.
pub fn sync_name(path: &Path) -> io::Result<()> {
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    File::open(directory.unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state.json");
        for bytes in [&b"a long text"[..], b"short"] {
            replace_file(&path, bytes).unwrap();
            sync_name(&path).unwrap();
            assert_eq!(fs::read(&path).unwrap(), bytes);
        }
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
}
