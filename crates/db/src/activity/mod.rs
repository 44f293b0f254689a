//! The past requests that the console shows: the slowest of the last hour, and the errors.
//!
//! Most requests must not pay for it. A request is compared with one number, which is as high as the slowest requests of
//! the current minute are:
//!
//! ```text
//!   nobody collects      threshold = all ones     no request is slower
//!   a minute begins      threshold = 0            the first 20 requests are stored
//!   20 are stored        threshold = the fastest of them
//!   a slower request     replaces the fastest; the threshold rises
//! ```
//!
//! So the more requests a minute has, the fewer of them are stored: of 600,000 in random order, about 230. Only these are
//! decoded. Errors are counted by their text, which costs a lock and a look into a small table.

mod error_counts;
mod slow_requests;
mod summary;

use std::sync::Arc;
use std::time::Duration;

pub use error_counts::{CountedError, ErrorCounts};
pub use slow_requests::SlowRequests;
pub use summary::RequestSummary;

use crate::limits::SLOW_MINUTE_S;

/// Past requests of a database. Nothing is collected before `begin`.
#[derive(Debug, Default)]
pub struct Activity {
    /// The slowest requests of the last hour.
    pub slow: SlowRequests,
    /// Errors by their text.
    pub errors: ErrorCounts,
}

impl Activity {
    /// Begins to collect, and ends each minute until nobody else has the activity.
    pub fn begin(self: &Arc<Self>) {
        self.slow.begin();
        self.errors.begin();
        let activity = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(Duration::from_secs(SLOW_MINUTE_S)).await;
                let Some(activity) = activity.upgrade() else { return };
                activity.slow.end_minute();
            }
        });
    }
}
