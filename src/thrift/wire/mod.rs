//! TBinaryProtocol by hand: a reader that borrows from the frame, a writer that appends to the reply buffer.
//!
//! Every `string` is bytes here: old clients put raw bytes into keys and names. Nothing in here allocates by a
//! size that the peer announced, recurses without a limit, or panics on any input.

mod error;
mod header;
mod reader;
mod scanner;
mod skip;
mod ttype;
mod writer;

pub use error::WireError;
pub use header::{MessageHeader, MessageKind};
pub use reader::Reader;
pub use scanner::{MessageScanner, Scan};
pub use ttype::TType;
pub use writer::{ApplicationError, FrameMark, Writer};
