//! Removes what no restore within the time to keep needs.
//!
//! The newest full backup that is older than this time is kept, because all moments after it need it. Before anything is
//! removed, it is checked to be complete. Then the full backups before it are removed, then their parts of the log, and
//! the runs before its run. Only the server's own line is changed. A table is removed if no full backup of any line names
//! it, now and at the time before: another server may be about to name a table that it has found.

use std::collections::HashSet;

use object_store::path::Path;

use crate::Result;
use crate::bucket::Bucket;
use crate::full_backup::FullBackup;
use crate::full_upload::{check, tables_in};
use crate::inventory::{numbers_of, runs_of};
use crate::names::{LINES, RunName, RunObject, TableObject, number_in};

/// Names that are collected before they are removed.
const NAMES_MAX: usize = 100_000;

/// The retention of one server.
#[derive(Default)]
pub(crate) struct Retention {
    /// Tables that no full backup named at the last time.
    unnamed: HashSet<TableObject>,
}

impl Retention {
    /// Removes what is older than the full backup that is needed for moments since `cutoff_us`. Returns the number of
    /// objects that were removed.
    pub(crate) async fn run(&mut self, bucket: &Bucket, run: &RunName, cutoff_us: i64) -> Result<usize> {
        let mut named = HashSet::new();
        let mut oldest = None;
        'runs: for run in runs_of(bucket, &run.line).await?.into_iter().rev() {
            for number in numbers_of(bucket, &run, RunObject::Full).await?.into_iter().rev() {
                let full = read_full(bucket, &run, number, &mut named).await?;
                if full.header.at_us <= cutoff_us {
                    oldest = Some((run, full.header));
                    break 'runs;
                }
            }
        }
        let Some((kept, full)) = oldest else { return Ok(0) };
        check(bucket, &kept, &full).await?;
        let mut removed = 0;
        for earlier in runs_of(bucket, &kept.line).await?.into_iter().filter(|run| *run < kept) {
            for folder in [earlier.numbered_folder(RunObject::Full), earlier.folder()] {
                removed += remove_before(bucket, &folder, u64::MAX).await?;
            }
        }
        removed += remove_before(bucket, &kept.numbered_folder(RunObject::Full), full.number).await?;
        removed += remove_before(bucket, &kept.numbered_folder(RunObject::Log), full.first_part).await?;
        for line in bucket.folders(&LINES.into()).await?.iter().filter(|line| **line != kept.line) {
            for run in runs_of(bucket, line).await? {
                for number in numbers_of(bucket, &run, RunObject::Full).await? {
                    read_full(bucket, &run, number, &mut named).await?;
                }
            }
        }
        let unnamed: HashSet<TableObject> = tables_in(bucket).await?.difference(&named).copied().collect();
        let unused: Vec<Path> = self.unnamed.intersection(&unnamed).map(|table| table.path()).collect();
        removed += unused.len();
        bucket.remove(unused).await?;
        self.unnamed = unnamed;
        Ok(removed)
    }
}

/// Reads a full backup, and adds its tables to those that are named.
async fn read_full(
    bucket: &Bucket,
    run: &RunName,
    number: u64,
    named: &mut HashSet<TableObject>,
) -> Result<FullBackup> {
    let path = run.numbered(RunObject::Full, number);
    let name = bucket.object(&path);
    let object = bucket.get(&path).await?.ok_or_else(|| crate::ArchiveError::Missing(name.clone()))?;
    let full = FullBackup::decode(&name, &object)?;
    for table in &full.header.tables {
        named.insert(table.name(&name)?);
    }
    Ok(full)
}

/// Removes the objects in a directory whose numbers are less than `before`; with `u64::MAX` also those without a number.
async fn remove_before(bucket: &Bucket, folder: &Path, before: u64) -> Result<usize> {
    let mut removed = 0;
    loop {
        let mut paths = HashSet::new();
        bucket
            .list(folder, None, |meta| {
                let is_before =
                    number_in(&meta.location).map_or(before == u64::MAX, |number| number < before);
                if is_before && paths.len() < NAMES_MAX {
                    paths.insert(meta.location);
                }
            })
            .await?;
        let count = paths.len();
        bucket.remove(paths.into_iter().collect()).await?;
        removed += count;
        if count < NAMES_MAX {
            return Ok(removed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use embedded::StorePoint;
    use object_store::memory::InMemory;

    use super::*;
    use crate::ArchiveLocation;
    use crate::full_backup::{ArchivedTable, FullBackupHeader};

    const LENGTH: u64 = 4;

    /// Puts a full backup with its tables, and the parts of the log that it needs.
    async fn put_full(bucket: &Bucket, run: &RunName, number: u64, at_us: i64, tables: &[u128]) {
        let part = number * 10;
        let mut listed = Vec::new();
        for checksum in tables {
            let table = TableObject { checksum: *checksum, bytes: LENGTH };
            bucket.put(&table.path(), Bytes::from_static(b"rows")).await.unwrap();
            let (path, checksum) = (format!("1.1/tables/{checksum}"), format!("{checksum:032x}"));
            listed.push(ArchivedTable { path, checksum, bytes: LENGTH });
        }
        for part in [part, part + 1] {
            bucket.put(&run.numbered(RunObject::Log, part), Bytes::from_static(b"log")).await.unwrap();
        }
        let header = FullBackupHeader {
            number,
            at_us,
            point: StorePoint::default(),
            first_segment: 1,
            first_part: part,
            last_part: part + 1,
            marker: String::new(),
            manifest_bytes: 0,
            folders: Vec::new(),
            files: Vec::new(),
            tables: listed,
        };
        let full = FullBackup { header, manifest: Vec::new(), contents: Vec::new() };
        bucket.put(&run.numbered(RunObject::Full, number), full.encode().unwrap().into()).await.unwrap();
    }

    async fn objects(bucket: &Bucket) -> Vec<String> {
        let mut names = Vec::new();
        bucket.list(&Path::default(), None, |meta| names.push(meta.location.to_string())).await.unwrap();
        names.sort();
        names.into_iter().map(|name| name.replace(&"0".repeat(31), "").replace("000000000", "")).collect()
    }

    #[tokio::test]
    async fn unused_tables_go_at_the_second_time_and_what_is_needed_stays() {
        let bucket = Bucket::for_reader(ArchiveLocation::new(Arc::new(InMemory::new()), "memory"));
        let run = |line: &str, run| RunName { line: line.to_owned(), run };
        put_full(&bucket, &run("a", 1), 1, 100, &[1, 2]).await;
        put_full(&bucket, &run("a", 2), 1, 200, &[2, 3]).await;
        put_full(&bucket, &run("a", 2), 2, 300, &[3, 4]).await;
        put_full(&bucket, &run("a", 2), 3, 400, &[4]).await;
        put_full(&bucket, &run("b", 1), 1, 50, &[5]).await;
        let all = objects(&bucket).await;
        let mut retention = Retention::default();
        assert_eq!(retention.run(&bucket, &run("a", 2), 99).await.unwrap(), 0, "no full backup is so old");
        assert_eq!(objects(&bucket).await, all);

        // The moments since 350 need the full backup of 300, which is the second one of its run.
        assert_eq!(retention.run(&bucket, &run("a", 2), 350).await.unwrap(), 6);
        let tables = |names: &[String]| {
            let tables = names.iter().filter_map(|name| name.strip_prefix("tables/"));
            tables.map(str::to_owned).collect::<Vec<_>>().join(" ")
        };
        let left = objects(&bucket).await;
        assert_eq!(tables(&left), "1-4 2-4 3-4 4-4 5-4");
        assert_eq!(retention.run(&bucket, &run("a", 2), 350).await.unwrap(), 2);
        let left_later = objects(&bucket).await;
        assert_eq!(tables(&left_later), "3-4 4-4 5-4");
        let others = |names: Vec<String>| {
            names.into_iter().filter(|name| name.starts_with("lines/")).collect::<Vec<_>>()
        };
        let (left, expected) = (others(left_later), others(left));
        assert_eq!(left, expected);
        assert_eq!(left.iter().filter(|name| name.starts_with("lines/a/000001/")).count(), 0);
        assert_eq!(left.iter().filter(|name| name.starts_with("lines/a/000002/full/")).count(), 2);
        assert_eq!(left.iter().filter(|name| name.starts_with("lines/a/000002/log/")).count(), 4);
        assert_eq!(left.iter().filter(|name| name.starts_with("lines/b/")).count(), 3);
    }

    #[tokio::test]
    async fn nothing_is_removed_if_the_full_backup_that_stays_is_not_complete() {
        let bucket = Bucket::for_reader(ArchiveLocation::new(Arc::new(InMemory::new()), "memory"));
        let run = RunName { line: "a".to_owned(), run: 1 };
        put_full(&bucket, &run, 1, 100, &[1]).await;
        put_full(&bucket, &run, 2, 200, &[2]).await;
        bucket.remove(vec![TableObject { checksum: 2, bytes: LENGTH }.path()]).await.unwrap();
        let before = objects(&bucket).await;
        let refused = Retention::default().run(&bucket, &run, 250).await.unwrap_err().to_string();
        assert!(refused.contains("tables/"), "{refused}");
        assert_eq!(objects(&bucket).await, before);
    }
}
