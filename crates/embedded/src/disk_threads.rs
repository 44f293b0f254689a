//! Threads for work that may wait for the disk.
//!
//! The threads that serve connections never wait for the disk, since a few of them serve many clients. Work that needs
//! the disk is given to one of these threads, and the connection's task awaits the result. They are few and never end,
//! so that memory that they have allocated is used again. A thread is started when there is work and no other thread is
//! idle.
//!
//! Long work (scans, counts, long slices) uses at most half of the threads, so that it never delays all short reads.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};
use tokio::sync::oneshot;

use super::blocking::BlockingPermit;
use super::health::guard_read;
use base::util::meter;
use base::util::meter::metered_here;
use store::{Result, StoreError};

/// Limits of the number of threads. This is also the number of concurrent reads of the disk, and each may hold a value
/// of the largest size.
const THREADS: std::ops::RangeInclusive<usize> = 4..=16;
/// Threads for each processor: more than one, since some of them wait.
const FOR_EACH_PROCESSOR: usize = 2;

/// Work for one of the threads.
type Job = Box<dyn FnOnce(&BlockingPermit) + Send>;

/// The expected duration of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Length {
    Short,
    /// It depends on the amount of data that is read.
    Long,
}

/// Jobs that wait, and the number of threads.
#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    long_jobs: VecDeque<Job>,
    /// Threads that run long jobs.
    long_running: usize,
    /// Threads that may run long jobs at the same time.
    long_running_max: usize,
    /// Whether a long job is next if there are jobs of both kinds. They alternate.
    is_long_next: bool,
    threads: usize,
    idle: usize,
    is_closed: bool,
}

impl Queue {
    /// Takes the next job that may run, and returns its length.
    fn pop(&mut self) -> Option<(Job, Length)> {
        let may_be_long = self.long_running < self.long_running_max && !self.long_jobs.is_empty();
        if may_be_long && (self.is_long_next || self.jobs.is_empty()) {
            self.is_long_next = false;
            self.long_running += 1;
            debug_assert!(
                self.long_running <= self.long_running_max,
                "long jobs would delay all short reads"
            );
            return self.long_jobs.pop_front().map(|job| (job, Length::Long));
        }
        self.is_long_next = true;
        self.jobs.pop_front().map(|job| (job, Length::Short))
    }
}

#[derive(Default)]
struct SharedJobs {
    queue: Mutex<Queue>,
    has_jobs: Condvar,
}

/// Threads that may wait for the disk.
pub(crate) struct DiskThreads {
    shared: Arc<SharedJobs>,
    threads_max: usize,
}

impl DiskThreads {
    pub(crate) fn new() -> DiskThreads {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads_max = (processors * FOR_EACH_PROCESSOR).clamp(*THREADS.start(), *THREADS.end());
        let shared: Arc<SharedJobs> = Arc::default();
        shared.queue.lock().long_running_max = threads_max / 2;
        DiskThreads { shared, threads_max }
    }

    /// Runs work on one of the threads and returns its result. The work is charged to the meter of the calling request.
    ///
    /// # Errors
    /// Fails like the work. A panic in it is an error, too.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        length: Length,
        work: impl FnOnce(&BlockingPermit) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let (sender, answer) = oneshot::channel();
        let meter = meter::current();
        let job: Job = Box::new(move |may_wait| {
            let outcome = guard_read(|| metered_here(meter, || work(may_wait)));
            // The client may have disconnected.
            let _ = sender.send(outcome);
        });
        self.start(job, length)?;
        answer.await.unwrap_or_else(|_| Err(StoreError::ReadOnly("the store is closed".to_owned())))
    }

    fn start(&self, job: Job, length: Length) -> Result<()> {
        let mut queue = self.shared.queue.lock();
        debug_assert!(queue.idle <= queue.threads, "a job would wait for a thread that does not exist");
        if queue.idle < queue.jobs.len() + queue.long_jobs.len() + 1 && queue.threads < self.threads_max {
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
        match length {
            Length::Short => queue.jobs.push_back(job),
            Length::Long => queue.long_jobs.push_back(job),
        }
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

/// A thread: runs jobs until the queue is closed and empty.
fn serve(shared: &SharedJobs) {
    let may_wait = BlockingPermit::on_own_thread();
    let mut queue = shared.queue.lock();
    loop {
        if let Some((job, length)) = queue.pop() {
            drop(queue);
            job(&may_wait);
            queue = shared.queue.lock();
            queue.long_running -= usize::from(length == Length::Long);
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
    fn work_runs_on_another_thread_and_a_panic_is_an_error() {
        let threads = DiskThreads::new();
        let here = std::thread::current().id();
        let elsewhere =
            wait(threads.run(Length::Short, move |_| Ok(std::thread::current().id() != here))).unwrap();
        assert!(elsewhere);
        let error = wait(threads.run::<()>(Length::Long, |_| panic!("seven"))).unwrap_err();
        assert!(error.to_string().contains("seven"), "{error}");
        let many = (0..100).map(|number| threads.run(Length::Short, move |_| Ok(number)));
        let sum: u32 = wait(futures_util::future::join_all(many)).into_iter().map(Result::unwrap).sum();
        assert_eq!(sum, 4950);
        assert!(threads.shared.queue.lock().threads <= threads.threads_max);
    }

    #[test]
    fn long_work_leaves_threads_for_short_work() {
        let threads = DiskThreads::new();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let ended = Arc::new(Mutex::new(ended));
        let long = |ended: Arc<Mutex<std::sync::mpsc::Receiver<()>>>| {
            threads.run(Length::Long, move |_| {
                // Waits until the test drops the sender.
                let _ = ended.lock().recv();
                Ok(())
            })
        };
        wait(async {
            let mut long: Vec<_> =
                (0..2 * threads.threads_max).map(|_| Box::pin(long(ended.clone()))).collect();
            for one in &mut long {
                assert!(futures_util::poll!(one).is_pending());
            }
            assert_eq!(threads.run(Length::Short, |_| Ok(7)).await.unwrap(), 7);
            drop(end);
            for one in long {
                one.await.unwrap();
            }
        });
        let queue = threads.shared.queue.lock();
        assert!(queue.long_jobs.is_empty() && queue.jobs.is_empty());
    }
}
