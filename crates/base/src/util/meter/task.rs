//! Access to the meter of the current task.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Instant;

use super::error::MeterError;
use super::request_meter::RequestMeter;
use super::time_limits::RequestKind;
use crate::util::limits::REQUEST_WORK_PER_TURN;

tokio::task_local! {
    static METER: Arc<RequestMeter>;
}

/// Runs a request with its meter. If this future is dropped, the request's work on other threads ends soon.
pub async fn metered<F: Future>(meter: Arc<RequestMeter>, request: F) -> F::Output {
    let abandon = AbandonOnDrop(Some(meter.clone()));
    let output = METER.scope(meter, request).await;
    abandon.defuse();
    output
}

/// Runs work on this thread with the meter of a request that waits for it on another thread.
pub fn metered_here<T>(meter: Option<Arc<RequestMeter>>, work: impl FnOnce() -> T) -> T {
    match meter {
        Some(meter) => METER.sync_scope(meter, work),
        None => work(),
    }
}

/// Returns the meter of the current request.
pub fn current() -> Option<Arc<RequestMeter>> {
    METER.try_with(Arc::clone).ok()
}

/// Counts bytes that the request holds from now on; see [`RequestMeter::charge`].
pub fn charge(bytes: usize) -> Result<(), MeterError> {
    METER.try_with(|meter| meter.charge(bytes)).unwrap_or(Ok(()))
}

/// Checks whether the request should continue; see [`RequestMeter::check`].
pub fn check() -> Result<(), MeterError> {
    METER.try_with(|meter| meter.check()).unwrap_or(Ok(()))
}

/// Counts tombstones and expired columns that a read of the request has passed.
pub fn pass_tombstones(count: u64) {
    let _ = METER.try_with(|meter| meter.pass_tombstones(count));
}

/// Returns whether the last charge failed because other requests hold the memory.
pub fn lacks_memory() -> bool {
    METER.try_with(|meter| meter.lacks_memory()).unwrap_or(false)
}

/// Waits in order for the memory that the last charge lacked; see [`RequestMeter::wait_for_memory`].
pub async fn wait_for_memory() -> Result<(), MeterError> {
    match current() {
        Some(meter) => meter.wait_for_memory().await,
        None => Ok(()),
    }
}

/// Runs work that charges memory before it allocates it. If other requests hold the memory, waits for it in order and
/// runs the work again, which must have changed nothing.
pub async fn retried<T, E: From<MeterError>>(work: impl Fn() -> Result<T, E>) -> Result<T, E> {
    let before = mark();
    loop {
        match work() {
            Err(_) if lacks_memory() => {
                before.restore();
                wait_for_memory().await?;
            }
            outcome => return outcome,
        }
    }
}

/// The memory that the request held at some time, to restore it when later reads are freed.
#[derive(Debug, Clone, Copy)]
pub struct MemoryMark {
    used: usize,
}

/// Returns a mark of the memory that the request holds now.
pub fn mark() -> MemoryMark {
    MemoryMark { used: METER.try_with(|meter| meter.used()).unwrap_or(0) }
}

impl MemoryMark {
    /// Releases all memory that was charged since the mark.
    pub fn restore(self) {
        let _ = METER.try_with(|meter| meter.set_used(self.used));
    }

    /// Releases the memory that was charged since the mark, except `bytes`.
    pub fn keep(self, bytes: usize) {
        let _ = METER.try_with(|meter| meter.set_used(self.used.saturating_add(bytes)));
    }

    /// Returns the bytes that were charged since the mark.
    pub fn since(self) -> usize {
        METER.try_with(|meter| meter.used().saturating_sub(self.used)).unwrap_or(0)
    }
}

/// Releases bytes that were charged.
pub fn release(bytes: usize) {
    let _ = METER.try_with(|meter| meter.set_used(meter.used().saturating_sub(bytes)));
}

/// Counts work on a thread that serves other tasks too. After `REQUEST_WORK_PER_TURN` it lets other tasks run, and then
/// checks whether the request should continue.
pub async fn yield_if_due(work: usize) -> Result<(), MeterError> {
    let is_due = METER.try_with(|meter| meter.worked(work, REQUEST_WORK_PER_TURN)).unwrap_or(false);
    if is_due {
        tokio::task::yield_now().await;
        return check();
    }
    Ok(())
}

/// Sets the kind of the request, as soon as it is known. Returns the deadline if the kind has a time limit.
pub fn begin(kind: RequestKind) -> Option<Deadline> {
    let ends_at = METER.try_with(|meter| meter.begin(kind)).ok().flatten()?;
    Some(Deadline { ends_at })
}

/// The deadline of the current request.
#[derive(Debug, Clone, Copy)]
pub struct Deadline {
    ends_at: Instant,
}

impl Deadline {
    /// Runs a request, or a part of it, until the deadline.
    ///
    /// # Errors
    /// `TimedOut` after the deadline: the future is dropped, and its work on other threads ends soon.
    pub async fn bound<T, E: From<MeterError>>(
        self,
        request: impl Future<Output = Result<T, E>> + Send,
    ) -> Result<T, E> {
        // Behind a pointer, the code of the request is compiled once, and not for each of the two polls below.
        let mut request: Pin<&mut (dyn Future<Output = Result<T, E>> + Send)> = pin!(request);
        // Most requests never wait, and need no timer.
        if let Poll::Ready(outcome) = futures_util::poll!(request.as_mut()) {
            return outcome;
        }
        let outcome = tokio::time::timeout_at(self.ends_at.into(), request).await;
        outcome.unwrap_or_else(|_| {
            let timed_out = METER.try_with(|meter| {
                meter.abandon();
                meter.timed_out()
            });
            Err(timed_out.unwrap_or(MeterError::TimedOut { limit_ms: 0 }).into())
        })
    }
}

/// Runs a request within the time limit of its kind.
///
/// # Errors
/// Fails like [`Deadline::bound`].
pub async fn within<T, E: From<MeterError>>(
    kind: Option<RequestKind>,
    request: impl Future<Output = Result<T, E>> + Send,
) -> Result<T, E> {
    match kind.and_then(begin) {
        Some(deadline) => deadline.bound(request).await,
        None => request.await,
    }
}

struct AbandonOnDrop(Option<Arc<RequestMeter>>);

impl AbandonOnDrop {
    fn defuse(mut self) {
        self.0 = None;
    }
}

impl Drop for AbandonOnDrop {
    fn drop(&mut self) {
        if let Some(meter) = &self.0 {
            meter.abandon();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::util::meter::{RequestLimits, TimeLimits};

    fn meter(limit_ms: u64) -> Arc<RequestMeter> {
        let limits = RequestLimits { times: TimeLimits::of_all(limit_ms), ..RequestLimits::default() };
        Arc::new(RequestMeter::new(&limits, Arc::default()))
    }

    #[tokio::test]
    async fn charges_on_other_threads_count_for_the_waiting_request() {
        let one = meter(0);
        metered(one.clone(), async {
            let mine = current();
            let work = move || metered_here(mine, || charge(100));
            tokio::task::spawn_blocking(work).await.unwrap().unwrap();
            let before = mark();
            charge(50).unwrap();
            assert_eq!(before.since(), 50);
            before.keep(30);
            release(10);
        })
        .await;
        assert_eq!(one.used(), 120);
        assert!(one.check().is_ok());
        assert!(current().is_none());
        assert_eq!(charge(usize::MAX), Ok(()), "without a request nothing is counted");
    }

    #[tokio::test]
    async fn a_request_that_is_dropped_is_abandoned() {
        let one = meter(0);
        let request = metered(one.clone(), std::future::pending::<()>());
        assert!(tokio::time::timeout(Duration::from_millis(1), request).await.is_err());
        assert_eq!(one.check(), Err(MeterError::ClientGone));
    }

    #[tokio::test]
    async fn a_request_that_waits_too_long_times_out() {
        let one = meter(20);
        let forever = std::future::pending::<Result<(), MeterError>>();
        let ended = metered(one.clone(), within(Some(RequestKind::Range), forever)).await;
        assert_eq!(ended, Err(MeterError::TimedOut { limit_ms: 20 }));
        assert!(one.check().is_err(), "its work on other threads ends too");
        let ended =
            metered(meter(0), within(Some(RequestKind::Range), async { Ok::<_, MeterError>(7) })).await;
        assert_eq!(ended, Ok(7));
    }

    #[tokio::test]
    async fn long_work_yields_to_other_tasks() {
        let other = tokio::spawn(async {});
        metered(meter(0), async {
            yield_if_due(1).await.unwrap();
            assert!(!other.is_finished());
            yield_if_due(REQUEST_WORK_PER_TURN).await.unwrap();
            assert!(other.is_finished());
        })
        .await;
    }
}
