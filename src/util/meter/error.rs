//! Why a request is ended before it is done.

/// Why a request is ended before it is done, with a sentence for its client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MeterError {
    /// It needs more than any single request may hold.
    #[error(
        "the request needs more than {limit} bytes of memory, the most that one may hold: ask for fewer rows or columns at \
         a time, with a smaller count or in pages, or write smaller batches"
    )]
    TooLarge { limit: usize },
    /// All requests together hold all that they may.
    #[error(
        "the requests under way hold the {limit} bytes of memory that there are for them: try again later, or ask for \
         less at a time"
    )]
    Crowded { limit: usize },
    #[error(
        "the request took longer than {limit_ms} ms: ask for less at a time, or raise the server's time limit"
    )]
    TimedOut { limit_ms: u64 },
    /// Nobody reads the answer.
    #[error("the client has gone")]
    ClientGone,
}
