//! Whether the store takes writes.
//!
//! Some failures are final: nobody knows any more what the disk has, or what our own code was in the middle of. Then
//! writes are refused until a restart, which reads back what is on the disk; reads go on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::storage::StoreError;

/// Why the store takes no writes, if so.
#[derive(Debug, Default)]
pub struct Health {
    is_closed: AtomicBool,
    failure: OnceLock<String>,
}

impl Health {
    /// From now on writes are refused: the store is closing.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }

    /// From now on writes are refused, until a restart. The first reason counts.
    pub fn fail(&self, why: &str) {
        if self.failure.set(why.to_owned()).is_ok() {
            tracing::error!(
                "{why}; writes are refused until a restart, which reads back what is on the disk"
            );
        }
    }

    /// Runs what changes the store. A panic is a bug of ours, and leaves nobody knows what half done: writes are refused
    /// from then on.
    pub fn guard_change<T>(&self, run: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
            let panic = text_of(&*panic);
            let why = format!("a bug of thriftstore's own has stopped the store (a panic: {panic})");
            self.fail(&why);
            Err(StoreError::ReadOnly(format!("{why}; please report it, and restart the server")))
        })
    }

    /// Why writes are refused until a restart.
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Refuses after a failure that is final.
    pub fn check_failure(&self) -> Result<(), StoreError> {
        let Some(why) = self.failure() else { return Ok(()) };
        Err(StoreError::ReadOnly(format!("{why}; nothing more is accepted until a restart")))
    }

    /// Refuses when writes are not taken.
    pub fn check(&self) -> Result<(), StoreError> {
        self.check_failure()?;
        if self.is_closed() {
            return Err(StoreError::ReadOnly("the store is closed".to_owned()));
        }
        Ok(())
    }
}

/// Runs what changes nothing, such as a read. A panic is a bug of ours, but the store goes on.
pub fn guard_read<T>(run: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let why = format!("a bug of thriftstore's own (a panic: {})", text_of(&*panic));
        tracing::error!("{why}; please report it");
        Err(StoreError::Io(why))
    })
}

/// What a panic says.
pub fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_counts_and_outlives_the_close() {
        let health = Health::default();
        assert!(health.check().is_ok());
        let told = health.guard_change::<()>(|| panic!("the row is odd")).unwrap_err();
        assert!(
            matches!(&told, StoreError::ReadOnly(text) if text.contains("bug of thriftstore's own")),
            "{told}"
        );
        health.fail("the disk has failed");
        health.close();
        let text = health.check().unwrap_err().to_string();
        assert!(text.contains("a panic: the row is odd") && text.contains("until a restart"), "{text}");
    }
}
