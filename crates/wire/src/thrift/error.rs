//! The errors of reading and writing messages.

/// Why a message cannot be read or written. Positions are bytes from the start of the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    #[error("message ends at byte {at}, at least {need} more bytes are needed")]
    Truncated { at: usize, need: usize },
    #[error("negative size {size} at byte {at}")]
    NegativeSize { at: usize, size: i32 },
    #[error("{count} elements are announced at byte {at}, but only {remaining} bytes can follow")]
    TooManyElements { at: usize, count: usize, remaining: usize },
    #[error("values are nested deeper than the limit of {limit} levels")]
    TooDeep { limit: usize },
    #[error("unknown type code {code} at byte {at}")]
    UnknownType { at: usize, code: u8 },
    #[error("bad protocol version 0x{word:08x}, expected 0x8001xxxx")]
    BadVersion { word: u32 },
    #[error("method name is {length} bytes, the limit is {limit}")]
    NameTooLong { length: usize, limit: usize },
    #[error("message is at least {length} bytes, the limit is {limit}")]
    MessageTooLong { length: usize, limit: usize },
}
