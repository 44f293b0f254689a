//! Restores a data directory from an archive: the newest state of a line, or its state at a time.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;

use embedded::{LogPlace, RestoreTarget, RestoredManifest};
use futures_util::{StreamExt, TryStreamExt, stream};
use store::StoreError;

use crate::bucket::Bucket;
use crate::full_backup::{FullBackup, FullBackupHeader, folder_of};
use crate::inventory::{Chosen, choose};
use crate::log_part::LogPart;
use crate::names::{RunObject, TableObject};
use crate::replay::{ReplayedLog, replay};
use crate::run::{ArchiveState, STATE_FILE};
use crate::{ArchiveError, ArchiveLocation, Result};

/// Tables that are downloaded at the same time.
const TABLES_AT_ONCE: usize = 4;

/// The options of a restore.
#[derive(Debug, Clone)]
pub struct RestoreOptions {
    /// The archive.
    pub from: ArchiveLocation,
    /// The line. Without one it is the line in which a server began a run last.
    pub line: Option<String>,
    /// The time to restore, in microseconds since 1970. Without one it is the newest state.
    pub at_us: Option<i64>,
    /// A directory that does not exist or is empty. `None` to find out what would be restored.
    pub to: Option<PathBuf>,
}

/// A restored state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RestoreSummary {
    /// The line and the run that it is from.
    pub line: String,
    /// The number of the run.
    pub run: u32,
    /// The time of the state, in microseconds since 1970.
    pub at_us: i64,
    /// Column families that are not dropped.
    pub column_families: usize,
    /// Tables, and their bytes.
    pub tables: usize,
    /// The bytes of the tables.
    pub table_bytes: u64,
    /// Parts of the log that were read.
    pub parts: u64,
    /// The bytes of the log in them.
    pub log_bytes: u64,
}

/// Restores a data directory. Lines about the progress are given to `progress`.
///
/// # Errors
/// `Refused` if the archive has no such state, `Missing` or `Damaged` with the object that is, `Store` if the directory
/// cannot be written. The directory does not exist then.
pub async fn restore(options: &RestoreOptions, progress: &mut dyn FnMut(&str)) -> Result<RestoreSummary> {
    let bucket = Bucket::for_reader(options.from.clone());
    let chosen = choose(&bucket, options.line.as_deref(), options.at_us).await?;
    let full = &chosen.full;
    progress(&format!(
        "full backup {} of run {} of line {}: {} tables, {:.1} MB",
        full.header.number,
        chosen.run.run,
        chosen.run.line,
        full.header.tables.len(),
        full.table_bytes() as f64 / 1e6
    ));
    progress("reading the log");
    let Some(to) = &options.to else {
        let replayed = replay(&bucket, &chosen, options.at_us, |_| Ok(())).await?;
        let restored = manifest_of(&chosen, &replayed)?;
        return summary(&bucket, &chosen, &replayed, &restored);
    };
    let target = RestoreTarget::create(to)?;
    let mut log = LogFiles { target: &target, full: &full.header, current: None };
    let replayed = replay(&bucket, &chosen, options.at_us, |part| log.add(part)).await?;
    log.cut(replayed.moment.point.place)?;
    let restored = manifest_of(&chosen, &replayed)?;
    let summary = summary(&bucket, &chosen, &replayed, &restored)?;
    progress(&format!("reading {} tables, {:.1} MB", summary.tables, summary.table_bytes as f64 / 1e6));
    store_files(full, &restored, &target)?;
    let tables = tables_of(&bucket, &chosen, &restored)?;
    let (bucket, target_of) = (&bucket, &target);
    let reads = stream::iter(tables).map(|(path, table)| async move {
        bucket.get_table(table, Some(&target_of.table_path(&path))).await
    });
    reads.buffer_unordered(TABLES_AT_ONCE).try_collect::<Vec<()>>().await?;
    let state = ArchiveState {
        line: chosen.run.line.clone(),
        run: chosen.run.run,
        is_restored: true,
        claiming: None,
    };
    target.write(STATE_FILE, &state.encode()?)?;
    target.finish(&restored, full.header.marker.as_bytes(), progress)?;
    Ok(summary)
}

fn manifest_of(chosen: &Chosen, replayed: &ReplayedLog) -> Result<RestoredManifest> {
    let (first, last) = (chosen.full.header.first_segment, replayed.moment.point.place.segment);
    Ok(RestoredManifest::new(&chosen.full.manifest, replayed.manifest.as_deref(), first, last)?)
}

/// Returns the tables to restore, with their paths.
fn tables_of(
    bucket: &Bucket,
    chosen: &Chosen,
    restored: &RestoredManifest,
) -> Result<Vec<(String, TableObject)>> {
    let name = bucket.object(&chosen.run.numbered(RunObject::Full, chosen.full.header.number));
    let tables = chosen.full.header.tables.iter().filter(|table| restored.lists(folder_of(&table.path)));
    tables.map(|table| Ok((table.path.clone(), table.name(&name)?))).collect()
}

fn summary(
    bucket: &Bucket,
    chosen: &Chosen,
    replayed: &ReplayedLog,
    restored: &RestoredManifest,
) -> Result<RestoreSummary> {
    let tables = tables_of(bucket, chosen, restored)?;
    Ok(RestoreSummary {
        line: chosen.run.line.clone(),
        run: chosen.run.run,
        at_us: replayed.moment.at_us,
        column_families: restored.column_families(),
        tables: tables.len(),
        table_bytes: tables.iter().map(|(_, table)| table.bytes).sum(),
        parts: replayed.parts,
        log_bytes: replayed.log_bytes,
    })
}

/// Creates the directories of tables, and writes their lists.
fn store_files(full: &FullBackup, restored: &RestoredManifest, target: &RestoreTarget) -> Result<()> {
    for folder in &full.header.folders {
        let tree = folder.strip_suffix(".given-up").unwrap_or(folder);
        if !restored.lists(tree) {
            continue;
        }
        let inner = if tree == folder { format!("{folder}/tables") } else { folder.clone() };
        let path = target.table_path(&inner);
        std::fs::create_dir_all(&path).map_err(|error| ArchiveError::of_file(&path, &error))?;
    }
    for (file, bytes) in full.header.files.iter().zip(&full.contents) {
        if restored.lists(folder_of(&file.path)) {
            let path = target.table_path(&file.path);
            std::fs::write(&path, bytes).map_err(|error| ArchiveError::of_file(&path, &error))?;
        }
    }
    Ok(())
}

/// The segments of the log that are being written.
struct LogFiles<'a> {
    target: &'a RestoreTarget,
    full: &'a FullBackupHeader,
    current: Option<(LogPlace, File)>,
}

impl LogFiles<'_> {
    /// Appends the bytes of a part. Segments that are not replayed are left out.
    fn add(&mut self, part: &LogPart) -> Result<()> {
        use std::io::Write;
        let begin = part.header.begin;
        if begin.segment < self.full.first_segment {
            return Ok(());
        }
        let path = self.target.segment_path(begin.segment);
        let failed = |error: std::io::Error| ArchiveError::of_file(&path, &error);
        let (end, mut file) = match self.current.take() {
            Some(current) if current.0.segment == begin.segment => current,
            _ => (LogPlace { segment: begin.segment, offset: 0 }, File::create(&path).map_err(failed)?),
        };
        if end != begin {
            let why = format!(
                "part {} of the log begins at byte {} of segment {}, and the bytes before it end at {}",
                part.header.number, begin.offset, begin.segment, end.offset
            );
            return Err(StoreError::Corrupt(why).into());
        }
        file.write_all(&part.log).map_err(failed)?;
        self.current = Some((LogPlace { offset: end.offset + part.log.len() as u64, ..end }, file));
        Ok(())
    }

    /// Cuts the log off at a place, and removes the segments behind it.
    fn cut(&mut self, end: LogPlace) -> Result<()> {
        let last = self.current.take().map_or(end.segment, |(last, _)| last.segment);
        for segment in end.segment + 1..=last {
            let path = self.target.segment_path(segment);
            std::fs::remove_file(&path).map_err(|error| ArchiveError::of_file(&path, &error))?;
        }
        let path = self.target.segment_path(end.segment);
        let cut = OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(end.offset));
        cut.map_err(|error| ArchiveError::of_file(&path, &error))
    }
}
