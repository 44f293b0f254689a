//! The clock of a test's server.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::control::Control;
use base::util::ClockChange;

/// The clock of a server: times to live, tombstones, `now()` and the server's timestamps follow it. Time limits of
/// sockets do not.
#[derive(Clone, Copy)]
pub struct TestClock<'a> {
    pub(super) control: &'a Control,
}

impl TestClock<'_> {
    /// Returns the time in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.control.database().clock().now_ms()
    }

    /// Stops the clock.
    pub fn freeze(&self) {
        self.change(ClockChange::Freeze);
    }

    /// Lets a stopped clock run on from its time.
    pub fn unfreeze(&self) {
        self.change(ClockChange::Unfreeze);
    }

    /// Sets the time. A stopped clock stays stopped.
    pub fn set(&self, time: SystemTime) {
        let ms = match time.duration_since(UNIX_EPOCH) {
            Ok(after) => ms_of(after),
            Err(before) => -ms_of(before.duration()),
        };
        self.change(ClockChange::Set(ms));
    }

    /// Moves the time forward. A stopped clock stays stopped.
    pub fn advance(&self, by: Duration) {
        self.change(ClockChange::Advance(ms_of(by)));
    }

    /// Moves the time back. A stopped clock stays stopped.
    pub fn go_back(&self, by: Duration) {
        self.change(ClockChange::Advance(-ms_of(by)));
    }

    /// Lets the clock follow the system's again.
    pub fn follow(&self) {
        self.change(ClockChange::Follow);
    }

    fn change(&self, change: ClockChange) {
        // The clock of a `Server` is adjustable, so this cannot fail.
        let _ = self.control.change_clock(change);
    }
}

fn ms_of(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}
