//! The report of a replay or a shadow: the calls, the differences, and their causes.
//!
//! A [`Report`] is given one [`ComparedCall`] for each call, and a [`Reproduction`] for each cause of differences (`cause`).
//! Its memory is bounded however many calls there are. [`Report::summary`] returns it as data, which is printed as
//! `text`, as JSON, or as a page of `html`.

mod cause;
mod code;
mod collect;
mod compared;
mod html;
mod latency;
mod names;
mod reproduction;
mod summary;
#[cfg(test)]
mod tests;
mod text;
mod visible;

pub use cause::Cause;
pub use code::{Snippet, driver_snippets, snippets, visible_json};
pub use collect::{CauseId, Report, ReportSubject, RunKind};
pub(crate) use compared::ANOTHER_ORDER;
pub use compared::{CallDifference, CallInterface, CallOutcome, ComparedCall, DifferenceKind};
pub use latency::{Latencies, LatencySummary};
pub(crate) use names::shown_table;
pub use names::{NameTable, short};
pub use reproduction::{CqlValue, ReproducedCall, ReproducedRequest, Reproduction};
pub use summary::{MissingTable, MissingWrites, Summary, Verdict};
pub use visible::{Micros, Thousands, Visible};
