//! The limits of this layer, each with its reason.

/// Longest body of a request before the login or handshake is complete, in bytes: such requests have names, a password
/// and settings.
pub const HANDSHAKE_BYTES_MAX: usize = 64 * 1024;

/// Requests of one native-protocol connection that run at the same time. Further requests stay unread.
pub const NATIVE_REQUESTS_MAX: usize = 1024;

/// Bytes of unsent replies of one connection before they are sent ahead of answering the next pipelined call.
pub const REPLY_BYTES_BEFORE_FLUSH: usize = 64 * 1024;

/// After a longer message, in bytes, a connection replaces its input buffer, which would otherwise keep the memory of
/// the message.
pub const IDLE_BUFFER_BYTES_MAX: usize = 64 * 1024;

/// Prepared CQL 2 statements of one connection: there may be `CONNECTIONS_MAX` connections.
pub const CQL2_PREPARED_MAX: usize = 256;
/// Bytes of the texts of these statements together.
pub const CQL2_PREPARED_BYTES_MAX: usize = 64 * 1024;
