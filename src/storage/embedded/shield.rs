//! Keeps the engine's panics from taking the process with them.
//!
//! The engine panics over some kinds of damaged files: a property that is missing in a table, say, is an assertion
//! of its own. Such a panic is the damage's report, so it becomes `StoreError::Corrupt`.
//!
//! One kind cannot be caught: while it opens its keyspaces the engine holds a lock, and a panic then drops the
//! half-open database, which finds the lock poisoned, panics a second time and so aborts the process. What is known
//! to lead there is looked for beforehand, in `file_check`. (Stopping the thread in the panic hook, before anything
//! unwinds, works too, but whoever sets a hook afterwards then waits for ever.)

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::storage::StoreError;

/// Runs what may meet damaged files.
pub fn caught<T>(run: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = text_of(&*panic);
        Err(StoreError::Corrupt(format!("the storage engine gave up over its files: {text}")))
    })
}

/// What a panic says.
fn text_of(panic: &dyn Any) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error() {
        let text = |caught: Result<(), StoreError>| caught.unwrap_err().to_string();
        let levels = 8;
        assert_eq!(
            text(caught(|| panic!("{levels} levels"))),
            "corrupt data: the storage engine gave up over its files: 8 levels"
        );
        assert!(text(caught(|| panic!("levels"))).ends_with("files: levels"));
        assert_eq!(caught(|| Ok(7)).unwrap(), 7);
    }
}
