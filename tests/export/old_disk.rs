//! The disk of a dead cluster is exported as its import is.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::data::{run, succeed};

/// Unpacks the disk of a release.
fn unpack(release: &str, into: &Path) {
    for kind in ["data", "commitlog"] {
        let archive = format!("tests/fixtures/sstables/{release}-{kind}.tar.gz");
        let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join(archive);
        if archive.exists() {
            let unpacked = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(into).status();
            assert!(unpacked.unwrap().success());
        }
    }
}

/// Returns the sizes and contents of the files of an export, by their names, without the manifest and empty tables.
fn files(directory: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if name != "export.json" && text.lines().count() > 1 {
            found.insert(name, text);
        }
    }
    found
}

#[test]
fn an_old_disk_is_exported_as_its_import_is() {
    for release in ["0.7.10", "1.2.15", "2.1.22", "3.11.19"] {
        let directory = tempfile::tempdir().unwrap();
        let directory = directory.path();
        fs::create_dir(directory.join("disk")).unwrap();
        unpack(release, &directory.join("disk"));
        let cells = ["--cells", "--format", "csv"];
        succeed(directory, &["import", "--from", "disk", "--to", "data:imported"]);
        for (name, options) in [("live", &cells[2..2]), ("all", &cells[..])] {
            let (disk, imported) = (format!("disk-{name}"), format!("imported-{name}"));
            succeed(directory, &[&["export", "--from", "disk", "--to", &disk][..], options].concat());
            let from = ["export", "--from", "data:imported", "--to", &imported];
            succeed(directory, &[&from[..], options].concat());
            let (of_disk, of_import) = (files(&directory.join(disk)), files(&directory.join(imported)));
            assert!(of_disk.len() > 5, "{release}: {:?}", of_disk.keys());
            let names = |of: &BTreeMap<String, String>| of.keys().cloned().collect::<Vec<_>>();
            if name == "live" {
                assert_eq!(names(&of_disk), names(&of_import), "{release}");
                for (file, text) in &of_disk {
                    assert_eq!(*text, of_import[file], "{release} {file}");
                }
            } else {
                // The import has dropped what is past gc_grace.
                assert!(names(&of_import).iter().all(|name| of_disk.contains_key(name)), "{release}");
            }
        }
    }
}

#[test]
fn damage_is_reported_and_the_rest_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    fs::create_dir(directory.join("disk")).unwrap();
    unpack("2.1.22", &directory.join("disk"));
    let family =
        fs::read_dir(directory.join("disk/data/BloggyAppy")).unwrap().map(|entry| entry.unwrap().path());
    let authors =
        family.into_iter().find(|path| path.file_name().unwrap().to_str().unwrap().starts_with("Authors"));
    let data = fs::read_dir(authors.unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let data = data.into_iter().find(|path| path.to_str().unwrap().ends_with("-Data.db")).unwrap();
    let mut content = fs::read(&data).unwrap();
    let middle = content.len() / 2;
    content[middle] ^= 1;
    fs::write(&data, content).unwrap();
    let words = ["export", "--from", "disk", "--to", "out"];
    let (succeeded, said) = run(directory, &words);
    assert!(!succeeded && said.contains("--skip-damaged"), "{said}");
    let (succeeded, said) = run(directory, &[&words[..], &["--skip-damaged"]].concat());
    assert!(!succeeded && said.contains("not everything is there: 1 damage"), "{said}");
    assert!(said.contains("BloggyAppy.Authors.csv: ") && said.contains("lost: "), "{said}");
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(directory.join("out/export.json")).unwrap()).unwrap();
    assert!(manifest["lost"][0].as_str().unwrap().contains("Authors"), "{manifest}");
    assert!(files(&directory.join("out")).len() > 5);
    // Another run that goes on there reports the damage again.
    let mut manifest = manifest;
    manifest["is_complete"] = false.into();
    manifest["tables"].as_array_mut().unwrap().pop();
    fs::write(directory.join("out/export.json"), manifest.to_string()).unwrap();
    let resumed = [&words[..], &["--skip-damaged"]].concat();
    let (succeeded, said) = run(directory, &[&resumed[..], &["--as-of", "2020-01-01"]].concat());
    assert!(!succeeded && said.contains("with other options"), "{said}");
    let (succeeded, said) = run(directory, &resumed);
    assert!(said.contains("BloggyAppy.Authors was written before"), "{said}");
    assert!(!succeeded && said.contains("not everything is there: 1 damage"), "{said}");
    let again: serde_json::Value =
        serde_json::from_slice(&fs::read(directory.join("out/export.json")).unwrap()).unwrap();
    assert_eq!(again["lost"], manifest["lost"]);
}
