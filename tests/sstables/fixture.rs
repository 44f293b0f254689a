//! A data directory of a real server, unpacked.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::read::GzDecoder;
use serde_json::Value;
use thriftstore::sstable::Descriptor;
use thriftstore::util::Release;

/// The releases of which the commit logs are in the repository, too.
pub const WITH_LOGS: [&str; 11] = [
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
    "3.11.19-2",
];

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

/// Returns the line of the release that answered.
pub fn line_of(contents: &Value) -> Release {
    let version = contents["version"].as_str().unwrap();
    let mut parts = version.split('.');
    let line = format!("{}.{}", parts.next().unwrap(), parts.next().unwrap());
    // Cells are those of 2.1 in later releases, too.
    line.parse().unwrap_or(Release::V2_1)
}

pub struct Fixture {
    directory: tempfile::TempDir,
    pub contents: Value,
}

impl Fixture {
    pub fn unpack(release: &str) -> Fixture {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/sstables");
        let directory = tempfile::tempdir().unwrap();
        let archive = folder.join(format!("{release}-data.tar.gz"));
        let tar = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(directory.path()).status();
        assert!(tar.expect("tar runs").success());
        // Servers of 3.x have left none that can be read.
        let logs = folder.join(format!("{release}-commitlog.tar.gz"));
        if logs.is_file() {
            let tar = Command::new("tar").arg("-xzf").arg(logs).arg("-C").arg(directory.path()).status();
            assert!(tar.expect("tar runs").success());
            // Beside the data directory they would be found.
            fs::rename(directory.path().join("commitlog"), directory.path().join("logs")).unwrap();
        }
        let contents = File::open(folder.join(format!("{release}-contents.json.gz"))).unwrap();
        let contents = serde_json::from_reader(GzDecoder::new(contents)).unwrap();
        Fixture { directory, contents }
    }

    /// Returns the data directory.
    pub fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// Puts the commit logs beside the data directory, where servers have them.
    pub fn with_commit_logs(self) -> Fixture {
        fs::rename(self.directory.path().join("logs"), self.directory.path().join("commitlog")).unwrap();
        self
    }

    /// Returns the commit logs beside the data directory, sorted by their names.
    pub fn commit_logs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.directory.path().join("commitlog")).unwrap();
        let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    }

    /// Returns the configuration of 0.6.
    pub fn storage_conf(&self) -> PathBuf {
        self.directory.path().join("storage-conf.xml")
    }

    /// Returns the Data files of a keyspace, sorted by their names.
    pub fn data_files(&self, keyspace: &str) -> Vec<PathBuf> {
        let mut found = Vec::new();
        collect(&self.directory.path().join("data").join(keyspace), &mut found);
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

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.to_str().unwrap().ends_with("-Data.db") {
            found.push(path);
        }
    }
}
