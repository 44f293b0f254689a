//! `thriftstore shadow`: clients are answered by one server, and another server gets the same calls. The answers of both
//! are compared.
//!
//! ```text
//!   client <----> relay <----> primary     as in a recorder; CQL writes without a timestamp get one
//!                   | copy
//!                 queue                    bounded
//!                   |
//!                 source (a thread)        decodes calls, and selects those for the candidate
//!                   |
//!                 backlog                  bounded: further calls are counted and not sent
//!                   |
//!                 replay <----> candidate
//!                   |
//!                 report
//! ```
//!
//! Nothing below the queue reaches a client: a candidate that fails or is slow costs comparisons, and each call that was
//! not compared is counted with the reason.
//!
//! The candidate must see the calls in an order that the primary may have seen, else its answers differ for no reason.
//! So a shadow is a replay of a recording that is being made: a call is sent when all calls are answered that the primary
//! had answered before this call began.

mod backlog;
mod page;
mod plan;
mod run;
mod selection;
mod source;
mod status;

pub use page::shadow_page;
pub use plan::{Only, ShadowPlan};
pub use run::Shadow;
pub use status::{ShadowState, ShadowStatus};
