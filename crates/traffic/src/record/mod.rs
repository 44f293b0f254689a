//! `thriftstore record`: a proxy that records what passes.
//!
//! ```text
//!   client ----> relay ----> server        bytes pass unchanged and at once
//!                  | copy
//!                queue                     bounded; bytes that find no room are counted
//!                  |
//!               recorder (a thread)        decoder: messages, calls, no passwords
//!                  |                       redaction
//!                 file
//! ```
//!
//! In a shadow and a move, the relay has a stamp, which gives CQL writes timestamps before the queue and the server get
//! them, and replies to executions of statements that are not known.
//!
//! Nothing that happens below the queue reaches a connection: a message that cannot be decoded, a full disk and a slow
//! recorder cost events of the recording, which `Lost` events count.

mod by_keyspace;
mod decoder;
mod own_replies;
mod proxy;
mod queue;
mod recorder;
mod relay;
mod stamp;

pub use by_keyspace::Upstreams;
pub use decoder::Decoder;
pub use proxy::{Proxy, ProxyPort};
pub use queue::{Chunk, ChunkKind, PendingChunks, Tap, TapQueue, now_us};
pub use recorder::{Recorder, RecorderSummary};
pub use relay::{Observers, relay};
pub use stamp::Stamps;
pub(crate) use stamp::with_texts;
