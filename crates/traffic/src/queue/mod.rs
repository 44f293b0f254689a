//! A durable queue of the writes that a server has still to get, in the order in which another server has taken them.
//!
//! ```text
//!   client <----> relay <----> the server that answers
//!                   | write and reply
//!                 capture       appends the write before the client gets the reply
//!                   |
//!                 write_queue   segments on disk; the position of the first write that is not acknowledged
//!                   |
//!                 sender        sends in order, until the other server has acknowledged
//!                   |
//!                 lane <----> the other server
//! ```
//!
//! A reply that a client has seen is of a write in the queue, so no process that is killed loses an acknowledged write. A
//! write may be sent twice: all that carry timestamps change nothing the second time. The `rule` of the others is that they
//! are sent once at most, and that the queue lists their table if it cannot know whether they were applied: these tables
//! must be compared or copied again.

mod again;
mod capture;
mod failure;
mod lane;
mod login;
mod outcome;
mod position;
mod queued_write;
mod rule;
mod segment;
mod sender;
mod waited;
mod write_queue;

pub use again::{AgainReason, OTHER_TABLES, QueueTable};
pub use capture::{Capture, CapturedTap};
pub use failure::QueueError;
pub use login::QueueLogin;
pub use queued_write::QueuedWrite;
pub use rule::ResendRule;
pub use sender::{QueueSender, SenderOptions};
pub use write_queue::{QueueLimits, QueueStatus, WriteQueue};
