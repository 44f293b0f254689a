//! The effect of a fault on the bytes of a reply.

use serde::{Deserialize, Serialize};

/// The effect on the reply of a request that was carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "json-schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ReplyFault {
    /// There is no reply, and the connection stays open.
    None,
    /// The connection is closed instead of a reply.
    Closed,
    /// The connection is closed after half of the reply.
    Half,
    /// The connection is closed after the reply.
    ClosedAfter,
    /// The reply has its length, and random bytes.
    Rubbish,
    /// The reply is sent twice.
    Twice,
    /// The reply is sent byte by byte, one in 10 milliseconds.
    Trickle,
}
