//! Sends the calls of a recording to another server, and compares its answers with the recorded ones.
//!
//! `engine` goes through the events: it opens the same connections, sends the same requests in the order that `order`
//! allows, and compares. `link` is a connection to the candidate, on which `wire` writes and reads. `handles` translates
//! ids that servers make. `own_data` selects reads that an empty server can answer. `shrink` finds the fewest calls that
//! show a difference.

mod engine;
mod handles;
mod link;
mod order;
mod own_data;
mod partitioner;
mod pending;
mod progress;
mod sending;
mod shrink;
mod touched;
mod wire;

use std::time::Duration;

pub use engine::{Replay, ReplaySummary};
pub use partitioner::partitioner_of;
pub use progress::Progress;
pub use shrink::{FreshServer, Shrunk, reproduction, selected, shrink};
pub(crate) use touched::TouchedKeys;
pub(crate) use wire::Wire;

/// The server that calls are sent to.
#[derive(Debug, Clone)]
pub struct CandidateServer {
    /// `HOST:PORT` of Thrift.
    pub thrift: String,
    /// `HOST:PORT` of the native protocol; `None` if it has none. Its calls are not compared then.
    pub native: Option<String>,
}

/// The speed at which calls are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// As fast as the candidate answers.
    Max,
    /// This many times as fast as recorded.
    Times(f64),
}

impl std::str::FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Speed, String> {
        match text {
            "max" => Ok(Speed::Max),
            "recorded" => Ok(Speed::Times(1.0)),
            number => match number.parse() {
                Ok(times) if f64::is_finite(times) && times > 0.0 => Ok(Speed::Times(times)),
                _ => Err(format!(
                    "unknown speed {text:?}: use recorded, max, or a number of times, such as 2.5"
                )),
            },
        }
    }
}

/// The options of a replay.
#[derive(Debug, Clone)]
pub struct ReplayOptions {
    /// The speed of the calls.
    pub speed: Speed,
    /// Only sends reads of data that the recording wrote itself.
    pub only_own_reads: bool,
    /// The time that an answer may take before the call counts as not answered.
    pub timeout: Duration,
}

impl Default for ReplayOptions {
    fn default() -> ReplayOptions {
        ReplayOptions { speed: Speed::Max, only_own_reads: false, timeout: Duration::from_secs(30) }
    }
}

/// Why a call is not compared.
#[expect(missing_docs, reason = "each text explains itself")]
pub mod reason {
    pub const NO_NATIVE_PORT: &str = "no address of the candidate's native protocol was given";
    pub const LOGIN: &str =
        "a native login: its password is not recorded, and the candidate must not require one";
    pub const NOT_OWN: &str = "reads of what the recording has not written (--only-own-reads)";
    pub const UNREADABLE: &str = "the recorded message cannot be decoded";
    pub const NOT_OPENED: &str = "the recording does not have the beginning of the connection";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_are_parsed() {
        assert_eq!("max".parse(), Ok(Speed::Max));
        assert_eq!("recorded".parse(), Ok(Speed::Times(1.0)));
        assert_eq!("2.5".parse(), Ok(Speed::Times(2.5)));
        for wrong in ["0", "-1", "inf", "NaN", "fast", ""] {
            assert!(wrong.parse::<Speed>().is_err(), "{wrong}");
        }
    }
}
