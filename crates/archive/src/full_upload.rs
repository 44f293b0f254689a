//! Uploads a full backup: the tables that the archive lacks, then the backup itself, when the log that it needs is there.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use embedded::{ArchiveSource, PinnedBackup};
use store::StoreError;
use tokio::sync::watch;

use crate::bucket::Bucket;
use crate::full_backup::{FullBackup, FullBackupHeader, name_of};
use crate::log_stream::Uploaded;
use crate::names::{RunName, RunObject, TABLES, TableObject, number_in};
use crate::time::now_us;
use crate::{ArchiveError, Result};

/// A full backup of a run that is to be uploaded.
pub(crate) struct FullUpload {
    pub bucket: Arc<Bucket>,
    pub source: Arc<dyn ArchiveSource>,
    pub run: RunName,
    pub number: u64,
    /// Limits the rate at which tables are uploaded.
    pub bytes_per_s: Option<u64>,
    /// Follows the upload of the log.
    pub uploaded: watch::Receiver<Uploaded>,
}

impl FullUpload {
    /// Uploads the full backup and checks that all that it needs is in the archive.
    pub(crate) async fn run(mut self) -> Result<FullBackupHeader> {
        let next_part = self.uploaded.borrow().next_part;
        let (pinned, at_us) = self.pin().await?;
        let (tables, bytes) = self.upload_tables(&pinned).await?;
        let mut full = FullBackup::of(&pinned, self.number, at_us);
        drop(pinned);
        let point = full.header.point;
        let is_there =
            |uploaded: &Uploaded| uploaded.place >= point.place && uploaded.changes >= point.changes;
        let uploaded = self.uploaded.wait_for(is_there).await;
        let ended = |_| ArchiveError::Refused("the run has ended".to_owned());
        let uploaded = uploaded.map_err(ended)?.clone();
        let first = uploaded.part_of_segment.get(&full.header.first_segment).copied();
        let first = first.ok_or_else(|| {
            ArchiveError::Refused(format!("segment {} of the log was forgotten", full.header.first_segment))
        })?;
        // A change of the manifest that follows the point may be in an earlier part than the segment.
        full.header.first_part = first.min(next_part);
        full.header.last_part = uploaded.next_part - 1;
        let path = self.run.numbered(RunObject::Full, self.number);
        self.bucket.put(&path, Bytes::from(full.encode()?)).await?;
        check(&self.bucket, &self.run, &full.header).await?;
        tracing::info!(
            "full backup {} of run {} is in the archive: {} tables, of which {tables} with {:.1} MB were uploaded",
            self.number,
            self.run.run,
            full.header.tables.len(),
            bytes as f64 / 1e6
        );
        Ok(full.header)
    }

    async fn pin(&self) -> Result<(PinnedBackup, i64)> {
        let source = self.source.clone();
        let pinned = tokio::task::spawn_blocking(move || source.pin().map(|pinned| (pinned, now_us()))).await;
        let panicked = |_| StoreError::Io("the thread that pins tables has panicked".to_owned());
        Ok(pinned.map_err(panicked)??)
    }

    /// Uploads the tables that the archive lacks. Returns how many there were, and their bytes.
    async fn upload_tables(&self, pinned: &PinnedBackup) -> Result<(usize, u64)> {
        let found = tables_in(&self.bucket).await?;
        let (mut tables, mut bytes) = (0, 0);
        for table in &pinned.tables {
            let name = name_of(table);
            if !found.contains(&name) {
                self.bucket.put_table(name, &table.file, self.bytes_per_s).await?;
                tables += 1;
                bytes += name.bytes;
            }
            pinned.unpin(table);
        }
        Ok((tables, bytes))
    }
}

/// Returns the tables in an archive. A list that is late lacks some, which are then uploaded again.
pub(crate) async fn tables_in(bucket: &Bucket) -> Result<HashSet<TableObject>> {
    let mut found = HashSet::new();
    bucket.list(&TABLES.into(), None, |meta| found.extend(TableObject::parse(&meta.location))).await?;
    Ok(found)
}

/// Checks that all objects that a full backup needs exist.
///
/// # Errors
/// `Missing`, with the first that does not.
pub(crate) async fn check(bucket: &Bucket, run: &RunName, full: &FullBackupHeader) -> Result<()> {
    let name = bucket.object(&run.numbered(RunObject::Full, full.number));
    let found = tables_in(bucket).await?;
    for table in &full.tables {
        let table = table.name(&name)?;
        // The list may be late.
        if !found.contains(&table) && bucket.size(&table.path()).await? != Some(table.bytes) {
            return Err(ArchiveError::Missing(bucket.object(&table.path())));
        }
    }
    let mut parts = HashSet::new();
    let folder = run.numbered_folder(RunObject::Log);
    let after = run.numbered(RunObject::Log, full.first_part.saturating_sub(1));
    let needed = full.first_part..=full.last_part;
    let keep = |number: &u64| needed.contains(number);
    bucket.list(&folder, Some(&after), |meta| parts.extend(number_in(&meta.location).filter(keep))).await?;
    for number in needed.clone().filter(|number| !parts.contains(number)) {
        let part = run.numbered(RunObject::Log, number);
        if bucket.size(&part).await?.is_none() {
            return Err(ArchiveError::Missing(bucket.object(&part)));
        }
    }
    Ok(())
}
