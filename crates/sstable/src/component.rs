//! The files of one SSTable, and the meaning of their names and directories.
//!
//! ```text
//!   0.4 to 0.6    <keyspace>/<family>-<generation>-Data.db
//!   0.7 to 1.0    <keyspace>/<family>-<letters>-<generation>-Data.db
//!   1.1 to 2.0    <keyspace>/<family>/<keyspace>-<family>-<letters>-<generation>-Data.db
//!   2.1           <keyspace>/<family>-<id>/<keyspace>-<family>-<letters>-<generation>-Data.db
//!   2.2 to 5.0    <keyspace>/<family>-<id>/<letters>-<generation>-big-Data.db
//!   5.0 (da)      <keyspace>/<family>-<id>/<letters>-<generation>-bti-Data.db
//! ```
//!
//! From 4.1 on, and in ScyllaDB, the generation can be a UUID: `nb-3fw2_0tj4_46w3k2cpidnirvjy7k-big-Data.db` has the day, the
//! second, the hundreds of nanoseconds and the node, in digits of base 36 (`UUIDBasedSSTableId`).
//!
//! An index is a family of its own: `<family>.<index>` up to 2.1, the directory `.<index>` in its family's later.
//! Snapshots are in `snapshots/<name>`, incremental backups in `backups`, below the directory of the table files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::error::SstableError;
use super::format::{Format, format_of};

/// A file of an SSTable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Component {
    /// The rows.
    Data,
    /// The positions of rows.
    Index,
    /// The positions of rows, in a trie (5.0).
    Partitions,
    /// The positions in rows, in tries (5.0).
    Rows,
    /// Positions of compressed chunks.
    CompressionInfo,
    /// Checksums of the blocks of an uncompressed Data file.
    Crc,
    /// The facts that were known when the file was written: timestamps, positions in the commit log, types.
    Statistics,
}

impl Component {
    /// Returns the end of the file names, after a hyphen.
    pub fn name(self) -> &'static str {
        match self {
            Component::Data => "Data.db",
            Component::Index => "Index.db",
            Component::Partitions => "Partitions.db",
            Component::Rows => "Rows.db",
            Component::CompressionInfo => "CompressionInfo.db",
            Component::Crc => "CRC.db",
            Component::Statistics => "Statistics.db",
        }
    }
}

/// The component that lists the others (1.0 and later).
const CONTENTS: &str = "TOC.txt";
/// Longest list of components, in bytes: there are ten.
const CONTENTS_BYTES_MAX: u64 = 4096;
/// Components that are not read.
const NOT_READ: [&str; 3] = ["Filter.db", "Summary.db", CONTENTS];

/// The name of the empty file that marks an SSTable whose files may be deleted.
const COMPACTED: &str = "Compacted";

/// The marks in the name of an unfinished SSTable: in all releases, and in 2.1 and 2.2 if it can be read already.
const MARKS: [&str; 2] = ["tmp", "tmplink"];

/// The names of the component with the checksum of the whole Data file.
const DIGESTS: [&str; 3] = ["Digest.sha1", "Digest.adler32", "Digest.crc32"];

/// The parts of the name of a Data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    /// The directory of the files.
    pub directory: PathBuf,
    /// The name of all components up to the last hyphen, which is included.
    prefix: String,
    /// The version of the format.
    pub format: Format,
    /// The number of the SSTable in its column family. Of a UUID it is the time, in units of 100 ns since 1582.
    pub generation: u64,
    /// The keyspace, if the name or the directory has it.
    pub keyspace: Option<String>,
    /// The column family, if the name or the directory has it. An index has a full stop in it.
    pub family: Option<String>,
    /// Whether the server had not finished the file.
    pub is_temporary: bool,
}

impl Descriptor {
    /// Reads the name of a Data file. Fails if it is not the name of a Data file of a release that can be read.
    pub fn of_data_file(path: &Path) -> Result<Descriptor, SstableError> {
        let unsupported = |why: &str| SstableError::unsupported(path, why);
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let stem = name.strip_suffix(Component::Data.name()).and_then(|stem| stem.strip_suffix('-'));
        let stem = stem.ok_or_else(|| unsupported("not a Data file: its name must end in -Data.db"))?;
        let parts: Vec<&str> = stem.split('-').collect();
        let directory = path.parent().unwrap_or(Path::new("")).to_owned();
        let of_directory = place_of(&directory);
        let (parts, is_temporary) =
            without_mark(parts, of_directory.as_ref().and_then(|(_, of)| of.as_deref()));
        let (letters, generation, keyspace, family) = match parts[..] {
            [letters, generation, "big" | "bti"] => (letters, generation, None, None),
            [family, generation] => ("", generation, None, Some(family)),
            [family, letters, generation] => (letters, generation, None, Some(family)),
            [keyspace, family, letters, generation] => (letters, generation, Some(keyspace), Some(family)),
            _ => return Err(unsupported("not named like a Data file of Cassandra 0.4 to 5.0")),
        };
        let format = format_of(letters).ok_or_else(|| {
            SstableError::unsupported(
                path,
                format!("the version {letters:?} of the SSTable format is not supported: 0.4 to 5.0 are"),
            )
        })?;
        if parts.get(2).is_some_and(|kind| ["big", "bti"].contains(kind) && *kind != format.kind()) {
            return Err(unsupported("its version and the kind of its index contradict each other"));
        }
        let generation = generation.parse().ok().or_else(|| time_of(generation));
        let generation: u64 =
            generation.ok_or_else(|| unsupported("the name has no number of the SSTable"))?;
        let own = |text: &str| text.to_owned();
        let (directory_keyspace, directory_family) = of_directory.unwrap_or_default();
        Ok(Descriptor {
            prefix: format!("{stem}-"),
            format,
            generation,
            keyspace: keyspace.map(own).or_else(|| match family {
                // Up to 1.0 the directory of the file is the keyspace's.
                Some(_) => keyspace_directory(&directory),
                None => directory_keyspace,
            }),
            family: family.map(own).or(directory_family),
            directory,
            is_temporary,
        })
    }

    /// Returns the name of all files of the SSTable up to the component.
    pub fn name(&self) -> String {
        self.prefix.trim_end_matches('-').to_owned()
    }

    /// Returns the path of a component, which need not exist.
    pub fn path(&self, component: Component) -> PathBuf {
        self.file(component.name())
    }

    /// Returns the path of the component with the positions of rows, which need not exist.
    pub fn index_path(&self) -> PathBuf {
        self.path(if self.format.has_tries { Component::Partitions } else { Component::Index })
    }

    fn file(&self, component: &str) -> PathBuf {
        self.directory.join(format!("{}{component}", self.prefix))
    }

    /// Returns whether the list of components is there.
    pub fn has_list(&self) -> bool {
        self.file(CONTENTS).is_file()
    }

    /// Returns the names of the components that belong to the table and are missing, by its list of components.
    pub fn missing(&self) -> Vec<String> {
        let mut text = Vec::new();
        let Ok(list) = File::open(self.file(CONTENTS)) else { return Vec::new() };
        if list.take(CONTENTS_BYTES_MAX).read_to_end(&mut text).is_err() {
            return Vec::new();
        }
        let text = String::from_utf8_lossy(&text);
        let mut missing = Vec::new();
        for name in text.lines().map(str::trim).filter(|name| !NOT_READ.contains(name)) {
            let is_known = name.ends_with(".db") || name.contains("Digest.");
            let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
            if is_known && is_name && !self.file(name).is_file() {
                missing.push(name.to_owned());
            }
        }
        missing
    }

    /// Whether the server had put the content of the SSTable into another one, or truncated its column family. Up to 2.0 it
    /// marks the files, and deletes them later.
    pub fn is_compacted(&self) -> bool {
        self.file(COMPACTED).is_file()
    }

    /// Returns the path of the checksum of the whole Data file, if there is one.
    pub fn digest_path(&self) -> Option<PathBuf> {
        DIGESTS.iter().map(|name| self.file(name)).find(|path| path.is_file())
    }
}

/// Takes the mark of an unfinished SSTable out of the parts of its name: it is in front of the version, or from 2.2 on the
/// first part. `of_directory` is the column family of the directory, which can have the name of the mark itself.
fn without_mark<'n>(mut parts: Vec<&'n str>, of_directory: Option<&str>) -> (Vec<&'n str>, bool) {
    let place = match parts[..] {
        [mark, _, _, "big" | "bti"] => Some((0, mark)),
        [_, mark, last] if last != "big" && last != "bti" => Some((1, mark)),
        [_, mark, _, _] if Some(mark) != of_directory => Some((1, mark)),
        [_, _, mark, _, _] => Some((2, mark)),
        _ => None,
    };
    let Some((at, _)) = place.filter(|(_, mark)| MARKS.contains(mark)) else { return (parts, false) };
    parts.remove(at);
    (parts, true)
}

/// Returns the time of a UUID in the name of an SSTable. `None` of another text.
fn time_of(generation: &str) -> Option<u64> {
    let parts: Vec<&str> = generation.split('_').collect();
    let [day, second, rest] = parts[..] else { return None };
    let (tick, node) = rest.split_at_checked(5)?;
    if [day.len(), second.len(), node.len()] != [4, 4, 13] {
        return None;
    }
    let number = |text: &str| u64::from_str_radix(text, 36).ok();
    number(node)?;
    Some((number(day)? * 86_400 + number(second)?) * 10_000_000 + number(tick)?)
}

/// Returns the directory without `snapshots/<name>` or `backups` at its end.
fn without_snapshot(directory: &Path) -> &Path {
    let is_named = |path: &Path, name: &str| path.file_name().is_some_and(|found| found == name);
    match directory.parent() {
        Some(parent) if is_named(directory, "backups") => parent,
        Some(parent) if is_named(parent, "snapshots") => parent.parent().unwrap_or(parent),
        _ => directory,
    }
}

fn name_of(directory: &Path) -> Option<String> {
    Some(directory.file_name()?.to_str()?.to_owned())
}

/// Returns the keyspace of files that are in its directory (up to 1.0).
fn keyspace_directory(directory: &Path) -> Option<String> {
    name_of(without_snapshot(directory))
}

/// Returns the keyspace and the family of a directory `<keyspace>/<family>-<id>`, or of the directory of an index in it.
fn place_of(directory: &Path) -> Option<(Option<String>, Option<String>)> {
    let mut directory = directory;
    let own_name = name_of(directory)?;
    let index = own_name.strip_prefix('.');
    if index.is_some() {
        directory = directory.parent()?;
    }
    let directory = without_snapshot(directory);
    let name = name_of(directory)?;
    // The id of a table is 32 hexadecimal digits; directories of older releases have none.
    let family = match name.rsplit_once('-') {
        Some((family, id)) if id.len() == 32 && id.bytes().all(|digit| digit.is_ascii_hexdigit()) => family,
        _ => &name,
    };
    let family = match index {
        Some(index) => format!("{family}.{index}"),
        None => family.to_owned(),
    };
    Some((directory.parent().and_then(name_of), Some(family)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str) -> (String, u64, Option<String>, Option<String>) {
        let found = Descriptor::of_data_file(Path::new(path)).unwrap();
        assert_eq!(found.path(Component::Data), Path::new(path));
        (found.format.letters.to_owned(), found.generation, found.keyspace, found.family)
    }

    #[test]
    fn names_of_all_releases_are_read() {
        let expected = |letters: &str, generation, keyspace: &str, family: &str| {
            (letters.to_owned(), generation, Some(keyspace.to_owned()), Some(family.to_owned()))
        };
        let id = "9786ac1cdd583201a7cdad556410c985";
        assert_eq!(read("data/Ks/Cf-12-Data.db"), expected("", 12, "Ks", "Cf"));
        assert_eq!(read("data/Ks/Cf.idx-f-3-Data.db"), expected("f", 3, "Ks", "Cf.idx"));
        assert_eq!(read("data/Ks/snapshots/s1/Cf-hc-3-Data.db"), expected("hc", 3, "Ks", "Cf"));
        assert_eq!(read("data/Ks/Cf/Ks-Cf-ic-7-Data.db"), expected("ic", 7, "Ks", "Cf"));
        assert_eq!(read(&format!("data/Ks/Cf-{id}/Ks-Cf-ka-7-Data.db")), expected("ka", 7, "Ks", "Cf"));
        assert_eq!(read(&format!("data/Ks/Cf-{id}/me-9-big-Data.db")), expected("me", 9, "Ks", "Cf"));
        let index = format!("data/Ks/Cf-{id}/.by_age/me-9-big-Data.db");
        assert_eq!(read(&index), expected("me", 9, "Ks", "Cf.by_age"));
        let snapshot = format!("data/Ks/Cf-{id}/snapshots/before/.by_age/la-9-big-Data.db");
        assert_eq!(read(&snapshot), expected("la", 9, "Ks", "Cf.by_age"));
        let uuid = "3gvl_0z2m_17v9c2ab9kb8kyhzzz";
        let time = (((3 * 36 + 16) * 36 + 31) * 36 + 21) * 86_400 + 35 * 1296 + 2 * 36 + 22;
        let ticks = time * 10_000_000 + (((36 + 7) * 36 + 31) * 36 + 9) * 36 + 12;
        for letters in ["nb", "me"] {
            let path = format!("data/Ks/Cf-{id}/{letters}-{uuid}-big-Data.db");
            assert_eq!(read(&path), expected(letters, ticks, "Ks", "Cf"));
        }
        assert_eq!(read(&format!("data/Ks/Cf-{id}/da-7-bti-Data.db")), expected("da", 7, "Ks", "Cf"));
    }

    #[test]
    fn unfinished_sstables_of_all_releases_have_a_mark() {
        let id = "9786ac1cdd583201a7cdad556410c985";
        for (name, family, is_temporary) in [
            ("Ks/Cf-tmp-7-Data.db", "Cf", true),
            ("Ks/Cf-tmp-hc-7-Data.db", "Cf", true),
            ("Ks/Cf/Ks-Cf-tmp-ic-7-Data.db", "Cf", true),
            ("Ks/Cf/Ks-Cf-tmplink-ka-7-Data.db", "Cf", true),
            (&format!("Ks/Cf-{id}/tmp-lb-7-big-Data.db"), "Cf", true),
            (&format!("Ks/Cf-{id}/tmplink-la-7-big-Data.db"), "Cf", true),
            (&format!("Ks/tmp-{id}/da-7-bti-Data.db"), "tmp", false),
            // A column family with the name of the mark.
            ("Ks/tmp-7-Data.db", "tmp", false),
            ("Ks/tmp-hc-7-Data.db", "tmp", false),
            ("Ks/tmp-tmp-hc-7-Data.db", "tmp", true),
            ("Ks/tmplink/Ks-tmplink-ic-7-Data.db", "tmplink", false),
            ("Ks/tmplink/Ks-tmplink-tmp-ic-7-Data.db", "tmplink", true),
            (&format!("Ks/tmp-{id}/Ks-tmp-ka-7-Data.db"), "tmp", false),
            (&format!("Ks/tmp-{id}/lb-7-big-Data.db"), "tmp", false),
        ] {
            let found = Descriptor::of_data_file(Path::new(name)).unwrap();
            assert_eq!((found.family.as_deref(), found.generation), (Some(family), 7), "{name}");
            assert_eq!(found.is_temporary, is_temporary, "{name}");
        }
    }

    #[test]
    fn other_names_are_refused() {
        for name in [
            "Cf-1-Index.db",
            "Data.db",
            "nc-1-big-Data.db",
            "oa-1-bti-Data.db",
            "da-1-big-Data.db",
            "nb-3gvl_0z2m_17v9c2ab9kb8kyhzz-big-Data.db",
            "nb-3gvl_0z2m_17v9c-2ab9kb8kyhzzz-big-Data.db",
            "nb-3gvl_0z2m_éééé2ab9kb8kyhzzz-big-Data.db",
            "a-b-c-d-e-f-Data.db",
            "Cf-x-Data.db",
        ] {
            Descriptor::of_data_file(Path::new(name)).expect_err(name);
        }
    }
}
