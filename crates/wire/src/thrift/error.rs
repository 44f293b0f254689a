//! The errors of reading and writing messages.

/// Why a message cannot be read or written. Positions are bytes from the start of the message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The message ends inside a value.
    #[error("message ends at byte {at}, at least {need} more bytes are needed")]
    Truncated {
        /// Where the message ends.
        at: usize,
        /// The number of missing bytes, at least.
        need: usize,
    },
    /// A length or count is negative.
    #[error("negative size {size} at byte {at}")]
    NegativeSize {
        /// The position of the length or count.
        at: usize,
        /// The number as sent.
        size: i32,
    },
    /// A list, set or map announces more elements than the rest of the message can hold.
    #[error("{count} elements are announced at byte {at}, but only {remaining} bytes can follow")]
    TooManyElements {
        /// The position after the count.
        at: usize,
        /// The announced number of elements or pairs.
        count: usize,
        /// The number of bytes after the count.
        remaining: usize,
    },
    /// A skipped value has too many containers inside each other.
    #[error("values are nested deeper than the limit of {limit} levels")]
    TooDeep {
        /// The largest allowed number of levels.
        limit: usize,
    },
    /// The code names no type of TBinaryProtocol.
    #[error("unknown type code {code} at byte {at}")]
    UnknownType {
        /// The position of the code.
        at: usize,
        /// The code as sent.
        code: u8,
    },
    /// The first word has its highest bit set, as in strict headers, but another version.
    #[error("bad protocol version 0x{word:08x}, expected 0x8001xxxx")]
    BadVersion {
        /// The word as sent.
        word: u32,
    },
    /// The name of the method is too long.
    #[error("method name is {length} bytes, the limit is {limit}")]
    NameTooLong {
        /// The announced length, in bytes.
        length: usize,
        /// The longest allowed name, in bytes.
        limit: usize,
    },
    /// A message cannot be framed, or an unframed message exceeds the limit.
    #[error("message is at least {length} bytes, the limit is {limit}")]
    MessageTooLong {
        /// The length of the message so far, in bytes.
        length: usize,
        /// The longest allowed message, in bytes.
        limit: usize,
    },
}
