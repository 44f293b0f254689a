//! The options of a shadow.

use std::str::FromStr;
use std::time::Duration;

/// The calls that the candidate gets.
#[derive(Debug, Clone)]
pub struct ShadowPlan {
    /// The share of the reads, from 0 to 1. All writes are sent: without them the candidate would have other data.
    pub share: f64,
    /// The kind of calls that the candidate gets; `None`: all.
    pub only: Option<Only>,
    /// Whether the candidate gets the writes from a queue, and no reads.
    pub has_queue: bool,
    /// The time that the candidate may take for an answer.
    pub timeout: Duration,
}

/// A kind of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Only {
    /// Calls that change nothing.
    Reads,
    /// Calls that change data.
    Writes,
}

impl FromStr for Only {
    type Err = String;

    fn from_str(text: &str) -> Result<Only, String> {
        match text {
            "reads" => Ok(Only::Reads),
            "writes" => Ok(Only::Writes),
            other => Err(format!("unknown kind of calls {other:?}: use reads or writes")),
        }
    }
}
