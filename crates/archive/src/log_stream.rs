//! The log of a store on its way to the archive: the moments that were seen, and the next part.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use embedded::{ArchiveSource, LogPlace, ManifestChange};

use crate::Result;
use crate::log_part::{LogPart, LogPartHeader, Moment};
use crate::time::now_us;

/// Bytes of a part that is sent without waiting.
const PART_BYTES: u64 = 1 << 20;
/// Largest number of bytes of the log, and of manifests, in a part. Parts become longer when the archive is behind, so
/// that it needs fewer requests.
const LARGE_PART_BYTES: u64 = 8 << 20;
/// Moments that are remembered. If the object storage is away for long, every second one is dropped.
const MOMENTS_MAX: usize = 20_000;
/// Segments whose first part is remembered.
const SEGMENTS_MAX: usize = 1_000;

/// The part of the log that is in the archive.
#[derive(Debug, Clone, Default)]
pub(crate) struct Uploaded {
    /// The log before this place is in the archive.
    pub place: LogPlace,
    /// So are the first changes of the manifest.
    pub changes: u64,
    /// The number of the next part.
    pub next_part: u64,
    /// The part with the beginning of each segment.
    pub part_of_segment: BTreeMap<u64, u64>,
    /// Bytes of the log that were uploaded in this run.
    pub bytes: u64,
}

/// A part that is ready to be sent.
pub(crate) struct ReadyPart {
    pub number: u64,
    pub object: Vec<u8>,
    begin: LogPlace,
    next: LogPlace,
    log_bytes: u64,
    /// The number of changes of the manifest in this part and those before.
    changes: u64,
}

/// The log of a run.
pub(crate) struct LogStream {
    source: Arc<dyn ArchiveSource>,
    uploaded: Uploaded,
    moments: VecDeque<Moment>,
    changes: VecDeque<ManifestChange>,
    /// The last moment that was seen.
    last: Option<Moment>,
    /// When the first of the writes was seen that are not uploaded.
    unsent_since: Option<Instant>,
}

impl LogStream {
    pub(crate) fn new(source: Arc<dyn ArchiveSource>, begin: LogPlace) -> LogStream {
        LogStream {
            source,
            uploaded: Uploaded { place: begin, next_part: 1, ..Uploaded::default() },
            moments: VecDeque::new(),
            changes: VecDeque::new(),
            last: None,
            unsent_since: None,
        }
    }

    pub(crate) fn uploaded(&self) -> &Uploaded {
        &self.uploaded
    }

    /// Notes the current state of the store as a moment that can be restored. Returns the bytes that are not uploaded.
    /// `None` if the manifest has changed too often, so that the archive must begin anew.
    pub(crate) fn look(&mut self) -> Option<u64> {
        let point = self.source.now();
        // Behind the point, so every write that began later is not in this moment.
        let at_us = now_us().max(self.last.map_or(0, |last| last.at_us));
        self.changes.extend(self.source.take_changes()?);
        if self.last.is_none_or(|last| last.point != point) {
            let moment = Moment { at_us, point };
            self.last = Some(moment);
            self.moments.push_back(moment);
            self.unsent_since.get_or_insert_with(Instant::now);
            if self.moments.len() > MOMENTS_MAX {
                let mut is_kept = false;
                self.moments.retain(|_| {
                    is_kept = !is_kept;
                    is_kept
                });
            }
        }
        let bytes = self.source.log_bytes(self.uploaded.place, point.place);
        let oldest = self.unsent_since.and_then(|_| u64::try_from(self.moments.front()?.at_us / 1000).ok());
        self.source.meter().set_lag(bytes, oldest);
        Some(bytes)
    }

    /// Returns the bytes of the log that exist for the archive only: the store has them in tables.
    pub(crate) fn kept_bytes(&self) -> u64 {
        let needed = LogPlace { segment: self.source.needed_segment(), offset: 0 };
        let from = self.uploaded.place;
        if from < needed { self.source.log_bytes(from, needed) } else { 0 }
    }

    /// Returns whether the next part should be sent now.
    pub(crate) fn is_due(&self, unsent_bytes: u64, part_every: Duration) -> bool {
        unsent_bytes >= PART_BYTES || self.unsent_since.is_some_and(|since| since.elapsed() >= part_every)
    }

    /// Returns whether all moments that were seen are in the archive.
    pub(crate) fn is_sent(&self) -> bool {
        self.moments.is_empty() && self.changes.is_empty()
    }

    /// Returns the next part. It must be sent before the one after it is made.
    pub(crate) fn next_part(&mut self, unsent_bytes: u64) -> Result<ReadyPart> {
        let most = if unsent_bytes > PART_BYTES { LARGE_PART_BYTES } else { PART_BYTES };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let mut read = self.source.read_log(self.uploaded.place, most)?;
        while read.bytes.is_empty() && read.next != read.begin {
            read = self.source.read_log(read.next, most)?;
        }
        let first_change = self.uploaded.changes + 1;
        let mut manifests = Vec::new();
        let mut manifest_bytes = 0;
        while manifest_bytes < LARGE_PART_BYTES
            && let Some(change) = self.changes.pop_front()
        {
            assert!(
                change.number == first_change + manifests.len() as u64,
                "a change of the manifest would be lost"
            );
            let manifest = change.manifest()?;
            manifest_bytes += manifest.len() as u64;
            manifests.push(manifest);
        }
        let changes = self.uploaded.changes + manifests.len() as u64;
        let mut moments = Vec::new();
        while let Some(moment) = self.moments.front()
            && moment.point.place <= read.next
            && moment.point.changes <= changes
        {
            moments.push(*moment);
            self.moments.pop_front();
        }
        let header = LogPartHeader {
            number: self.uploaded.next_part,
            begin: read.begin,
            bytes: read.bytes.len() as u64,
            next: read.next,
            moments,
            first_change,
            changes: manifests.iter().map(|manifest| manifest.len() as u64).collect(),
        };
        let (number, log_bytes) = (header.number, header.bytes);
        let object = LogPart { header, log: read.bytes, manifests }.encode()?;
        Ok(ReadyPart { number, object, begin: read.begin, next: read.next, log_bytes, changes })
    }

    /// Records that a part is in the archive.
    pub(crate) fn sent(&mut self, part: &ReadyPart) {
        let uploaded = &mut self.uploaded;
        if part.begin.offset == 0 {
            uploaded.part_of_segment.insert(part.begin.segment, part.number);
            if uploaded.part_of_segment.len() > SEGMENTS_MAX {
                uploaded.part_of_segment.pop_first();
            }
        }
        uploaded.place = part.next;
        uploaded.changes = part.changes;
        uploaded.next_part = part.number + 1;
        uploaded.bytes += part.log_bytes;
        self.source.release_log(part.next.segment);
        self.unsent_since = (!self.is_sent()).then(Instant::now);
    }
}
