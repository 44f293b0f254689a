//! Appends writes to the engine's log: one thread, for all writers that wait.
//!
//! The engine takes one batch at a time, and each costs a call of the operating system. So writers do not go
//! there themselves: they leave what they have prepared, with the locks of its rows, and the thread takes all that
//! has gathered as one batch. It tells the row cache, opens the locks, and then the writers go on. The next write
//! of a row waits for its lock and so sees this one.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use parking_lot::{Mutex, RwLock};
use tokio::sync::oneshot;

use super::engine_batch::EngineBatch;
use super::inner::Inner;
use super::locks::RowGuard;
use super::write::Prepared;
use crate::storage::StoreError;

/// Most writes that become one batch of the engine.
const GROUP_MAX: usize = 256;

/// A prepared write on its way.
struct Append {
    prepared: Prepared,
    locks: Vec<RowGuard>,
    writer: oneshot::Sender<Result<(), StoreError>>,
}

/// The thread that appends, and the way to it.
pub struct Appender {
    to_thread: RwLock<Option<Sender<Append>>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Appender {
    /// Starts the thread.
    pub fn start(inner: Arc<Inner>) -> Result<Appender, StoreError> {
        let (to_thread, from_writers) = channel();
        let thread = std::thread::Builder::new()
            .name("append".to_owned())
            .spawn(move || run(&inner, &from_writers))
            .map_err(|error| StoreError::Io(format!("cannot start the append thread: {error}")))?;
        Ok(Appender { to_thread: RwLock::new(Some(to_thread)), thread: Mutex::new(Some(thread)) })
    }

    /// Returns when the operating system has the write: from then on a killed process does not lose it.
    pub async fn append(&self, prepared: Prepared, locks: Vec<RowGuard>) -> Result<(), StoreError> {
        let (writer, told) = oneshot::channel();
        let append = Append { prepared, locks, writer };
        let is_sent = self.to_thread.read().as_ref().is_some_and(|thread| thread.send(append).is_ok());
        if !is_sent {
            return Err(StoreError::ReadOnly("the store is closed".to_owned()));
        }
        told.await.unwrap_or_else(|_| Err(StoreError::ReadOnly("the append thread has ended".to_owned())))
    }

    /// Appends what waits and ends the thread.
    pub fn stop(&self) {
        drop(self.to_thread.write().take());
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the append thread has panicked");
        }
    }
}

/// The thread. Ends when the sender is dropped and nothing waits any more.
fn run(inner: &Inner, from_writers: &Receiver<Append>) {
    while let Ok(first) = from_writers.recv() {
        let mut group = vec![first];
        group.extend(from_writers.try_iter().take(GROUP_MAX - 1));
        let mut batch = EngineBatch::default();
        for append in &mut group {
            batch.take_from(&mut append.prepared.batch);
        }
        let outcome = inner.shielded(|inner| batch.commit(&inner.database));
        for Append { prepared, locks, writer } in group {
            inner.tell_cache(prepared.rows, &outcome);
            drop(locks);
            // A writer that has gone away needs no answer.
            let _ = writer.send(outcome.clone());
        }
    }
}
