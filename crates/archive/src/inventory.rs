//! The contents of an archive: its lines, their runs, and the full backups in them.

use std::collections::BTreeSet;

use object_store::path::Path;

use crate::bucket::Bucket;
use crate::full_backup::FullBackup;
use crate::log_part::{LogPart, Moment};
use crate::names::{LINES, RunName, RunObject, number_in};
use crate::run::{RunBegin, RunReason};
use crate::{ArchiveError, ArchiveLocation, Result};

/// A line of an archive: the history of one data directory.
#[derive(Debug, Clone)]
pub struct LineSummary {
    /// Its name, which begins with the time of its first run.
    pub name: String,
    /// The line and the run from which its data directory was restored.
    pub restored_from: Option<(String, u32)>,
    /// The runs from the oldest to the newest.
    pub runs: Vec<RunSummary>,
}

/// A run of a line: a time in which the archive followed the server without a gap. Times are in microseconds since 1970.
#[derive(Debug, Clone)]
pub struct RunSummary {
    /// The number of the run in its line.
    pub number: u32,
    /// When it began.
    pub began_us: i64,
    /// Why the archive had to begin anew. `None` if the server was started.
    pub gap: Option<String>,
    /// The number of full backups.
    pub full_backups: usize,
    /// The first and the last moment that can be restored. `None` if the run has no full backup yet.
    pub moments: Option<(i64, i64)>,
    /// The bytes of the tables of the newest full backup.
    pub table_bytes: u64,
}

/// A state of an archive to restore from.
pub(crate) struct Chosen {
    pub run: RunName,
    pub full: FullBackup,
}

/// Lists the lines of an archive, from the oldest to the newest.
///
/// # Errors
/// If the archive cannot be read, or an object is damaged.
pub async fn list(location: &ArchiveLocation) -> Result<Vec<LineSummary>> {
    let bucket = Bucket::for_reader(location.clone());
    let mut lines = Vec::new();
    for name in bucket.folders(&LINES.into()).await? {
        let mut line = LineSummary { name, restored_from: None, runs: Vec::new() };
        for run in runs_of(&bucket, &line.name).await? {
            let Some(begin) = begin_of(&bucket, &run).await? else { continue };
            if begin.restored_from.is_some() {
                line.restored_from.clone_from(&begin.restored_from);
            }
            line.runs.push(summary_of(&bucket, &run, begin).await?);
        }
        lines.push(line);
    }
    lines.sort_by_key(|line| line.runs.last().map_or(0, |run| run.began_us));
    Ok(lines)
}

async fn summary_of(bucket: &Bucket, run: &RunName, begin: RunBegin) -> Result<RunSummary> {
    let fulls = numbers_of(bucket, run, RunObject::Full).await?;
    let mut summary = RunSummary {
        number: run.run,
        began_us: begin.at_us,
        gap: begin.why.filter(|_| begin.reason == RunReason::Gap),
        full_backups: fulls.len(),
        moments: None,
        table_bytes: 0,
    };
    if let (Some(first), Some(last)) = (fulls.first(), fulls.last()) {
        let first = full_of(bucket, run, *first).await?;
        let last = full_of(bucket, run, *last).await?;
        summary.table_bytes = last.table_bytes();
        let newest = last_moment(bucket, run, last.header.first_part).await?.map_or(0, |moment| moment.at_us);
        summary.moments = Some((first.header.at_us, newest.max(last.header.at_us)));
    }
    Ok(summary)
}

/// Returns the last moment of the newest parts of a run.
async fn last_moment(bucket: &Bucket, run: &RunName, from: u64) -> Result<Option<Moment>> {
    let after = run.numbered(RunObject::Log, from.saturating_sub(1));
    let mut last = 0;
    let folder = run.numbered_folder(RunObject::Log);
    bucket
        .list(&folder, Some(&after), |meta| last = last.max(number_in(&meta.location).unwrap_or(0)))
        .await?;
    // The newest part may have no moment, if the next one has the rest of a long record.
    while last >= from {
        let path = run.numbered(RunObject::Log, last);
        if let Some(object) = bucket.get(&path).await?
            && let Some(moment) = LogPart::decode(&bucket.object(&path), &object)?.header.moments.last()
        {
            return Ok(Some(*moment));
        }
        last -= 1;
    }
    Ok(None)
}

/// Returns the runs of a line, sorted.
pub(crate) async fn runs_of(bucket: &Bucket, line: &str) -> Result<Vec<RunName>> {
    let folders = bucket.folders(&Path::from(format!("{LINES}/{line}"))).await?;
    let runs =
        folders.iter().filter_map(|run| Some(RunName { line: line.to_owned(), run: run.parse().ok()? }));
    let mut runs: Vec<RunName> = runs.collect();
    runs.sort_unstable();
    Ok(runs)
}

/// Returns the object `begin` of a run. `None` if retention is removing the run.
pub(crate) async fn begin_of(bucket: &Bucket, run: &RunName) -> Result<Option<RunBegin>> {
    let object = bucket.get(&run.begin()).await?;
    object.map(|object| RunBegin::decode(&bucket.object(&run.begin()), &object)).transpose()
}

/// Returns the numbers of the full backups or of the parts of a run, sorted.
pub(crate) async fn numbers_of(bucket: &Bucket, run: &RunName, kind: RunObject) -> Result<Vec<u64>> {
    let mut numbers = BTreeSet::new();
    bucket.list(&run.numbered_folder(kind), None, |meta| numbers.extend(number_in(&meta.location))).await?;
    Ok(numbers.into_iter().collect())
}

/// Reads a full backup.
pub(crate) async fn full_of(bucket: &Bucket, run: &RunName, number: u64) -> Result<FullBackup> {
    let path = run.numbered(RunObject::Full, number);
    let name = bucket.object(&path);
    let object = bucket.get(&path).await?.ok_or_else(|| ArchiveError::Missing(name.clone()))?;
    FullBackup::decode(&name, &object)
}

/// Chooses the newest full backup of a line that is not newer than a time in microseconds since 1970. Without a line, it is
/// the line in which a server began a run last.
///
/// # Errors
/// `Refused` if there is none.
pub(crate) async fn choose(bucket: &Bucket, line: Option<&str>, at_us: Option<i64>) -> Result<Chosen> {
    let line = match line {
        Some(line) => line.to_owned(),
        None => newest_line(bucket).await?,
    };
    let runs = runs_of(bucket, &line).await?;
    if runs.is_empty() {
        return Err(ArchiveError::Refused(format!(
            "{} has no line {line}; --list prints the lines",
            bucket.shown()
        )));
    }
    for run in runs.into_iter().rev() {
        for number in numbers_of(bucket, &run, RunObject::Full).await?.into_iter().rev() {
            let full = full_of(bucket, &run, number).await?;
            if at_us.is_none_or(|at_us| full.header.at_us <= at_us) {
                return Ok(Chosen { run, full });
            }
        }
    }
    let why = match at_us {
        Some(_) => "no full backup that is so old",
        None => "no complete full backup",
    };
    Err(ArchiveError::Refused(format!(
        "line {line} of {} has {why}; --list prints the moments of all lines, and --line LINE selects another one",
        bucket.shown()
    )))
}

/// Returns the line whose last run began last.
async fn newest_line(bucket: &Bucket) -> Result<String> {
    let mut newest = None;
    for line in bucket.folders(&LINES.into()).await? {
        let Some(run) = runs_of(bucket, &line).await?.pop() else { continue };
        if let Some(begin) = begin_of(bucket, &run).await? {
            newest = newest.max(Some((begin.at_us, line)));
        }
    }
    let none = || ArchiveError::Refused(format!("{} is not an archive, or an empty one", bucket.shown()));
    newest.map(|(_, line)| line).ok_or_else(none)
}
