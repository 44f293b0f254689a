//! A data directory of a real server, unpacked.
//!
//! A directory has up to 1,300 files, and most tests only read them. So each is unpacked once, into a folder of Cargo for
//! what tests make, with the checksum of its archives in its name. Later runs use it again. A test that changes files
//! has a copy of its own: of the whole directory (`Fixture::unpack`) or of one table (`copy_of_table`).

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

use base::util::Release;
use flate2::read::GzDecoder;
use serde_json::Value;
use sstable::Descriptor;

/// The releases with a directory and what the server answered.
pub const RELEASES: [&str; 12] = [
    "0.6.8",
    "0.7.10",
    "0.8.10",
    "1.0.12",
    "1.1.12",
    "1.2.15",
    "2.0.17",
    "2.1.22",
    "2.2.19",
    "3.0.29",
    "3.11.19",
    "3.11.19-2",
];

/// The releases without Thrift, of which the tables of CQL are there and what SELECT returned: 5.0.9 with an Index file and with
/// tries.
pub const WITHOUT_THRIFT: [&str; 4] = ["4.0.19", "4.1.10", "5.0.9", "5.0.9-bti"];

/// The directories of all releases.
pub fn all_releases() -> impl Iterator<Item = &'static str> {
    RELEASES.into_iter().chain(WITHOUT_THRIFT)
}

/// The releases of which the commit logs are in the repository, too.
pub fn releases_with_logs() -> impl Iterator<Item = &'static str> {
    RELEASES.into_iter().filter(|release| has_logs(release))
}

pub fn has_logs(release: &str) -> bool {
    !["3.11.19", "4.0.19", "5.0.9-bti"].contains(&release)
}

/// Returns the line of the release that answered.
pub fn line_of(contents: &Value) -> Release {
    let version = contents["version"].as_str().unwrap();
    let mut parts = version.split('.');
    let line = format!("{}.{}", parts.next().unwrap(), parts.next().unwrap());
    // Cells are those of 2.1 in later releases, too.
    line.parse().unwrap_or(Release::V2_1)
}

pub struct Fixture {
    /// Of a private copy, which is removed at the end.
    _own: Option<tempfile::TempDir>,
    directory: PathBuf,
    pub contents: &'static Value,
}

impl Fixture {
    /// Returns the data directory of a release, without its commit logs. No file of it may be changed.
    pub fn of(release: &'static str) -> Fixture {
        Fixture::shared(release, &["data"])
    }

    /// Returns the data directory of a release with the commit logs beside it, where servers have them. No file of it
    /// may be changed.
    pub fn with_commit_logs(release: &'static str) -> Fixture {
        Fixture::shared(release, &["data", "commitlog"])
    }

    /// Unpacks the data directory of a release, without its commit logs, for a test that changes it.
    pub fn unpack(release: &'static str) -> Fixture {
        let own = tempfile::tempdir().unwrap();
        unpack(release, &["data"], own.path());
        Fixture { directory: own.path().to_owned(), _own: Some(own), contents: contents(release) }
    }

    /// The same with the commit logs beside it.
    pub fn unpack_with_commit_logs(release: &'static str) -> Fixture {
        let own = tempfile::tempdir().unwrap();
        unpack(release, &["data", "commitlog"], own.path());
        Fixture { directory: own.path().to_owned(), _own: Some(own), contents: contents(release) }
    }

    fn shared(release: &'static str, kinds: &[&'static str]) -> Fixture {
        static FOUND: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
        let mut sum = crc32fast::Hasher::new();
        kinds.iter().for_each(|kind| sum.update(&fs::read(archive(release, kind)).unwrap()));
        let name = format!("{release}-{}-{:08x}", kinds.join("-"), sum.finalize());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sstables");
        let directory = folder.join(name);
        let mut found = FOUND.lock().unwrap();
        if !directory.exists() {
            fs::create_dir_all(&folder).unwrap();
            let new = tempfile::tempdir_in(&folder).unwrap();
            unpack(release, kinds, new.path());
            fs::write(new.path().join(UNPACKED), "").unwrap();
            // Another process may have been faster.
            if let Err(error) = fs::rename(new.path(), &directory) {
                assert!(directory.exists(), "{error}");
            }
        }
        if !found.contains(&directory) {
            check_unchanged(&directory);
            found.push(directory.clone());
        }
        Fixture { _own: None, directory, contents: contents(release) }
    }

    /// Returns the data directory.
    pub fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// Returns the commit logs beside the data directory, sorted by their names.
    pub fn commit_logs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.directory.join("commitlog")).unwrap();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    }

    /// Returns the configuration of 0.6.
    pub fn storage_conf(&self) -> PathBuf {
        self.directory.join("storage-conf.xml")
    }

    /// Returns the Data files of a keyspace, sorted by their names.
    pub fn data_files(&self, keyspace: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        collect(&self.directory.join("data").join(keyspace), &mut found);
        found.sort();
        assert!(!found.is_empty(), "{keyspace} has no files");
        found
    }

    /// Returns the Data files of a column family.
    pub fn files_of(&self, keyspace: &str, family: &str) -> Vec<PathBuf> {
        let is_of = |path: &PathBuf| {
            let descriptor = Descriptor::of_data_file(path).unwrap();
            assert_eq!(descriptor.keyspace.as_deref(), Some(keyspace));
            descriptor.family.as_deref() == Some(family)
        };
        self.data_files(keyspace).into_iter().filter(is_of).collect()
    }
}

fn path_of(release: &str, name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sstables");
    folder.join(format!("{release}-{name}"))
}

fn archive(release: &str, kind: &str) -> PathBuf {
    path_of(release, &format!("{kind}.tar.gz"))
}

/// Unpacks archives. Files get the present time, and not the one in the archive.
fn unpack(release: &str, kinds: &[&str], directory: &Path) {
    for kind in kinds {
        let tar =
            Command::new("tar").arg("-xzmf").arg(archive(release, kind)).arg("-C").arg(directory).status();
        assert!(tar.expect("tar runs").success());
    }
}

/// The file that is written when a directory is unpacked.
const UNPACKED: &str = "unpacked";

/// Checks that no test has changed a directory that others read.
fn check_unchanged(directory: &Path) {
    fn check(path: &Path, unpacked: SystemTime) {
        let metadata = fs::metadata(path).unwrap();
        let is_old = metadata.modified().unwrap() <= unpacked;
        assert!(
            is_old,
            "{} was changed. Remove its directory, and find the test that does so",
            path.display()
        );
        if metadata.is_dir() {
            fs::read_dir(path).unwrap().for_each(|entry| check(&entry.unwrap().path(), unpacked));
        }
    }
    let unpacked = fs::metadata(directory.join(UNPACKED)).unwrap().modified().unwrap();
    check(&directory.join("data"), unpacked);
}

/// Returns what the server answered.
fn contents(release: &'static str) -> &'static Value {
    static READ: OnceLock<Mutex<HashMap<&str, &Value>>> = OnceLock::new();
    let mut read = READ.get_or_init(Mutex::default).lock().unwrap();
    read.entry(release).or_insert_with(|| {
        let mut text = Vec::new();
        let compressed = fs::read(path_of(release, "contents.json.gz")).unwrap();
        GzDecoder::new(&compressed[..]).read_to_end(&mut text).unwrap();
        Box::leak(Box::new(serde_json::from_slice(&text).unwrap()))
    })
}

/// Copies the files of a table into a folder, which may change them. Returns the copy of its Data file.
pub fn copy_of_table(data: &Path, folder: &Path) -> PathBuf {
    let name = data.file_name().unwrap().to_str().unwrap();
    let prefix = name.strip_suffix("Data.db").unwrap();
    for entry in fs::read_dir(data.parent().unwrap()).unwrap() {
        let file = entry.unwrap().file_name().into_string().unwrap();
        if file.starts_with(prefix) {
            fs::copy(data.with_file_name(&file), folder.join(&file)).unwrap();
        }
    }
    folder.join(name)
}

/// Adds the Data files of a directory and all below it.
pub fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.to_str().unwrap().ends_with("-Data.db") {
            found.push(path);
        }
    }
}
