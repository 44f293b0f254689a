//! Events: the contents of a recording, in the order in which the recorder saw them.
//!
//! ```text
//!   connection 7   Opened    Thrift, framed, from 10.0.0.5:50112
//!   connection 7   Request   call 31: get_slice(..)
//!   connection 9   Request   call 32: insert(..)
//!   connection 9   Reply     call 32
//!   connection 7   Reply     call 31
//!   connection 7   Closed    by the client
//! ```
//!
//! Calls are numbered through the whole recording, so a number identifies a call also where connections overlap. A call
//! without a reply is `oneway`, was lost, or its connection ended before the reply.

use std::fmt;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};
use wire::thrift::frame::Transport;

/// The version of the file format that this program writes.
pub const FORMAT_VERSION: u32 = 1;

/// The first entry of a file: how the recording was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the file format.
    pub format: u32,
    /// The program that recorded, with its version.
    pub program: String,
    /// When the recording began, in microseconds since 1970. The parts of a rotated recording have the same value.
    pub started_us: i64,
    /// The number of this part of a rotated recording, from 1.
    pub part: u32,
    /// The servers that answered, as `HOST:PORT` or `KEYSPACE=HOST:PORT`.
    pub upstreams: Vec<String>,
    /// The kinds of data that were replaced by hashes: `values`, `keys`, `names`. Empty if nothing was.
    #[serde(default)]
    pub redacted: Vec<String>,
    /// Identifies the key of these hashes, without revealing it. Recordings with the same fingerprint have the same
    /// hashes for the same bytes.
    #[serde(default)]
    pub redaction_key: Option<String>,
    /// Where the recording is from, if it was not made by a recorder.
    #[serde(default)]
    pub origin: Option<String>,
}

impl Header {
    /// Creates the header of a recording that begins now, at `started_us`, with the program's version.
    pub fn new(started_us: i64, upstreams: Vec<String>) -> Header {
        Header {
            format: FORMAT_VERSION,
            program: concat!("thriftstore ", env!("CARGO_PKG_VERSION")).to_owned(),
            started_us,
            part: 1,
            upstreams,
            redacted: Vec::new(),
            redaction_key: None,
            origin: None,
        }
    }
}

/// One event of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// When the last byte of the message passed the recorder, in microseconds since 1970.
    pub at_us: i64,
    /// The number of the connection in the recording.
    pub connection: u64,
    /// The message, or the change of the connection.
    pub kind: EventKind,
}

/// The kinds of events.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the comments of the variants explain their fields")]
pub enum EventKind {
    /// The first bytes of a connection have shown its protocol. Connections without any byte are not recorded.
    Opened {
        protocol: Protocol,
        /// The address of the client.
        client: String,
        /// The address of the server that answers.
        upstream: String,
    },
    /// A client sent a message.
    ///
    /// For Thrift, `message` is a whole message without the length of its frame. For the native protocol it is a whole
    /// frame with its header. Its body is decompressed, and the header has the length of the decompressed body and no
    /// flag of compression.
    Request { call: u64, message: Bytes },
    /// The server answered. `message` is as in `Request`.
    Reply { call: u64, message: Bytes },
    /// The server sent a native frame that answers no request, such as EVENT.
    Pushed { message: Bytes },
    /// A connection ended. Calls without a reply have none.
    Closed { by: Side },
    /// Messages that could not be recorded.
    Lost(Loss),
}

/// The protocol of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Thrift's binary protocol.
    Thrift {
        /// Whether a length precedes each message.
        is_framed: bool,
    },
    /// The native protocol. Each frame has its version.
    Native,
}

impl Protocol {
    /// Returns how messages follow each other on a Thrift connection.
    pub(crate) fn transport(is_framed: bool) -> Transport {
        if is_framed { Transport::Framed } else { Transport::Unframed }
    }
}

impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Protocol::Thrift { is_framed: true } => "Thrift, framed",
            Protocol::Thrift { is_framed: false } => "Thrift, unframed",
            Protocol::Native => "native",
        })
    }
}

/// An end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The client.
    Client,
    /// The server.
    Server,
}

/// Returns the host of an address, `HOST:PORT`.
pub(crate) fn host_of(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

/// Messages and bytes that could not be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Loss {
    /// Messages that were seen and not recorded. 0 if the bytes could not be divided into messages.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The reason.
    pub why: LossReason,
}

impl Loss {
    /// Adds the loss to the one of its reason.
    pub(crate) fn add_to(self, losses: &mut Vec<Loss>) {
        match losses.iter_mut().find(|known| known.why == self.why) {
            Some(known) => {
                known.messages += self.messages;
                known.bytes += self.bytes;
            }
            None => losses.push(self),
        }
    }
}

/// Why messages could not be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, VariantArray, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum LossReason {
    /// Traffic was faster than the recorder, and its queue was full.
    Behind,
    /// A message was longer than the limit of messages.
    TooLong,
    /// The bytes are not of a protocol that is recorded, or are damaged. Nothing more of the connection is recorded.
    Unreadable,
    /// A message may contain a password, or something else that would have been redacted.
    Secret,
    /// The disk was full, or writing failed.
    Disk,
}

impl LossReason {
    /// All reasons.
    pub const ALL: &[LossReason] = LossReason::VARIANTS;

    /// Returns the reason as outputs name it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
