//! The leftovers of transactions of 3.0 and later, by their logs (`LogFile.verify`, `LogFile.removeUnfinishedLeftovers`).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::LeftOut;
use crate::import::FamilyName;
use crate::import::{Inventory, SstableFile};
use sstable::{Component, RecordKind, TransactionLog, TransactionRecord};

/// The obsolete SSTables of a transaction: the names of their files up to the component, and why.
struct Obsolete {
    names: BTreeSet<String>,
    why: String,
}

/// Leaves out the SSTables of transactions that were not finished, and those that a finished one has replaced.
pub(super) fn leave_out(inventory: &mut Inventory) {
    // A transaction has a log in each directory with one of its files.
    let mut logs: BTreeMap<(usize, String), Vec<PathBuf>> = BTreeMap::new();
    for log in &inventory.transaction_logs {
        let name = log.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        logs.entry((log.node, name)).or_default().push(log.path.clone());
    }
    for ((node, name), paths) in logs {
        let obsolete = match TransactionLog::read(&paths) {
            Ok(log) => decide(&name, &log),
            Err(error) => Err(error.to_string()),
        };
        let directories: Vec<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
        match obsolete {
            Ok(obsolete) => remove(inventory, &obsolete, |table| {
                table.node == node && directories.contains(&table.descriptor.directory.as_path())
            }),
            Err(why) => {
                let path = paths.into_iter().next().unwrap_or_default();
                let family = family_at(inventory, &path, node);
                let why = format!(
                    "{}: {why}. Cassandra 3.11 does not start with such a log. It is not known which SSTables of this directory \
                     are obsolete, so all of them are read: deleted values may come back, and SSTables that are not complete \
                     are reported as damaged",
                    path.display()
                );
                inventory.doubts.push(LeftOut { path, why, family });
            }
        }
    }
}

fn remove(inventory: &mut Inventory, obsolete: &Obsolete, is_own: impl Fn(&SstableFile) -> bool) {
    let is_obsolete =
        |table: &SstableFile| is_own(table) && obsolete.names.contains(&table.descriptor.name());
    // The server may have removed the Data file already.
    inventory.missing.retain(|(_, table)| !is_obsolete(table));
    let mut left_out = Vec::new();
    for (family, tables) in inventory.families.iter().chain(&inventory.system) {
        for table in tables {
            if is_obsolete(table) {
                let why = obsolete.why.clone();
                left_out.push(LeftOut { path: table.path.clone(), why, family: family.clone() });
            }
        }
    }
    left_out.into_iter().for_each(|of| inventory.remove(of));
}

/// Returns the column family of the SSTables beside a log.
fn family_at(inventory: &Inventory, log: &Path, node: usize) -> FamilyName {
    for (name, tables) in inventory.families.iter().chain(&inventory.system) {
        let mut places = tables.iter().map(|table| (table.node, Some(table.descriptor.directory.as_path())));
        if places.any(|place| place == (node, log.parent())) {
            return name.clone();
        }
    }
    FamilyName { keyspace: String::new(), name: String::new() }
}

/// Decides which SSTables of a transaction are obsolete.
///
/// # Errors
///
/// With a reason if that cannot be known.
fn decide(name: &str, log: &TransactionLog) -> Result<Obsolete, String> {
    let files = Files::beside(log);
    let is_there = |record: &TransactionRecord| files.of(record).has_data;
    let names = |kind| log.of_kind(kind).map(|record| record.place().0.to_owned()).collect();
    if log.is_committed() {
        // A disk that was copied without its times has others. The added SSTables have all rows of the removed ones.
        let changed = log.of_kind(RecordKind::Remove).find(|record| files.of(record).has_other_time(record));
        // A truncation removes SSTables and adds none: then nothing else has the rows of a restored file.
        let mut added = log.of_kind(RecordKind::Add).peekable();
        let are_replaced = added.peek().is_some() && added.all(is_there);
        if let (Some(record), false) = (changed, are_replaced) {
            return Err(format!(
                "the transaction removed {}, but files of this name were changed later, and not all SSTables that replace it \
                 are there",
                record.place().0
            ));
        }
        let why =
            format!("a compaction has put its rows into other SSTables, or a truncation removed it ({name})");
        return Ok(Obsolete { names: names(RecordKind::Remove), why });
    }
    // If the end of the log is damaged, it may belong to a committed transaction, which has begun to remove files.
    let incomplete = log
        .of_kind(RecordKind::Remove)
        .find(|record| !is_there(record) || (log.is_cut && files.of(record).count < record.files));
    if let Some(record) = incomplete {
        let place = record.place().0;
        return Err(format!(
            "the transaction was not finished, but files of {place}, which it read, are missing"
        ));
    }
    let why = format!("the compaction or flush that wrote it was not finished ({name})");
    Ok(Obsolete { names: names(RecordKind::Add), why })
}

/// The files of all SSTables in the directories of a log. The directories of the old server may have had other names.
struct Files(HashMap<String, TableFiles>);

/// The files of an SSTable.
#[derive(Debug, Clone, Copy, Default)]
struct TableFiles {
    count: usize,
    has_data: bool,
    /// When the newest one was written, in milliseconds since 1970.
    updated_ms: Option<i64>,
}

impl Files {
    /// Lists the directories of a log. A directory that cannot be read counts as missing.
    fn beside(log: &TransactionLog) -> Files {
        let mut found: HashMap<String, TableFiles> = HashMap::new();
        let listed = log.paths.iter().filter_map(|path| fs::read_dir(path.parent()?).ok());
        for entry in listed.flatten().flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Some((table, component)) = name.rsplit_once('-') else { continue };
            let files = found.entry(table.to_owned()).or_default();
            files.count += 1;
            files.has_data |= component == Component::Data.name();
            let updated = entry.metadata().and_then(|metadata| metadata.modified()).ok();
            let since = updated.and_then(|updated| updated.duration_since(UNIX_EPOCH).ok());
            files.updated_ms =
                files.updated_ms.max(since.and_then(|since| since.as_millis().try_into().ok()));
        }
        Files(found)
    }

    /// Returns the files of the SSTable of a record.
    fn of(&self, record: &TransactionRecord) -> TableFiles {
        self.0.get(record.place().0).copied().unwrap_or_default()
    }
}

impl TableFiles {
    /// Whether the files were written at another second than a record has. Versions of Java differ in what is below a
    /// second.
    fn has_other_time(&self, record: &TransactionRecord) -> bool {
        self.updated_ms
            .is_some_and(|updated| updated.div_euclid(1_000) != record.updated_ms.div_euclid(1_000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "9786ac1cdd583201a7cdad556410c985";
    const LOG: &str = "me_txn_compaction_9786ac1c-dd58-3201-a7cd-ad556410c985.log";

    fn record(kind: &str, path: &str, updated_ms: i64, files: i32) -> String {
        let time = updated_ms.to_be_bytes();
        let parts = [path.as_bytes(), kind.as_bytes(), &time[4..], &time[..4], &files.to_be_bytes()].concat();
        format!("{kind}:[{path},{updated_ms},{files}][{}]\n", crc32fast::hash(&parts))
    }

    /// The files of a column family: the SSTables 1 and 2 were compacted into 3, and each has two files.
    struct Directory {
        root: tempfile::TempDir,
        /// The directories of the disks.
        disks: Vec<PathBuf>,
    }

    impl Directory {
        fn of(disks: usize) -> Directory {
            let root = tempfile::tempdir().unwrap();
            let path = |disk| root.path().join(format!("disk{disk}/Shop/Carts-{ID}"));
            let disks: Vec<PathBuf> = (0..disks).map(path).collect();
            disks.iter().for_each(|disk| fs::create_dir_all(disk).unwrap());
            for generation in 1..4usize {
                for component in ["Data.db", "Index.db"] {
                    let disk = &disks[generation % disks.len()];
                    fs::write(disk.join(format!("me-{generation}-big-{component}")), b"1234").unwrap();
                }
            }
            Directory { root, disks }
        }

        /// Returns the records of the compaction, with the times of the files moved by some seconds.
        fn records(&self, later_s: i64) -> String {
            let mut text = String::new();
            for generation in 1..4usize {
                let disk = &self.disks[generation % self.disks.len()];
                let data = disk.join(format!("me-{generation}-big-Data.db"));
                let since = data.metadata().unwrap().modified().unwrap().duration_since(UNIX_EPOCH).unwrap();
                let updated = i64::try_from(since.as_millis()).unwrap() + later_s * 1_000;
                let path = format!("/old/data/Shop/Carts-{ID}/me-{generation}-big");
                text += &match generation {
                    3 => record("ADD", &path, 0, 2),
                    _ => record("REMOVE", &path, updated, 2),
                };
            }
            text
        }

        /// Writes the log, and returns the SSTables that are read, and the doubts.
        fn read(&self, log: &str) -> (String, Vec<String>) {
            self.disks.iter().for_each(|disk| fs::write(disk.join(LOG), log).unwrap());
            let given =
                (0..self.disks.len()).map(|disk| self.root.path().join(format!("disk{disk}"))).collect();
            let found = Inventory::of_nodes(&[given]).unwrap();
            let tables = found.families.values().flatten();
            let read: Vec<String> = tables.map(|table| table.descriptor.generation.to_string()).collect();
            (read.join(" "), found.doubts.into_iter().map(|doubt| doubt.why).collect())
        }
    }

    #[test]
    fn the_last_record_decides_which_half_is_read() {
        let commit = record("COMMIT", "", 0, 0);
        for disks in [1, 2] {
            let directory = Directory::of(disks);
            let records = directory.records(0);
            let read = |log: &str| {
                let (read, doubts) = directory.read(log);
                assert_eq!(doubts, [""; 0], "{log}");
                read
            };
            assert_eq!(read(&format!("{records}{commit}")), "3");
            assert_eq!(read(&records), "1 2");
            assert_eq!(read(&format!("{records}{}", record("ABORT", "", 0, 0))), "1 2");
            assert_eq!(read(&format!("{records}{}", &commit[..9])), "1 2");
            let flush = record("ADD", &format!("/old/data/Shop/Carts-{ID}/me-3-big"), 0, 1);
            assert_eq!(read(&flush), "1 2");
            assert_eq!(read(&format!("{flush}{commit}")), "1 2 3");
            assert_eq!(read(""), "1 2 3");
            // The files of a copied disk can have the time of the copy.
            let copied = directory.records(100);
            assert_eq!(read(&format!("{copied}{commit}")), "3");
        }
    }

    /// A truncation removes SSTables and adds none. If only the times of the files are others, they may be copies of the
    /// removed files, or files of the same names that were restored from a backup.
    #[test]
    fn files_of_a_truncation_with_other_times_are_read() {
        let directory = Directory::of(1);
        let truncated = |later_s| {
            let records = directory.records(later_s);
            let removed = records.lines().filter(|line| line.starts_with("REMOVE"));
            removed.map(|line| format!("{line}\n")).collect::<String>() + &record("COMMIT", "", 0, 0)
        };
        assert_eq!(directory.read(&truncated(0)), ("3".to_owned(), Vec::new()));
        for later_s in [-100, 100] {
            let (read, doubts) = directory.read(&truncated(later_s));
            assert!(read == "1 2 3" && doubts.len() == 1, "{read} {doubts:?}");
            assert!(
                doubts[0].contains("removed me-1-big, but files of this name were changed later"),
                "{doubts:?}"
            );
        }
    }

    #[test]
    fn what_contradicts_a_log_is_a_doubt() {
        let commit = record("COMMIT", "", 0, 0);
        let expect = |directory: &Directory, log: &str, all: &str, words: &str| {
            let (read, mut doubts) = directory.read(log);
            doubts.retain(|doubt| !doubt.contains("the Data file is missing"));
            assert!(read == all && doubts.len() == 1 && doubts[0].contains(words), "{read} {doubts:?}");
        };
        let directory = Directory::of(1);
        let data = |generation| directory.disks[0].join(format!("me-{generation}-big-Data.db"));
        let (records, copied) = (directory.records(0), directory.records(100));
        expect(&directory, &format!("{}{commit}", records.replace("me-2", "me-5")), "1 2 3", "line 2");
        fs::remove_file(directory.disks[0].join("me-1-big-Index.db")).unwrap();
        // Without the last record the Data file would be enough.
        expect(&directory, &format!("{records}{}", &commit[..9]), "1 2 3", "files of me-1-big");
        assert_eq!(directory.read(&records).0, "1 2");
        fs::remove_file(data(1)).unwrap();
        expect(&directory, &records, "2 3", "files of me-1-big, which it read, are missing");
        fs::remove_file(data(3)).unwrap();
        expect(&directory, &format!("{copied}{commit}"), "2", "changed later");
        assert_eq!(directory.read(&format!("{records}{commit}")).0, "");
    }
}
