//! Requests to the object storage of an archive, which are repeated if they fail.

use std::fs::File;
use std::future::Future;
use std::io::{Read, Write};
use std::path::Path as FilePath;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bytes::Bytes;
use embedded::ArchiveSource;
use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::path::Path;
use object_store::{
    Error, ObjectMeta, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, WriteMultipart,
};
use xxhash_rust::xxh3::Xxh3;

use crate::names::TableObject;
use crate::{ArchiveError, ArchiveLocation, Result};

/// Pauses before a failed request is repeated. Each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);
/// The time that a request may take. One has at most `PIECE_BYTES`, or the parts of the log that a backlog needs.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(120);
/// Attempts of a reader. A server repeats its requests until it stops.
const READER_ATTEMPTS: u32 = 6;
/// Bytes of a table that are read and sent at a time.
const PIECE_BYTES: u64 = 8 << 20;
/// Pieces of a table that are sent at the same time.
const PIECES_AT_ONCE: usize = 2;
/// Most pieces of a table: object storage accepts 10,000.
const PIECES_MAX: u64 = 9_000;
/// Largest object that is read into memory.
const READ_BYTES_MAX: u64 = 2 << 30;

/// The object storage of an archive.
pub(crate) struct Bucket {
    location: ArchiveLocation,
    /// The store that is archived; `None` for a reader, whose requests are repeated a few times only.
    source: Option<Arc<dyn ArchiveSource>>,
    /// Whether the last request failed.
    is_failing: AtomicBool,
}

/// Whether an object that does not exist is a result, or a reason to try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IfMissing {
    Fail,
    Repeat,
}

impl Bucket {
    /// Returns the object storage for the server that archives `source`.
    pub(crate) fn for_server(location: ArchiveLocation, source: Arc<dyn ArchiveSource>) -> Bucket {
        Bucket { location, source: Some(source), is_failing: AtomicBool::new(false) }
    }

    /// Returns the object storage for a reader.
    pub(crate) fn for_reader(location: ArchiveLocation) -> Bucket {
        Bucket { location, source: None, is_failing: AtomicBool::new(false) }
    }

    /// Returns the address of the archive.
    pub(crate) fn shown(&self) -> &str {
        &self.location.shown
    }

    /// Returns the address of an object, for messages.
    pub(crate) fn object(&self, path: &Path) -> String {
        format!("{}/{path}", self.location.shown)
    }

    fn store(&self) -> &dyn ObjectStore {
        &*self.location.store
    }

    /// Stores an object. It may be stored twice, with the same contents.
    pub(crate) async fn put(&self, path: &Path, object: Bytes) -> Result<()> {
        let put = || self.store().put(path, PutPayload::from_bytes(object.clone()));
        self.repeated(path, IfMissing::Repeat, put).await?;
        self.count(object.len() as u64);
        Ok(())
    }

    /// Creates an object. Returns `false` if it exists.
    pub(crate) async fn create(&self, path: &Path, object: Bytes) -> Result<bool> {
        let options = || PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let put = || async {
            match self.store().put_opts(path, PutPayload::from_bytes(object.clone()), options()).await {
                Ok(_) => Ok(true),
                Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
                Err(error) => Err(error),
            }
        };
        self.repeated(path, IfMissing::Repeat, put).await
    }

    /// Reads an object. `None` if it does not exist.
    pub(crate) async fn get(&self, path: &Path) -> Result<Option<Bytes>> {
        let get = || async {
            let found = self.store().get(path).await?;
            if found.meta.size > READ_BYTES_MAX {
                let source = format!("it has {} bytes", found.meta.size).into();
                return Err(Error::NotSupported { source });
            }
            found.bytes().await
        };
        found(self.repeated(path, IfMissing::Fail, get).await)
    }

    /// Returns the size of an object. `None` if it does not exist.
    pub(crate) async fn size(&self, path: &Path) -> Result<Option<u64>> {
        let head = || async { Ok(self.store().head(path).await?.size) };
        found(self.repeated(path, IfMissing::Fail, head).await)
    }

    /// Calls `each` with all objects in a directory whose names come after `after`, in any order. After a failure it may be
    /// called again for the same object.
    pub(crate) async fn list(
        &self,
        folder: &Path,
        after: Option<&Path>,
        mut each: impl FnMut(ObjectMeta),
    ) -> Result<()> {
        let mut attempts = Attempts::new(self);
        loop {
            let mut objects = match after {
                Some(after) => self.store().list_with_offset(Some(folder), after),
                None => self.store().list(Some(folder)),
            };
            let error = loop {
                match objects.try_next().await {
                    Ok(Some(meta)) => each(meta),
                    Ok(None) => {
                        attempts.succeeded();
                        return Ok(());
                    }
                    Err(error) => break error,
                }
            };
            attempts.failed(ArchiveError::of_request(&self.object(folder), &error)).await?;
        }
    }

    /// Returns the names of the directories in a directory, sorted.
    pub(crate) async fn folders(&self, folder: &Path) -> Result<Vec<String>> {
        let list = || self.store().list_with_delimiter(Some(folder));
        let listed = self.repeated(folder, IfMissing::Repeat, list).await?;
        let names = listed.common_prefixes.iter().filter_map(|path| path.filename().map(str::to_owned));
        let mut names: Vec<String> = names.collect();
        names.sort_unstable();
        Ok(names)
    }

    /// Removes objects. An object that does not exist is not an error.
    pub(crate) async fn remove(&self, paths: Vec<Path>) -> Result<()> {
        let paths = stream::iter(paths.into_iter().map(Ok)).boxed();
        let mut removed = self.store().delete_stream(paths);
        while let Some(outcome) = removed.next().await {
            match outcome {
                Ok(_) | Err(Error::NotFound { .. }) => {}
                Err(error) => return Err(ArchiveError::of_request(&self.location.shown, &error)),
            }
        }
        Ok(())
    }

    /// Uploads a table. `bytes_per_s` limits the rate.
    ///
    /// # Errors
    /// `Damaged` if the file does not have the checksum in its name.
    pub(crate) async fn put_table(
        &self,
        table: TableObject,
        file: &FilePath,
        bytes_per_s: Option<u64>,
    ) -> Result<()> {
        let mut attempts = Attempts::new(self);
        loop {
            match self.put_table_once(table, file, bytes_per_s).await {
                Ok(()) => {
                    attempts.succeeded();
                    self.count(table.bytes);
                    return Ok(());
                }
                Err(error @ ArchiveError::Storage(_)) => attempts.failed(error).await?,
                Err(error) => return Err(error),
            }
        }
    }

    async fn put_table_once(
        &self,
        table: TableObject,
        path: &FilePath,
        bytes_per_s: Option<u64>,
    ) -> Result<()> {
        let object = table.path();
        let failed = |error: Error| ArchiveError::of_request(&self.object(&object), &error);
        let mut file = TableUpload::open(path, table)?;
        let began = Instant::now();
        let pause = |read: u64| {
            let due = bytes_per_s.map(|rate| Duration::from_secs_f64(read as f64 / rate.max(1) as f64));
            tokio::time::sleep(due.unwrap_or_default().saturating_sub(began.elapsed()))
        };
        if table.bytes <= PIECE_BYTES {
            let piece = file.next_piece(PIECE_BYTES)?.unwrap_or_default();
            file.check_end()?;
            self.store().put(&object, PutPayload::from_bytes(piece)).await.map_err(failed)?;
            pause(file.read).await;
            return Ok(());
        }
        let upload = self.store().put_multipart(&object).await.map_err(failed)?;
        let piece_bytes = PIECE_BYTES.max(table.bytes / PIECES_MAX);
        let chunk = usize::try_from(piece_bytes).unwrap_or(usize::MAX);
        let mut upload = WriteMultipart::new_with_chunk_size(upload, chunk);
        let sent = async {
            while let Some(piece) = file.next_piece(piece_bytes)? {
                upload.wait_for_capacity(PIECES_AT_ONCE).await.map_err(failed)?;
                upload.put(piece);
                pause(file.read).await;
            }
            file.check_end()
        };
        if let Err(error) = sent.await {
            // If this fails, too, a rule of the bucket for unfinished uploads removes the pieces.
            let _ = upload.abort().await;
            return Err(error);
        }
        upload.finish().await.map_err(failed)?;
        Ok(())
    }

    /// Reads a table, compares its checksum, and writes it to a file if one is given.
    ///
    /// # Errors
    /// `Missing` or `Damaged`.
    pub(crate) async fn get_table(&self, table: TableObject, file: Option<&FilePath>) -> Result<()> {
        let mut attempts = Attempts::new(self);
        loop {
            match self.get_table_once(table, file).await {
                Err(error @ ArchiveError::Storage(_)) => attempts.failed(error).await?,
                outcome => return outcome,
            }
        }
    }

    async fn get_table_once(&self, table: TableObject, path: Option<&FilePath>) -> Result<()> {
        let object = table.path();
        let name = self.object(&object);
        let failed = |error: Error| ArchiveError::of_request(&name, &error);
        let of_file =
            |error: std::io::Error| ArchiveError::of_file(path.unwrap_or(FilePath::new("")), &error);
        let mut file = path.map(File::create).transpose().map_err(of_file)?;
        let mut pieces = self.store().get(&object).await.map_err(failed)?.into_stream();
        let (mut sum, mut bytes) = (Xxh3::new(), 0);
        while let Some(piece) = pieces.try_next().await.map_err(failed)? {
            sum.update(&piece);
            bytes += piece.len() as u64;
            if let Some(file) = &mut file {
                file.write_all(&piece).map_err(of_file)?;
            }
        }
        if bytes != table.bytes {
            return Err(ArchiveError::damaged(&name, format!("it has {bytes} bytes")));
        }
        if sum.digest128() != table.checksum {
            return Err(ArchiveError::damaged(&name, "its contents do not have the checksum in its name"));
        }
        Ok(())
    }

    /// Makes a request, and repeats it while it fails.
    async fn repeated<T, F: Future<Output = Result<T, Error>>>(
        &self,
        path: &Path,
        if_missing: IfMissing,
        request: impl Fn() -> F,
    ) -> Result<T> {
        let mut attempts = Attempts::new(self);
        loop {
            let object = self.object(path);
            let error = match tokio::time::timeout(REQUEST_TIMEOUT, request()).await {
                Ok(Ok(reply)) => {
                    attempts.succeeded();
                    return Ok(reply);
                }
                Ok(Err(error @ Error::NotFound { .. })) if if_missing == IfMissing::Fail => {
                    attempts.succeeded();
                    return Err(ArchiveError::of_request(&object, &error));
                }
                Ok(Err(error)) => ArchiveError::of_request(&object, &error),
                Err(_) => ArchiveError::Storage(format!(
                    "{object}: no reply within {} s",
                    REQUEST_TIMEOUT.as_secs()
                )),
            };
            attempts.failed(error).await?;
        }
    }

    fn count(&self, bytes: u64) {
        if let Some(source) = &self.source {
            source.meter().add_uploaded(bytes);
        }
    }
}

/// Makes an object that does not exist a result.
fn found<T>(outcome: Result<T>) -> Result<Option<T>> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(ArchiveError::Missing(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The attempts to make one request.
struct Attempts<'a> {
    bucket: &'a Bucket,
    failures: u32,
    pause: Duration,
}

impl<'a> Attempts<'a> {
    fn new(bucket: &'a Bucket) -> Attempts<'a> {
        Attempts { bucket, failures: 0, pause: FIRST_PAUSE }
    }

    /// Waits before the next attempt. The first failure is logged.
    ///
    /// # Errors
    /// The error, if a reader has tried often enough.
    async fn failed(&mut self, error: ArchiveError) -> Result<()> {
        self.failures += 1;
        match &self.bucket.source {
            None if self.failures == READER_ATTEMPTS => return Err(error),
            None => {}
            Some(source) => {
                source.meter().failures.increase();
                if !self.bucket.is_failing.swap(true, Ordering::Relaxed) {
                    tracing::warn!(
                        "a request to the archive failed and is repeated until it succeeds: {error}"
                    );
                }
            }
        }
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        Ok(())
    }

    fn succeeded(&self) {
        if self.bucket.is_failing.swap(false, Ordering::Relaxed) {
            tracing::info!("requests to the archive succeed again");
        }
    }
}

/// A table that is being uploaded.
struct TableUpload<'a> {
    path: &'a FilePath,
    table: TableObject,
    file: File,
    sum: Xxh3,
    read: u64,
}

impl<'a> TableUpload<'a> {
    fn open(path: &'a FilePath, table: TableObject) -> Result<TableUpload<'a>> {
        let file = File::open(path).map_err(|error| ArchiveError::of_file(path, &error))?;
        Ok(TableUpload { path, table, file, sum: Xxh3::new(), read: 0 })
    }

    /// Reads the next bytes. `None` at the end.
    fn next_piece(&mut self, most: u64) -> Result<Option<Bytes>> {
        let mut piece = Vec::new();
        let read = (&mut self.file).take(most).read_to_end(&mut piece);
        let read = read.map_err(|error| ArchiveError::of_file(self.path, &error))?;
        self.sum.update(&piece);
        self.read += read as u64;
        Ok((read > 0).then(|| Bytes::from(piece)))
    }

    fn check_end(&self) -> Result<()> {
        if (self.sum.digest128(), self.read) == (self.table.checksum, self.table.bytes) {
            return Ok(());
        }
        let why = "its contents do not have their checksum, so it is not uploaded";
        Err(ArchiveError::damaged(&self.path.display().to_string(), why))
    }
}
