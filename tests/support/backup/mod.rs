//! Code that the tests of backups share.
#![allow(dead_code, reason = "every test binary uses its own part of it")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use embedded::{BackupOptions, BackupSummary};

pub fn options(source: &Path, target: &Path) -> BackupOptions {
    BackupOptions { source: source.to_owned(), target: target.to_owned(), reads_tables: true }
}

pub fn backed_up(source: &Path, target: &Path) -> BackupSummary {
    let summary = embedded::back_up(&options(source, target), &mut |_| {}).unwrap();
    assert!(!unfinished(target).exists());
    summary
}

/// Makes a backup that must fail; checks that it leaves no files, and returns the error.
pub fn refusal(source: &Path, target: &Path) -> String {
    let error = embedded::back_up(&options(source, target), &mut |_| {}).unwrap_err();
    assert!(!unfinished(target).exists() && !target.exists(), "{error}");
    error.to_string()
}

fn unfinished(target: &Path) -> PathBuf {
    target.with_file_name(format!("{}.unfinished", target.file_name().unwrap().to_str().unwrap()))
}

pub fn files_under(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_under(&path));
        } else {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// Returns the table files of a data directory, such as `tables/1.1/tables/7`.
pub fn tables_under(directory: &Path) -> Vec<PathBuf> {
    let is_table = |path: &PathBuf| {
        path.parent().is_some_and(|parent| parent.ends_with("tables"))
            && path.file_name().unwrap().to_str().unwrap().parse::<u64>().is_ok()
    };
    files_under(directory).into_iter().filter(is_table).collect()
}

/// Returns the content, permissions and modification times of all files under a directory.
pub fn state_of(directory: &Path) -> BTreeMap<PathBuf, (Vec<u8>, u32, i64, i64)> {
    let files = files_under(directory).into_iter().map(|path| {
        let metadata = fs::metadata(&path).unwrap();
        let state = (fs::read(&path).unwrap(), metadata.mode(), metadata.mtime(), metadata.mtime_nsec());
        (path, state)
    });
    files.collect()
}
