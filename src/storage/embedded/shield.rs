//! Keeps the engine's panics from taking the process with them.
//!
//! The engine panics over some kinds of damaged files: a wrong number of levels in a manifest, say, is an
//! assertion of its own. Such a panic is the damage's report, so it becomes `StoreError::Corrupt`.
//!
//! While it is running that is a `catch_unwind`. While it is opened that is not enough: a panic that unwinds there
//! drops the half-open database, which finds its locks poisoned, panics a second time and so aborts the process.
//! Therefore it is opened on a thread of its own that never unwinds: the panic hook passes the message on and keeps
//! the thread where it is, with all that it holds. That is a leak, but of a process that is about to say why it
//! cannot start.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;
use std::sync::mpsc::{Sender, channel};

use crate::storage::StoreError;

thread_local! {
    /// Where this thread's panics are told instead of unwinding.
    static TOLD_TO: RefCell<Option<Sender<String>>> = const { RefCell::new(None) };
}

/// Runs what may meet damaged files.
pub fn caught<T>(run: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| Err(gave_up(text_of(&*panic))))
}

/// What a panic says.
fn text_of(panic: &dyn Any) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}

fn gave_up(text: &str) -> StoreError {
    StoreError::Corrupt(format!("the storage engine gave up over its files: {text}"))
}

/// Runs what must not unwind, on a thread of its own.
pub fn without_unwinding<T: Send + 'static>(
    run: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    install_hook();
    let (to_us, told) = channel();
    let (panics_to_us, panicked) = channel();
    let on_thread = move || {
        TOLD_TO.set(Some(panics_to_us));
        let outcome = run();
        // Who asked is waiting for one of the two.
        let _ = to_us.send(outcome);
        TOLD_TO.take();
    };
    std::thread::Builder::new()
        .name("opening".to_owned())
        .spawn(on_thread)
        .map_err(|error| StoreError::Io(format!("cannot start a thread: {error}")))?;
    // The thread drops this sender at its end, or tells why it never comes to it.
    match panicked.recv() {
        Ok(text) => Err(gave_up(&text)),
        Err(_) => told.recv().unwrap_or_else(|_| Err(gave_up("it did not open"))),
    }
}

/// Adds ours to the process's panic hook, once.
fn install_hook() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(|| {
        let others = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| match TOLD_TO.try_with(RefCell::take) {
            Ok(Some(told_to)) => stop_here(panic, &told_to),
            _ => others(panic),
        }));
    });
}

/// Tells of a panic and never returns, so that nothing unwinds.
fn stop_here(panic: &PanicHookInfo<'_>, told_to: &Sender<String>) -> ! {
    let place = panic.location().map(|place| format!(" ({place})")).unwrap_or_default();
    let text = text_of(panic.payload());
    let _ = told_to.send(format!("{text}{place}"));
    loop {
        std::thread::park();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let caught = caught::<()>(|| panic!("too many levels")).unwrap_err().to_string();
        assert_eq!(caught, "corrupt data: the storage engine gave up over its files: too many levels");
        let opening = without_unwinding::<()>(|| panic!("{} levels", 8)).unwrap_err().to_string();
        assert!(opening.contains("over its files: 8 levels (src"), "{opening}");
        assert_eq!(without_unwinding(|| Ok(7)).unwrap(), 7);
    }
}
