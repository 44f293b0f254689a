//! The log of requests with their arguments, and the requests of the moment for the console.
//!
//! A request is watched while a rule of faults, this log or a follower needs it ([`WatchedRequest`]); otherwise it costs
//! two looks at a flag. `slow` and `errors` decide at the end of a request, and only then decode the arguments of Thrift
//! calls:
//!
//! ```text
//!   mode          watched              arguments          logged
//!   off           -                    -                  -
//!   all           all                  at the start       all
//!   sample=0.01   one in a hundred     at the start       those
//!   slow=50ms     all                  at the end         those that took as long
//!   errors        all                  at the end         those that failed
//! ```
//!
//! [`WatchedRequest`]: crate::faults::WatchedRequest

mod followers;
mod line;
mod mode;
mod redact;
mod switch;

pub use followers::{Followers, LiveRequests};
pub use mode::RequestLogMode;
pub(super) use redact::hide_passwords;
pub use switch::{RequestLogOutput, RequestLogSwitch, WatchPurpose};
