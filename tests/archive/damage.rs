//! Each object of an archive is removed or changed. A restore that needs it fails with its name, and a verification finds
//! it; neither makes another state.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use std::fs;
use std::path::{Path, PathBuf};

use archive::ArchiveLocation;
use base::schema::Catalog;

use crate::store_support::{apply, catalog, cf_of, close, family, names, open, put};
use crate::{options, restore, start, verify, wait_for_full_backups};

fn schema() -> Catalog {
    catalog([family("A", "UTF8Type", None)])
}

/// Makes an archive with a table and several parts.
fn make(archive: &ArchiveLocation, data: &Path) {
    let store = open(data, &schema()).unwrap();
    let cf = cf_of(&schema(), "A");
    apply(&store, put(&cf, "row", "first", "v", 1)).unwrap();
    store.flush().unwrap();
    // One full backup only, so that a restore needs everything.
    let mut options = options(archive, data);
    options.full_backups.latest = std::time::Duration::from_secs(3600);
    options.full_backups.log_bytes = u64::MAX;
    let archiver = start(&store, options);
    wait_for_full_backups(&store, 1);
    for number in 0..4 {
        apply(&store, put(&cf, "row", &format!("later{number}"), "v", 1)).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(150));
    }
    crate::store_support::wait(store::Store::close(&store)).unwrap();
    assert!(archiver.stop(crate::STOP_TIMEOUT));
}

fn files_under(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { files.extend(files_under(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}

#[test]
fn a_missing_or_damaged_object_is_named_and_never_restored() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("archive");
    let archive = ArchiveLocation::open(&format!("file://{}", folder.display()), true).unwrap();
    make(&archive, &place.path().join("data"));
    let target = place.path().join("restored");
    let files = files_under(&folder);
    let is_part = |path: &Path| path.parent().unwrap().ends_with("log");
    let last = files.iter().rfind(|path| is_part(path)).unwrap().clone();
    assert!(files.iter().filter(|path| is_part(path)).count() >= 4, "{files:?}");
    for file in &files {
        let bytes = fs::read(file).unwrap();
        let name = file.strip_prefix(&folder).unwrap().to_str().unwrap();
        let is_begin = name.ends_with("begin");
        let mut changed = bytes.clone();
        changed[bytes.len() / 2] ^= 1;
        for change in [None, Some(&changed[..]), Some(&bytes[..bytes.len() - 1])] {
            match change {
                None => fs::remove_file(file).unwrap(),
                Some(changed) => fs::write(file, changed).unwrap(),
            }
            // Without the last part there is an earlier state.
            if change.is_some() || *file != last {
                let error = restore(&archive, None, &target).unwrap_err().to_string();
                let is_named =
                    error.contains(name) || change.is_none() && name.contains("/full/") || is_begin;
                assert!(is_named, "{name}: {error}");
                assert!(!target.exists() && !target.with_extension("unfinished").exists(), "{name}");
            }
            let found = verify(&archive);
            let is_found = found.damages.iter().any(|damage| damage.contains(name));
            let is_seen =
                is_found || is_begin || change.is_none() && (name.contains("/full/") || *file == last);
            assert!(is_seen, "{name}: {found:?}");
            fs::write(file, &bytes).unwrap();
        }
    }
    restore(&archive, None, &target).unwrap();
    let store = open(&target, &schema()).unwrap();
    let found = names(&store, "row", &cf_of(&schema(), "A"));
    close(store);
    assert_eq!(found, ["first", "later0", "later1", "later2", "later3"]);
    let full = verify(&archive);
    assert_eq!((full.damages.len(), full.full_backups, full.tables, full.moments.len()), (0, 1, 1, 1));
    let refused = restore(&archive, None, &target).unwrap_err().to_string();
    assert!(refused.contains("exists and is not empty"), "{refused}");
    let early = restore(&archive, Some(0), &place.path().join("early")).unwrap_err().to_string();
    assert!(early.contains("no full backup that is so old"), "{early}");
}
