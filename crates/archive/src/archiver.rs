//! The thread that archives a store: it uploads the log as it grows, and a full backup now and then.
//!
//! It has a runtime of its own, so requests of clients do not share threads with uploads. One part of the log and one
//! piece of a table are in memory at a time; what is not uploaded stays in the store's log.

use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use bytes::Bytes;
use embedded::ArchiveSource;
use futures_util::future::{BoxFuture, pending};
use store::StoreError;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::bucket::Bucket;
use crate::full_backup::FullBackupHeader;
use crate::full_upload::FullUpload;
use crate::log_stream::{LogStream, ReadyPart, Uploaded};
use crate::names::{RunName, RunObject};
use crate::retention::Retention;
use crate::run::claim;
use crate::time::now_us;
use crate::{ArchiveLocation, Result};

/// Time between two looks at the log, and so between two moments that can be restored.
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Time after a failed full backup until the next attempt.
const FULL_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// Time after a failure in the data directory until the next run.
const RUN_AGAIN_AFTER: Duration = Duration::from_secs(10);
/// Time between two removals of old parts.
const RETAIN_EVERY: Duration = Duration::from_secs(6 * 3600);

/// The options of an archive.
#[derive(Debug, Clone)]
pub struct ArchiveOptions {
    /// Where the archive is.
    pub location: ArchiveLocation,
    /// The data directory.
    pub directory: PathBuf,
    /// The time for which moments can be restored. `None` if nothing is removed.
    pub keep: Option<Duration>,
    /// Bytes of the log that are kept while the object storage is away, although the store has them in tables. With more,
    /// the archive begins anew.
    pub backlog_bytes: u64,
    /// Limits the rate at which tables are uploaded.
    pub bytes_per_s: Option<u64>,
    /// Time until new writes are uploaded, if there is less than a megabyte of them.
    pub part_every: Duration,
    /// When the next full backup begins.
    pub full_backups: FullSchedule,
}

/// When a full backup begins: a restore replays the log since the last one.
#[derive(Debug, Clone, Copy)]
pub struct FullSchedule {
    /// At this time after the last one, if anything was written.
    pub latest: Duration,
    /// Before that if the log has grown by so many bytes.
    pub log_bytes: u64,
    /// But not before this time after the last one.
    pub earliest: Duration,
}

impl Default for FullSchedule {
    fn default() -> FullSchedule {
        FullSchedule {
            latest: Duration::from_secs(6 * 3600),
            log_bytes: 256 << 20,
            earliest: Duration::from_secs(600),
        }
    }
}

/// A running archive.
pub struct Archiver {
    stop: watch::Sender<bool>,
    ended: mpsc::Receiver<()>,
}

impl Archiver {
    /// Starts to archive a store. The object storage need not be there.
    ///
    /// # Errors
    /// `Io` if the thread cannot be started.
    pub fn start(source: Arc<dyn ArchiveSource>, options: ArchiveOptions) -> Result<Archiver> {
        let failed =
            |error: std::io::Error| StoreError::Io(format!("cannot start the archive thread: {error}"));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let (stop, stopped) = watch::channel(false);
        let (end, ended) = mpsc::channel();
        let bucket = Arc::new(Bucket::for_server(options.location.clone(), source.clone()));
        let thread =
            ArchiveThread { source, bucket, options, stopped, retention: Some(Retention::default()) };
        let run = move || {
            runtime.block_on(thread.run());
            // Aborted tasks still have the store.
            drop(runtime);
            let _ = end.send(());
        };
        std::thread::Builder::new().name("archive".to_owned()).spawn(run).map_err(failed)?;
        Ok(Archiver { stop, ended })
    }

    /// Uploads the rest of the log and ends. The store may be closed, but its files must still be there. Blocks the
    /// thread for `timeout` at most. Returns whether all was uploaded.
    pub fn stop(&self, timeout: Duration) -> bool {
        let _ = self.stop.send(true);
        self.ended.recv_timeout(timeout).is_ok()
    }
}

struct ArchiveThread {
    source: Arc<dyn ArchiveSource>,
    bucket: Arc<Bucket>,
    options: ArchiveOptions,
    stopped: watch::Receiver<bool>,
    /// `None` while a full backup is uploaded.
    retention: Option<Retention>,
}

/// Why a run has ended.
enum RunEnd {
    Stopped,
    Gap(String),
}

impl ArchiveThread {
    async fn run(mut self) {
        let mut gap: Option<String> = None;
        loop {
            let claimed = tokio::select! {
                claimed = claim(&self.bucket, &self.options.directory, gap.as_deref()) => claimed,
                () = until_stopped(&mut self.stopped) => return,
            };
            let run = match claimed {
                Ok(run) => run,
                Err(error) => {
                    self.source.meter().failures.increase();
                    tracing::error!("the archive cannot begin a run, and tries again: {error}");
                    let _ = tokio::time::timeout(RUN_AGAIN_AFTER, until_stopped(&mut self.stopped)).await;
                    continue;
                }
            };
            tracing::info!("archiving to {}, line {}, run {}", self.bucket.shown(), run.line, run.run);
            let end = ActiveRun::begin(&mut self, run).follow().await;
            self.source.end();
            match end {
                RunEnd::Stopped => return,
                RunEnd::Gap(why) => {
                    self.source.meter().gaps.increase();
                    tracing::error!("the archive has a gap and begins anew with a full backup: {why}");
                    gap = Some(why);
                    tokio::time::sleep(LOOK_EVERY).await;
                }
            }
        }
    }
}

/// The end of a full backup, and of the removal of old parts after it.
struct FullEnd {
    outcome: Result<FullBackupHeader>,
    retention: Retention,
}

/// A run that is being written.
struct ActiveRun<'a> {
    thread: &'a mut ArchiveThread,
    name: RunName,
    stream: LogStream,
    uploaded: watch::Sender<Uploaded>,
    part: Option<BoxFuture<'static, (ReadyPart, Result<()>)>>,
    full: Option<JoinHandle<FullEnd>>,
    /// The number of the next full backup.
    next_full: u64,
    /// When the last full backup began, and the bytes that were uploaded before.
    last_full: Option<(Instant, u64)>,
    has_failed: bool,
    last_retention: Option<Instant>,
}

impl Drop for ActiveRun<'_> {
    fn drop(&mut self) {
        if let Some(full) = &self.full {
            full.abort();
        }
    }
}

impl<'a> ActiveRun<'a> {
    fn begin(thread: &'a mut ArchiveThread, name: RunName) -> ActiveRun<'a> {
        let stream = LogStream::new(thread.source.clone(), thread.source.begin());
        let (uploaded, _) = watch::channel(stream.uploaded().clone());
        ActiveRun {
            thread,
            name,
            stream,
            uploaded,
            part: None,
            full: None,
            next_full: 1,
            last_full: None,
            has_failed: false,
            last_retention: None,
        }
    }

    /// Follows the store until the server stops, or the archive cannot follow.
    async fn follow(&mut self) -> RunEnd {
        let mut looks = interval(LOOK_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut stopped = self.thread.stopped.clone();
        let mut is_stopping = false;
        loop {
            tokio::select! {
                _ = looks.tick() => {}
                () = until_stopped(&mut stopped), if !is_stopping => is_stopping = true,
                (part, outcome) = finished(&mut self.part) => {
                    self.part = None;
                    match outcome {
                        Ok(()) => self.sent(&part),
                        Err(error) => return RunEnd::Gap(error.to_string()),
                    }
                }
                end = joined(&mut self.full) => self.full_ended(end),
            }
            let Some(unsent) = self.stream.look() else {
                return RunEnd::Gap("the schema has changed too often while the archive was away".to_owned());
            };
            let (kept, most) = (self.stream.kept_bytes(), self.thread.options.backlog_bytes);
            if kept > most {
                let [kept, most] = [kept, most].map(|bytes| bytes as f64 / 1e6);
                return RunEnd::Gap(format!(
                    "{kept:.1} MB of the log were kept for uploads, which is more than {most:.1} MB"
                ));
            }
            let is_due = is_stopping || self.stream.is_due(unsent, self.thread.options.part_every);
            if self.part.is_none() && is_due && !self.stream.is_sent() {
                match self.stream.next_part(unsent) {
                    Ok(part) => self.part = Some(self.put(part)),
                    Err(error) => {
                        tokio::time::sleep(RUN_AGAIN_AFTER).await;
                        return RunEnd::Gap(error.to_string());
                    }
                }
            }
            if is_stopping && self.part.is_none() && self.stream.is_sent() {
                return RunEnd::Stopped;
            }
            if !is_stopping && self.full.is_none() && self.is_full_due() {
                self.begin_full();
            }
        }
    }

    fn put(&self, mut part: ReadyPart) -> BoxFuture<'static, (ReadyPart, Result<()>)> {
        let (bucket, path) = (self.thread.bucket.clone(), self.name.numbered(RunObject::Log, part.number));
        let object = Bytes::from(std::mem::take(&mut part.object));
        Box::pin(async move {
            let outcome = bucket.put(&path, object).await;
            (part, outcome)
        })
    }

    fn sent(&mut self, part: &ReadyPart) {
        self.stream.sent(part);
        self.uploaded.send_replace(self.stream.uploaded().clone());
    }

    fn is_full_due(&self) -> bool {
        let Some((began, bytes)) = self.last_full else { return true };
        let schedule = self.thread.options.full_backups;
        let (age, grown) = (began.elapsed(), self.stream.uploaded().bytes - bytes);
        if self.has_failed {
            return age >= FULL_AGAIN_AFTER.min(schedule.latest);
        }
        grown > 0 && age >= schedule.latest || grown >= schedule.log_bytes && age >= schedule.earliest
    }

    /// Begins a full backup, and the removal of old parts after it.
    fn begin_full(&mut self) {
        // A full backup of an earlier run may have been aborted with it.
        let mut retention = self.thread.retention.take().unwrap_or_default();
        let upload = FullUpload {
            bucket: self.thread.bucket.clone(),
            source: self.thread.source.clone(),
            run: self.name.clone(),
            number: self.next_full,
            bytes_per_s: self.thread.options.bytes_per_s,
            uploaded: self.uploaded.subscribe(),
        };
        self.last_full = Some((Instant::now(), self.stream.uploaded().bytes));
        self.next_full += 1;
        let keep = self
            .thread
            .options
            .keep
            .filter(|_| self.last_retention.is_none_or(|at| at.elapsed() >= RETAIN_EVERY));
        self.last_retention = keep.map(|_| Instant::now()).or(self.last_retention);
        let (bucket, source, run) = (upload.bucket.clone(), upload.source.clone(), self.name.clone());
        self.full = Some(tokio::spawn(async move {
            let outcome = upload.run().await;
            if let (Ok(_), Some(keep)) = (&outcome, keep) {
                let cutoff_us = now_us() - i64::try_from(keep.as_micros()).unwrap_or(i64::MAX);
                match retention.run(&bucket, &run, cutoff_us).await {
                    Ok(0) => {}
                    Ok(removed) => tracing::info!("{removed} old objects of the archive were removed"),
                    Err(error) => {
                        source.meter().retention_failures.increase();
                        tracing::error!("old objects of the archive were not removed: {error}");
                    }
                }
            }
            FullEnd { outcome, retention }
        }));
    }

    fn full_ended(&mut self, end: Option<FullEnd>) {
        self.full = None;
        let outcome = end.map(|end| {
            self.thread.retention = Some(end.retention);
            end.outcome
        });
        let meter = self.thread.source.meter();
        let why = match outcome {
            Some(Ok(_)) => {
                self.has_failed = false;
                meter.full_backups.increase();
                return;
            }
            Some(Err(error)) => error.to_string(),
            None => "its task has panicked".to_owned(),
        };
        self.has_failed = true;
        meter.failures.increase();
        tracing::error!("the full backup failed, and is tried again: {why}");
    }
}

/// Waits until the server stops.
async fn until_stopped(stopped: &mut watch::Receiver<bool>) {
    // Without a sender the server has ended without `stop`.
    let _ = stopped.wait_for(|is_stopped| *is_stopped).await;
}

/// Waits for a part that is being sent, for ever if there is none.
async fn finished(part: &mut Option<BoxFuture<'static, (ReadyPart, Result<()>)>>) -> (ReadyPart, Result<()>) {
    match part {
        Some(part) => part.await,
        None => pending().await,
    }
}

/// Waits for a full backup, for ever if there is none. `None` if its task has panicked.
async fn joined(full: &mut Option<JoinHandle<FullEnd>>) -> Option<FullEnd> {
    match full {
        Some(full) => full.await.ok(),
        None => pending().await,
    }
}
