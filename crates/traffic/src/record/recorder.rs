//! The thread that writes the recording.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::decoder::Decoder;
use super::queue::{PendingChunks, TapQueue, now_us};
use crate::file::PartWriter;
use crate::redact::Redactor;
use crate::{Event, EventKind, Loss, LossReason, TrafficError};
use base::util::limits::LOG_PERIOD_S;

/// The interval at which the recorder takes the bytes that have passed. A shorter time would wake a processor more
/// often, a longer one needs more memory.
const PERIOD: Duration = Duration::from_millis(10);

/// The counts of a recorder so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecorderSummary {
    /// Connections with a known protocol.
    pub connections: u64,
    /// Recorded requests.
    pub calls: u64,
    /// Recorded replies.
    pub replies: u64,
    /// Messages and bytes that could not be recorded.
    pub losses: BTreeMap<LossReason, Loss>,
    /// Bytes and number of files.
    pub bytes: u64,
    /// Files so far.
    pub parts: u32,
    /// Why recording has stopped, if it has.
    pub stopped: Option<String>,
}

impl RecorderSummary {
    fn count(&mut self, event: &Event) {
        match &event.kind {
            EventKind::Opened { .. } => self.connections += 1,
            EventKind::Request { .. } => self.calls += 1,
            EventKind::Reply { .. } => self.replies += 1,
            EventKind::Lost(loss) => self.lose(*loss),
            EventKind::Pushed { .. } | EventKind::Closed { .. } => {}
        }
    }

    fn lose(&mut self, loss: Loss) {
        let none = Loss { messages: 0, bytes: 0, why: loss.why };
        let sum = self.losses.entry(loss.why).or_insert(none);
        sum.messages += loss.messages;
        sum.bytes += loss.bytes;
    }

    /// Returns the losses as text: `behind: 3 messages and 400 bytes`. `None` if there are none.
    pub fn losses_text(&self) -> Option<String> {
        let one =
            |loss: &Loss| format!("{}: {} messages, {} bytes", loss.why.name(), loss.messages, loss.bytes);
        let all: Vec<String> = self.losses.values().map(one).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

/// A running recorder.
pub struct Recorder {
    queue: TapQueue,
    thread: JoinHandle<()>,
    summary: Arc<Mutex<RecorderSummary>>,
}

impl Recorder {
    /// Starts a thread that writes the bytes that pass the taps of `queue`, redacted if there is a `redactor`.
    pub fn start(queue: &TapQueue, writer: PartWriter, redactor: Option<Redactor>) -> io::Result<Recorder> {
        let summary = Arc::<Mutex<RecorderSummary>>::default();
        let work = RecorderThread {
            queue: queue.clone(),
            writer: Some(writer),
            decoder: Decoder::default(),
            redactor,
            summary: summary.clone(),
            logged: (Instant::now(), BTreeMap::new()),
        };
        let thread = std::thread::Builder::new().name("recorder".to_owned()).spawn(|| work.run())?;
        Ok(Recorder { queue: queue.clone(), thread, summary })
    }

    /// Returns the counts so far.
    pub fn summary(&self) -> RecorderSummary {
        self.summary.lock().clone()
    }

    /// Writes the rest and closes the file. Blocks until that is done.
    pub fn finish(self) -> RecorderSummary {
        self.queue.end();
        let ended = self.thread.join();
        let mut summary = self.summary.lock().clone();
        if ended.is_err() {
            summary.stopped.get_or_insert_with(|| "the recorder failed".to_owned());
        }
        summary
    }
}

/// The state of the thread.
struct RecorderThread {
    queue: TapQueue,
    /// `None` once writing has failed.
    writer: Option<PartWriter>,
    decoder: Decoder,
    redactor: Option<Redactor>,
    summary: Arc<Mutex<RecorderSummary>>,
    /// When losses were logged, and which.
    logged: (Instant, BTreeMap<LossReason, Loss>),
}

impl RecorderThread {
    fn run(mut self) {
        let mut pending = PendingChunks::default();
        loop {
            pending.clear();
            self.queue.take(&mut pending, PERIOD);
            self.record(&pending);
            self.log_losses();
            if pending.is_last {
                break;
            }
        }
        match self.writer.take().map(PartWriter::finish) {
            None => {}
            Some(Ok(bytes)) => self.summary.lock().bytes = bytes,
            Some(Err(error)) => self.stop(&error),
        }
    }

    fn record(&mut self, pending: &PendingChunks) {
        let mut events = Vec::new();
        for chunk in &pending.chunks {
            self.decoder.decode(chunk, &pending.bytes, &mut events);
            for event in events.drain(..) {
                self.write(event);
            }
        }
        if let Some(writer) = &mut self.writer {
            let written = writer.write_old(now_us());
            let (bytes, parts) = (writer.bytes(), writer.parts());
            let mut summary = self.summary.lock();
            (summary.bytes, summary.parts) = (bytes, parts);
            drop(summary);
            if let Err(error) = written {
                self.stop(&error);
            }
        }
    }

    fn write(&mut self, event: Event) {
        let Some(writer) = &mut self.writer else {
            let (EventKind::Request { message, .. } | EventKind::Reply { message, .. }) = &event.kind else {
                return;
            };
            let bytes = message.len() as u64;
            return self.summary.lock().lose(Loss { messages: 1, bytes, why: LossReason::Disk });
        };
        let event = match &mut self.redactor {
            Some(redactor) => redactor.redact(event),
            None => event,
        };
        let written = writer.write(&event);
        self.summary.lock().count(&event);
        if let Err(error) = written {
            self.stop(&error);
        }
    }

    /// Stops recording for good: the file ends with its last whole block.
    fn stop(&mut self, error: &TrafficError) {
        self.writer = None;
        self.summary.lock().stopped = Some(error.to_string());
        tracing::error!("recording has stopped, and traffic goes on: {error}");
    }

    /// Logs the losses since the last time, at most once in a period.
    fn log_losses(&mut self) {
        let (at, logged) = &self.logged;
        if at.elapsed() < Duration::from_secs(LOG_PERIOD_S) {
            return;
        }
        let summary = self.summary.lock().clone();
        if summary.losses != *logged
            && let Some(losses) = summary.losses_text()
        {
            tracing::warn!("not recorded so far: {losses}");
        }
        self.logged = (Instant::now(), summary.losses);
    }
}
