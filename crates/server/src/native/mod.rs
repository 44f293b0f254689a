//! The CQL native protocol: decodes frames into requests, runs them, and encodes outcomes as frames. `server` has the
//! sockets.

mod answer;
mod column_type;
mod error;
mod event;
mod handshake;
mod identity;
mod metadata;
mod parameters;
mod reply;
mod reported_versions;
mod request;
mod result;
mod service;
mod statement_request;
mod statements;

pub use answer::answer;
pub use error::{FailedOperation, NativeError};
pub(crate) use event::{NativeEvent, NativeEventKind};
pub use handshake::Handshake;
pub use identity::Identity;
pub use reply::Reply;
pub use request::open_body;
pub use service::NativeService;
