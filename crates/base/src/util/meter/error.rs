//! The errors that end a request early.

/// Why a request ended early, with a message for its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the texts of the errors name their fields")]
pub enum MeterError {
    /// The request needs more memory than a single request may hold.
    #[error(
        "the request needs more than {limit} bytes of memory, the most that one may hold: ask for fewer rows or columns at \
         a time, with a smaller count or in pages, or write smaller batches"
    )]
    TooLarge { limit: usize },
    /// All requests together hold all the memory for requests.
    #[error(
        "running requests hold all {limit} bytes of memory for requests: try again later, or ask for less at a time"
    )]
    Crowded { limit: usize },
    /// The operating system has no memory for one large allocation.
    #[error(
        "the server has no {bytes} bytes of memory for the request: try again later, or ask for less at a time"
    )]
    OutOfMemory { bytes: usize },
    /// The request has exceeded the time limit of its kind.
    #[error(
        "the request took longer than {limit_ms} ms: ask for less at a time, or raise the server's time limit"
    )]
    TimedOut { limit_ms: u64 },
    /// The client has disconnected and does not read the reply.
    #[error("the client has gone")]
    ClientGone,
}
