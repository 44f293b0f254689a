//! A damaged data directory, imported with `--skip-damaged`: what is missing or different is reported, with its keys.
//!
//! `DAMAGED_IMPORTS` (1) directories of each release are imported, `CHANCE_SEED` repeats a run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use base::partitioner;
use base::partitioner::PartitionerRef;
use bytes::Bytes;
use sstable::{Component, Descriptor};
use transfer::import::Summary;

use crate::chance::Chance;
use crate::contents::{Column, unhex};
use crate::fixture::{Fixture, RELEASES};
use crate::import::import_in_order;
use crate::random_damage::damage;
use crate::rows::Merged;

/// Of so many tables one is damaged.
const TABLES_PER_DAMAGE: usize = 4;

/// The columns of all rows, by family and key.
type Everything = BTreeMap<(String, String, String), Vec<Column>>;

fn everything(merged: &Merged, fixture: &Fixture) -> Everything {
    let catalog = merged.database.catalog().clone();
    let mut found = Everything::new();
    for (keyspace, described) in fixture.contents["rows"].as_object().unwrap() {
        for (family, rows) in described.as_object().unwrap() {
            let cf = catalog.column_family(keyspace, family).unwrap();
            for row in rows.as_array().unwrap() {
                let key = row["key"].as_str().unwrap().to_owned();
                let columns = merged.read(cf, &key);
                found.insert((keyspace.clone(), family.clone(), key), columns);
            }
        }
    }
    found
}

/// A range of rows of a family that a report names.
#[derive(Debug)]
struct Reported {
    family: (String, String),
    from: Option<Bytes>,
    /// Exclusive.
    to: Option<Bytes>,
}

impl Reported {
    /// Reads the reports of an import.
    fn of(summary: &Summary) -> Vec<Reported> {
        summary.losses.first().iter().filter_map(|lost| Reported::parse(&lost.path, &lost.what)).collect()
    }

    /// Returns the range of a report. `None` if nothing is lost.
    fn parse(path: &Path, what: &str) -> Option<Reported> {
        let key_after = |word: &str| {
            let (_, rest) = what.split_once(word)?;
            let digits = rest.bytes().take_while(u8::is_ascii_hexdigit).count();
            Some(Bytes::from(unhex(&rest[..digits])))
        };
        let descriptor = Descriptor::of_data_file(path).unwrap();
        let family = (descriptor.keyspace.unwrap(), descriptor.family.unwrap());
        let whole = ["lost: all rows of this SSTable", "all may have wrong values", "all timestamps of this"];
        if whole.iter().any(|words| what.contains(words)) {
            return Some(Reported { family, from: None, to: None });
        }
        if what.contains("nothing is lost") {
            return None;
        }
        assert!(what.contains("lost: "), "{what}");
        let from = key_after("the rows from the key 0x").or_else(|| key_after("the rows after the key 0x"));
        assert!(from.is_some() || what.contains("the rows from the first one"), "{what}");
        let to = key_after("to before the key 0x");
        assert!(to.is_some() || what.contains("to the last one"), "{what}");
        Some(Reported { family, from, to })
    }

    fn has(&self, partitioner: &PartitionerRef, keyspace: &str, family: &str, key: &str) -> bool {
        let place = |key: &Bytes| {
            let mut token = Vec::new();
            partitioner.token(key, &mut token);
            (token, key.clone())
        };
        let row = place(&Bytes::from(unhex(key)));
        let family = (keyspace.to_owned(), family.to_owned());
        self.family == family
            && self.from.as_ref().is_none_or(|from| place(from) <= row)
            && self.to.as_ref().is_none_or(|to| row < place(to))
    }
}

/// Damages a file of some tables. Returns what was done, and the files.
fn damage_some(chance: &mut Chance, fixture: &Fixture) -> Vec<(PathBuf, String)> {
    let mut done = Vec::new();
    for keyspace in fixture.contents["rows"].as_object().unwrap().keys() {
        for data in fixture.data_files(keyspace) {
            if chance.below(TABLES_PER_DAMAGE) > 0 {
                continue;
            }
            let descriptor = Descriptor::of_data_file(&data).unwrap();
            let all =
                [Component::Data, Component::Index, Component::CompressionInfo, Component::Crc].into_iter();
            let paths = all.map(|component| descriptor.path(component)).chain(descriptor.digest_path());
            let paths: Vec<PathBuf> = paths.filter(|path| path.is_file()).collect();
            let path = chance.pick(&paths);
            let mut content = fs::read(path).unwrap();
            let what = damage(chance, &mut content, None);
            fs::write(path, content).unwrap();
            done.push((path.clone(), what));
        }
    }
    done
}

#[test]
fn what_is_missing_is_reported_with_its_keys() {
    let imports = std::env::var("DAMAGED_IMPORTS").map_or(1, |text| text.parse().expect("DAMAGED_IMPORTS"));
    let seed = Chance::seed_from("CHANCE_SEED");
    println!("damaged imports: CHANCE_SEED={seed}");
    let mut chance = Chance::new(seed);
    for release in RELEASES {
        for _ in 0..imports {
            let fixture = Fixture::unpack(release);
            let class = fixture.contents["partitioner"].as_str().unwrap();
            let partitioner = partitioner::resolve(class).unwrap();
            let import = || {
                let merged = Merged::new(fixture.contents);
                let summary =
                    import_in_order(class, &merged, fixture.contents, &[fixture.data()], true).unwrap();
                (everything(&merged, &fixture), summary)
            };
            let (whole, summary) = import();
            assert_eq!(summary.losses.count(), 0);
            let damages = damage_some(&mut chance, &fixture);
            let (found, summary) = import();
            assert!(!summary.losses.is_empty(), "{release}: {damages:?}");
            let reported = Reported::of(&summary);
            let (mut different, mut silent) = (0, 0);
            for (place, columns) in &whole {
                if found[place] == *columns {
                    continue;
                }
                different += 1;
                let (keyspace, family, key) = place;
                if reported.iter().any(|range| range.has(&partitioner, keyspace, family, key)) {
                    continue;
                }
                // Files of 0.4 to 0.8 have no checksums.
                let has_checksums = fixture
                    .files_of(keyspace, family)
                    .iter()
                    .all(|data| Descriptor::of_data_file(data).unwrap().format.letters >= "h");
                let texts: Vec<&String> = summary.losses.first().iter().map(|lost| &lost.what).collect();
                assert!(!has_checksums, "{release} {place:?}: {damages:?}, {texts:#?}");
                silent += 1;
            }
            println!(
                "{release}: {} files damaged, {} reports, {different} of {} rows different, {silent} of them silently",
                damages.len(),
                summary.losses.count(),
                whole.len()
            );
        }
    }
}
