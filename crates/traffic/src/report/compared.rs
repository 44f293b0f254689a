//! The material of a report: calls whose two answers were compared.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

use base::compat::features::ApiGeneration;

/// One call, and how the answers of both sides compare.
#[derive(Debug, Clone, Copy)]
pub struct ComparedCall<'a> {
    /// The number of the call in the recording, or in the run of the shadow.
    pub call: u64,
    /// When the client sent the call, in microseconds since 1970.
    pub at_us: i64,
    /// The Thrift method; for the native protocol the kind of the statement, such as `SELECT`, or the opcode.
    pub method: &'a str,
    /// Empty if the call has no keyspace.
    pub keyspace: &'a str,
    /// The column family. Empty if the call has none or several.
    pub family: &'a str,
    /// The interface of the client.
    pub interface: CallInterface,
    /// The host of the client, without its port.
    pub client: &'a str,
    /// Whether the call changes data.
    pub is_write: bool,
    /// From the request to the reply of the recorded server or the primary, in microseconds. `None` without a reply.
    pub recorded_us: Option<u64>,
    /// The same of the candidate.
    pub candidate_us: Option<u64>,
    /// The rules by which unequal parts of the answers count as equal, each at most once.
    pub rules: &'a [&'a str],
    /// The result of the comparison.
    pub outcome: CallOutcome<'a>,
}

/// The interface of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallInterface {
    /// Thrift, with the methods of these releases.
    Thrift(ApiGeneration),
    /// The native protocol, in this version.
    Native(u8),
}

impl fmt::Display for CallInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallInterface::Thrift(ApiGeneration::WithTextPaths) => f.write_str("Thrift of 0.3"),
            CallInterface::Thrift(ApiGeneration::WithKeyspace) => f.write_str("Thrift of 0.4 to 0.6"),
            CallInterface::Thrift(ApiGeneration::AfterSetKeyspace) => f.write_str("Thrift of 0.7 and later"),
            CallInterface::Native(version) => write!(f, "native protocol v{version}"),
        }
    }
}

/// The result of comparing the answers of one call.
#[derive(Debug, Clone, Copy)]
pub enum CallOutcome<'a> {
    /// They are equal, by the rules of [`ComparedCall::rules`] if there are any.
    Equal,
    /// They differ; this is the first difference.
    Differs(CallDifference<'a>),
    /// They were not compared, for this reason.
    NotCompared(&'a str),
    /// The candidate did not get the call, for this reason. After a write it may have other data.
    NotSent(&'a str),
}

/// The end of the path to elements that are the same in another order.
pub(crate) const ANOTHER_ORDER: &str = " (order)";

/// A difference between the answers of one call.
#[derive(Debug, Clone, Copy)]
pub struct CallDifference<'a> {
    /// The kind of content that differs.
    pub kind: DifferenceKind,
    /// The place of the difference in the answer, such as `[3].column.value`. Empty for the answer as a whole. It ends
    /// with the words for another order if both sides have the same elements there.
    pub path: &'a str,
    /// The recorded answer, or its part at `path`, as text. An exception is written as `NAME: text`. `None` if nothing is
    /// at `path`; with an empty path, if there is no answer.
    pub recorded: Option<&'a str>,
    /// The same of the candidate.
    pub candidate: Option<&'a str>,
}

/// Kinds of differences, the least serious first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum DifferenceKind {
    /// The same exception with another text.
    Text,
    /// Another exception, an exception instead of a result, or no answer.
    Exception,
    /// Another result.
    Data,
}

impl DifferenceKind {
    /// All kinds, the least serious first.
    pub const ALL: &[DifferenceKind] = DifferenceKind::VARIANTS;

    /// Returns the name of the kind in options and reports.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for DifferenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DifferenceKind {
    type Err = String;

    fn from_str(text: &str) -> Result<DifferenceKind, String> {
        let found = DifferenceKind::ALL.iter().copied().find(|kind| kind.name() == text);
        found.ok_or_else(|| format!("unknown kind of difference {text:?}: use data, exception or text"))
    }
}
