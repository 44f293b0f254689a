//! The limits of all requests and of the crate `base`, each with its reason. Other crates have their own in
//! `limits.rs`.

/// Values of one result, in bytes: a larger result would not fit in a frame. A result is collected before it is sent.
pub const RESULT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Memory of all incoming messages and of all unread replies, in bytes. `MESSAGE_BYTES_MAX` is the limit of one
/// message.
pub const MESSAGES_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// Maximum memory of all requests together, in bytes. The usual value is half of what the process may use besides its
/// cache. More would only let more large requests run concurrently, which share the processors anyway.
pub const REQUEST_MEMORY_BYTES_MAX: usize = 2 * 1024 * 1024 * 1024;

/// Minimum memory of all requests together, in bytes, on small machines too: with less, ordinary slices would be
/// refused.
pub const REQUEST_MEMORY_BYTES_MIN: usize = 16 * 1024 * 1024;

/// One request may hold the memory of all requests divided by this: three large requests leave room for others.
pub const REQUEST_MEMORY_PARTS: usize = 4;

/// Maximum memory of one request, in bytes, on large machines: a result of `RESULT_BYTES_MAX` as it was read and as it
/// is sent, plus the overhead of small cells.
pub const REQUEST_HELD_BYTES_MAX: usize = 4 * RESULT_BYTES_MAX;

/// The memory of a request that is not counted against the memory of all requests, in bytes. Most requests need less,
/// so they do not write to memory that processors share.
pub const REQUEST_BYTES_FREE: usize = 16 * 1024;
/// The least that a request takes from the memory of all requests, in bytes, if it needs more than the free part.
pub const REQUEST_CHUNK_BYTES: usize = 64 * 1024;

/// Milliseconds for which a request waits for memory that others hold, before it is refused: less than clients wait for
/// a reply.
pub const REQUEST_MEMORY_WAIT_MS: u64 = 5_000;

/// Milliseconds for which a request continues after its client has stopped sending. The client may have shut down only
/// its side and still read.
pub const REQUEST_AFTER_CLIENT_MS: u64 = 2_000;

/// Cells and rows that a request processes on a shared thread before other tasks run: a millisecond or less.
pub const REQUEST_WORK_PER_TURN: usize = 1_024;

/// Lines of the log of requests that wait for the disk: at 8 KB each, 32 MB. Further lines are left out and counted.
pub const LINES_WAITING_MAX: usize = 4096;

/// Longest password file, in bytes: a password is one line.
pub const PASSWORD_FILE_BYTES_MAX: usize = 64 * 1024;

/// Longest DecimalType value, in bytes: comparison takes quadratic time. Such a number has 9,800 digits.
pub const DECIMAL_BYTES_MAX: usize = 4 * 1024;

/// Longest text of a type in a schema, in bytes.
pub const TYPE_TEXT_BYTES_MAX: usize = 16 * 1024;
/// Deepest nesting of types in each other: comparison recurses once for each level.
pub const TYPE_NESTING_MAX: usize = 16;

/// Memory of all prepared statements, in bytes, estimated from their texts.
pub const PREPARED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Shortest token of the status port, in bytes: the number of attempts is not limited.
pub const STATUS_TOKEN_BYTES_MIN: usize = 16;

/// Keyspaces that are listed in the log at startup; further ones are counted.
pub const LOGGED_KEYSPACES_MAX: usize = 20;

/// Longest class name of a user type including its field types, in bytes: versions 1 and 2 of the native protocol send
/// it as a text with a 16-bit length. The length is computed without building the text, because a chain of types that
/// each contain the previous type twice doubles it each time.
pub const USER_TYPE_TEXT_BYTES_MAX: usize = 65_535;

/// Columns of a table, or defined columns of a column family: a statement is planned with all columns, and each takes
/// some hundred bytes of each result's metadata.
pub const TABLE_COLUMNS_MAX: usize = 10_000;

/// Bytes of the secret of a redaction.
pub const REDACTION_KEY_BYTES_MAX: u64 = 64 * 1024;

/// Connections of a recorder that are open at the same time. Each has two sockets and two buffers of 8 KiB.
pub const RECORDER_CONNECTIONS_MAX: usize = 100_000;

/// Causes of differences that a replay shrinks.
pub const SHRUNK_CAUSES_MAX: usize = 20;
/// Bytes of the messages before a call that is shrunk: they are in memory.
pub const SHRUNK_BYTES_MAX: usize = 512 * 1024 * 1024;

/// Bytes that passed a shadow and are not decoded yet. Further bytes are counted and not compared.
pub const SHADOW_QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Seconds for which equal log lines about connections and clusters are counted instead of repeated.
pub const LOG_PERIOD_S: u64 = 60;
/// Different log lines that are remembered in that time. Clients and clusters can influence the text of these lines.
pub const LOG_KINDS_MAX: usize = 32;
/// Bytes of each of these lines that are remembered.
pub const LOG_KIND_BYTES_MAX: usize = 256;
