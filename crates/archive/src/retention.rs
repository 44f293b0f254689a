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
