//! Whether the store accepts writes.
//!
//! After some failures it is unknown what is on the disk, or a panic has interrupted a change. Then writes are refused
//! until a restart, which reads the state from the disk. Reads continue.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use store::{Result, StoreError};

/// Whether writes are refused, and why.
#[derive(Debug, Default)]
pub(crate) struct Health {
    is_closed: AtomicBool,
    failure: OnceLock<String>,
}

impl Health {
    /// Refuses all later writes because the store is closing.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// Refuses all later writes until a restart. The first reason is kept.
    pub(crate) fn fail(&self, why: &str) {
        if self.failure.set(why.to_owned()).is_ok() {
            tracing::error!(
                "{why}; writes are refused until a restart, which reads back what is on the disk"
            );
        }
    }

    /// Runs a change of the store. A panic in it is a bug of this program and may leave the change incomplete, so later
    /// writes are refused.
    pub(crate) fn guard_change<T>(&self, run: impl FnOnce() -> Result<T>) -> Result<T> {
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            let panic = text_of(&*panic);
            let why = format!("a bug in thriftstore has stopped writes (a panic: {panic})");
            self.fail(&why);
            Err(StoreError::ReadOnly(format!("{why}; please report it, and restart the server")))
        })
    }

    /// Returns why writes are refused until a restart.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Fails if writes are refused until a restart.
    pub(crate) fn check_failure(&self) -> Result<()> {
        let Some(why) = self.failure() else { return Ok(()) };
        Err(StoreError::ReadOnly(format!("{why}; writes are refused until a restart")))
    }

    /// Fails if writes are refused: after a failure, or because the store is closed.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_failure()?;
        if self.is_closed() {
            return Err(StoreError::ReadOnly("the store is closed".to_owned()));
        }
        Ok(())
    }
}

/// Runs a read. A panic in it is a bug of this program, but leaves nothing incomplete, so the store continues.
pub(crate) fn guard_read<T>(run: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let why = format!("a bug in thriftstore (a panic: {})", text_of(&*panic));
        tracing::error!("{why}; please report it");
        Err(StoreError::Io(why))
    })
}

/// Returns the message of a panic.
pub(crate) fn text_of(panic: &dyn Any) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_is_reported_even_after_closing() {
        let health = Health::default();
        assert!(health.check().is_ok());
        let refusal = health.guard_change::<()>(|| panic!("the row is odd")).unwrap_err();
        assert!(
            matches!(&refusal, StoreError::ReadOnly(text) if text.contains("bug in thriftstore")),
            "{refusal}"
        );
        health.fail("the disk has failed");
        health.close();
        let text = health.check().unwrap_err().to_string();
        assert!(text.contains("a panic: the row is odd") && text.contains("until a restart"), "{text}");
    }
}
