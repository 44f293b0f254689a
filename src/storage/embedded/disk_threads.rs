//! Threads for work that may wait for the disk.
//!
//! The threads that serve connections never wait for the disk: a few of them serve many clients. What needs the disk is
//! given to one of these threads, and the connection's task waits for the answer. They are few and stay, so that the
//! memory that they have allocated is used again; each is started when there is work and no other is idle.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use tokio::sync::oneshot;

use super::blocking::MayWait;
use super::health::Health;
use crate::storage::StoreError;

/// Threads at most, and at least: as many reads of the disk at the same time, each of which may hold a value of the
/// largest size.
const THREADS: std::ops::RangeInclusive<usize> = 4..=16;
/// Threads for each processor: some of them wait.
const FOR_EACH_PROCESSOR: usize = 2;

/// Work for one of the threads.
type Job = Box<dyn FnOnce(&MayWait) + Send>;

/// What waits to be done, and by how many.
#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    threads: usize,
    idle: usize,
    is_closed: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    has_jobs: Condvar,
}

/// The threads.
pub struct DiskThreads {
    shared: Arc<Shared>,
    health: Arc<Health>,
    threads_max: usize,
}

impl DiskThreads {
    pub fn new(health: Arc<Health>) -> DiskThreads {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads_max = (processors * FOR_EACH_PROCESSOR).clamp(*THREADS.start(), *THREADS.end());
        DiskThreads { shared: Arc::default(), health, threads_max }
    }

    /// Runs work on one of the threads and returns what it returns.
    ///
    /// # Errors
    /// Those of the work. A panic of it is one, too.
    pub async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&MayWait) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, answer) = oneshot::channel();
        let health = self.health.clone();
        self.start(Box::new(move |may_wait| {
            let outcome = catch_unwind(AssertUnwindSafe(|| work(may_wait)));
            let outcome = outcome.unwrap_or_else(|panic| Err(health.panicked(&*panic)));
            // A client that has gone away needs no answer.
            let _ = sender.send(outcome);
        }))?;
        answer.await.unwrap_or_else(|_| Err(StoreError::ReadOnly("the store is closed".to_owned())))
    }

    fn start(&self, job: Job) -> Result<(), StoreError> {
        let mut queue = self.shared.queue.lock();
        if queue.idle < queue.jobs.len() + 1 && queue.threads < self.threads_max {
            let shared = self.shared.clone();
            let spawned = std::thread::Builder::new().name("disk".to_owned()).spawn(move || serve(&shared));
            match spawned {
                Ok(_) => queue.threads += 1,
                Err(error) if queue.threads == 0 => {
                    return Err(StoreError::Io(format!("cannot start a disk thread: {error}")));
                }
                Err(_) => {}
            }
        }
        queue.jobs.push_back(job);
        drop(queue);
        self.shared.has_jobs.notify_one();
        Ok(())
    }
}

impl Drop for DiskThreads {
    fn drop(&mut self) {
        self.shared.queue.lock().is_closed = true;
        self.shared.has_jobs.notify_all();
    }
}

/// A thread: works until there is nothing left after the end.
fn serve(shared: &Shared) {
    let may_wait = MayWait::on_own_thread();
    let mut queue = shared.queue.lock();
    loop {
        if let Some(job) = queue.jobs.pop_front() {
            drop(queue);
            job(&may_wait);
            queue = shared.queue.lock();
        } else if queue.is_closed {
            return;
        } else {
            queue.idle += 1;
            shared.has_jobs.wait(&mut queue);
            queue.idle -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait<T>(future: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
    }

    #[test]
    fn work_is_done_elsewhere_and_a_panic_is_an_error() {
        let threads = DiskThreads::new(Arc::default());
        let here = std::thread::current().id();
        let elsewhere = wait(threads.run(move |_| Ok(std::thread::current().id() != here))).unwrap();
        assert!(elsewhere);
        let error = wait(threads.run::<()>(|_| panic!("seven"))).unwrap_err();
        assert!(error.to_string().contains("seven"), "{error}");
        let many = (0..100).map(|number| threads.run(move |_| Ok(number)));
        let sum: u32 = wait(async {
            let mut sum = 0;
            for one in many {
                sum += one.await.unwrap();
            }
            sum
        });
        assert_eq!(sum, 4950);
        assert!(threads.shared.queue.lock().threads <= 2);
    }
}
