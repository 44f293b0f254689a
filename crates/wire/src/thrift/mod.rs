//! Implements TBinaryProtocol: a reader that borrows from the message, and a writer that appends to the reply buffer.
//!
//! Every `string` is bytes here, because old clients put raw bytes into keys and names. This code never reserves memory
//! by a size that the peer announced, never recurses without a limit, and never panics on any input.

mod arguments;
mod error;
pub mod frame;
mod header;
pub mod interface;
mod query_text;
mod reader;
mod scanner;
mod skip;
mod ttype;
mod writer;

pub use arguments::{Argument, Arguments};
pub use error::WireError;
pub use header::{MessageHeader, MessageKind};
pub use query_text::{NOT_COMPRESSED, QueryTextError, query_text};
pub use reader::Reader;
pub use scanner::{MessageScanner, Scan};
pub use ttype::TType;
pub use writer::{ApplicationError, FrameMark, Writer};
