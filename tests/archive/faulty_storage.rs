//! An object storage whose requests fail, lose their replies, are repeated or slow, and whose lists are late.
#![allow(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use archive::object_store::path::Path;
use archive::object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt, future, stream};

use crate::support::Chance;

/// How often each fault happens, in percent of the requests.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    pub errors: usize,
    pub lost_replies: usize,
    pub repeats: usize,
    pub slow: usize,
    /// Time until a new object is in lists, in milliseconds.
    pub late_ms: u64,
}

#[derive(Debug)]
pub struct FaultyStorage {
    inner: Arc<dyn ObjectStore>,
    faults: Faults,
    /// While it is set, all requests fail.
    pub is_away: AtomicBool,
    chance: Mutex<Chance>,
    /// When each object was stored first.
    stored: Mutex<BTreeMap<Path, Instant>>,
    /// Objects that were stored again.
    pub stored_again: Mutex<Vec<Path>>,
}

impl FaultyStorage {
    pub fn new(inner: Arc<dyn ObjectStore>, faults: Faults) -> FaultyStorage {
        FaultyStorage {
            inner,
            faults,
            is_away: AtomicBool::new(false),
            chance: Mutex::new(Chance::new(Chance::seed_from("ARCHIVE_SEED"))),
            stored: Mutex::default(),
            stored_again: Mutex::default(),
        }
    }

    fn happens(&self, percent: usize) -> bool {
        self.chance.lock().unwrap().below(100) < percent
    }

    async fn before(&self) -> Result<()> {
        if self.happens(self.faults.slow) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let fails = self.is_away.load(Ordering::SeqCst) || self.happens(self.faults.errors);
        if fails { Err(error("refused")) } else { Ok(()) }
    }

    fn after<T>(&self, outcome: Result<T>) -> Result<T> {
        if self.happens(self.faults.lost_replies) { Err(error("no reply")) } else { outcome }
    }

    fn is_listed(&self, meta: &ObjectMeta) -> bool {
        let stored = self.stored.lock().unwrap();
        stored.get(&meta.location).is_none_or(|at| at.elapsed() > Duration::from_millis(self.faults.late_ms))
    }
}

fn error(why: &str) -> Error {
    Error::Generic { store: "faulty", source: why.into() }
}

impl fmt::Display for FaultyStorage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "faulty")
    }
}

#[async_trait::async_trait]
impl ObjectStore for FaultyStorage {
    async fn put_opts(&self, location: &Path, payload: PutPayload, opts: PutOptions) -> Result<PutResult> {
        self.before().await?;
        if self.happens(self.faults.repeats) {
            self.inner.put_opts(location, payload.clone(), opts.clone()).await?;
        }
        let outcome = self.inner.put_opts(location, payload, opts).await;
        if self.stored.lock().unwrap().insert(location.clone(), Instant::now()).is_some() {
            self.stored_again.lock().unwrap().push(location.clone());
        }
        self.after(outcome)
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        opts: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.before().await?;
        self.inner.put_multipart_opts(location, opts).await
    }

    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        self.before().await?;
        self.inner.get_opts(location, options).await
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<bytes::Bytes>> {
        self.inner.get_ranges(location, ranges).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        if self.is_away.load(Ordering::SeqCst) || self.happens(self.faults.errors) {
            return stream::once(future::ready(Err(error("refused")))).boxed();
        }
        // A storage in memory answers at once.
        let listed: Vec<_> = self.inner.list(prefix).collect().now_or_never().unwrap();
        let listed: Vec<_> =
            listed.into_iter().filter(|meta| meta.as_ref().is_ok_and(|meta| self.is_listed(meta))).collect();
        stream::iter(listed).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.before().await?;
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
