//! The CQL native protocol: decodes frames into requests, runs them, and encodes outcomes as frames. `server` has the
//! sockets.

mod answer;
mod body_reader;
mod body_writer;
mod column_type;
mod compression;
mod consistency;
mod error;
mod event;
mod frame;
mod handshake;
mod identity;
mod metadata;
mod opcode;
mod parameters;
mod reply;
mod reported_versions;
mod request;
mod result;
mod segment;
mod service;
mod statements;
mod trace;
mod version;

pub use answer::{answer, open_body};
pub use body_reader::BodyReader;
pub use compression::Compression;
pub use error::{FailedOperation, NativeError};
pub use event::{Event, EventKind};
pub use frame::{Frame, FrameCutter, FrameError, NextFrame, write_frame};
pub use handshake::Handshake;
pub use identity::Identity;
pub use opcode::{RequestCode, ResponseCode, UNREADABLE};
pub use reply::Reply;
pub use segment::{SegmentCodec, SegmentError};
pub use service::NativeService;
pub use version::ProtocolVersion;
