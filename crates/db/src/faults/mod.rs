//! Faults that tests inject, and the journal of requests: for a server whose client is under test.
//!
//! A rule says which requests it is for and what happens to them. Most properties that a rule can check of a request
//! are only known when the request reads or writes rows. So rules are compared there, for all protocols:
//!
//! ```text
//!   server       begins a WatchedRequest                    "thrift", "insert", connection 3
//!   server       adds the arguments                         key, column
//!   db::Request  adds keyspace and consistency level         Blog, QUORUM
//!   WatchedStore adds operation, column family and keys      write Posts "jonas"    -> rules: delay, error
//!   store        reads or writes
//!   WatchedStore                                                                    -> an error although applied
//!   server       ends it: a request without rows meets the rules only here          -> rules: delay, error
//!   connection   sends the reply                                                    -> rules: none, half of it, ...
//! ```
//!
//! A database has no [`Faults`] unless its server has a control port. Then nothing of this runs.

mod argument_text;
mod connections;
mod journal;
mod key_text;
mod notes;
mod reply_fault;
mod request_origin;
mod rule;
mod rules;
mod watched_request;
mod watched_store;

pub use argument_text::ArgumentText;
pub(super) use argument_text::cut;
pub use connections::{ClientConnection, FaultyConnections};
pub use journal::{Journal, JournalEntry, JournalResult, JournalRow, SoughtRequests};
use notes::contains;
pub(super) use notes::note_request;
pub use notes::{note_arguments, note_result, note_statement};
pub use reply_fault::ReplyFault;
pub use request_origin::RequestOrigin;
pub use rule::{Condition, Delay, FaultError, FaultRule, Operation, RuleError};
pub use rules::{Faults, RuleState};
pub use watched_request::WatchedRequest;
pub(super) use watched_request::{current, run_for};
pub use watched_store::WatchedStore;
