//! The files of fuzzed readers, and how inputs contain them.

use std::path::{Path, PathBuf};

/// A directory of its own, which is removed at the end: in memory if the system has such a folder.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes the directory. Inputs of a thread follow each other, so that they can have the same.
    pub fn new(name: &str) -> Scratch {
        let folder =
            format!("thriftstore-fuzz-{name}-{}-{:?}", std::process::id(), std::thread::current().id());
        let memory = Path::new("/dev/shm");
        let path = if memory.is_dir() { memory.join(folder) } else { std::env::temp_dir().join(folder) };
        std::fs::create_dir_all(&path).expect("a directory for the files");
        Scratch(path)
    }

    /// Writes a file, and returns its path.
    pub fn write(&self, place: &str, content: &[u8]) -> PathBuf {
        let path = self.0.join(place);
        std::fs::create_dir_all(path.parent().expect("a directory")).expect("the directory can be made");
        std::fs::write(&path, content).expect("the file can be written");
        path
    }

    /// Returns the path of the directory.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Takes bytes behind three bytes with their length.
pub fn take<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_first_chunk::<3>()?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]) as usize;
    let (content, tail) = tail.split_at(length.min(tail.len()));
    *rest = tail;
    Some(content)
}

/// Returns bytes behind three bytes with their length.
pub fn with_length(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("inputs are short").to_be_bytes();
    [&length[1..], bytes].concat()
}

/// The components of a fuzzed SSTable, in the order of the input.
pub const COMPONENTS: [&str; 8] =
    ["Data", "Index", "Statistics", "CompressionInfo", "CRC", "Digest", "Partitions", "Rows"];

/// Returns the part of a file's name behind the version and the number, from 2.2 on.
pub fn kind_of(letters: &str) -> &'static str {
    if letters == WITH_TRIES { "bti" } else { "big" }
}

/// Whether the files of a version are named by their directory (2.2 and later).
pub fn is_named_by_directory(letters: &str) -> bool {
    letters >= "la" || letters == WITH_TRIES
}

/// The version with tries, whose letters are not in the order of the others.
const WITH_TRIES: &str = "da";

/// Returns the content of a component with right checksums, if it is a Statistics component of 4.0 or later.
pub fn with_checksums(letters: &str, component: &str, content: &[u8]) -> Vec<u8> {
    let mut changed = content.to_vec();
    if component == "Statistics" && (letters >= "na" || letters == WITH_TRIES) {
        let _ = write_checksums(&mut changed);
    }
    changed
}

/// Writes the checksums of the count, of the list of parts and of each part, as far as they are there.
fn write_checksums(content: &mut [u8]) -> Option<()> {
    let number = |content: &[u8], at: usize| {
        let bytes = content.get(at..at.checked_add(4)?)?;
        usize::try_from(u32::from_be_bytes(bytes.try_into().ok()?)).ok()
    };
    let count = number(content, 0)?;
    let mut list = crc32fast::Hasher::new();
    list.update(content.get(..4)?);
    content.get_mut(4..8)?.copy_from_slice(&list.clone().finalize().to_be_bytes());
    let end = count.checked_mul(8)?.checked_add(8)?;
    list.update(content.get(8..end)?);
    content.get_mut(end..end + 4)?.copy_from_slice(&list.finalize().to_be_bytes());
    for part in 0..count {
        let start = number(content, 8 + 8 * part + 4)?;
        let next = if part + 1 < count { number(content, 8 + 8 * part + 12)? } else { content.len() };
        let sum_at = next.checked_sub(4)?;
        let sum = crc32fast::hash(content.get(start..sum_at)?).to_be_bytes();
        content.get_mut(sum_at..next)?.copy_from_slice(&sum);
    }
    Some(())
}

/// Returns the name of a component's file behind the prefix of its SSTable.
pub fn file_name(letters: &str, component: &str) -> String {
    match component {
        "Digest" if letters >= "ma" || letters == WITH_TRIES => "Digest.crc32".to_owned(),
        "Digest" if letters >= "la" => "Digest.adler32".to_owned(),
        "Digest" => "Digest.sha1".to_owned(),
        other => format!("{other}.db"),
    }
}
