//! The limits of this layer, each with its reason.

/// A buffer of a connection up to this many bytes is not counted against `MESSAGES_BYTES_MAX`, and is kept while the
/// connection is idle.
pub const MESSAGE_BYTES_FREE: usize = 64 * 1024;

/// Bytes of the uncounted buffers of all connections together, which share them equally: 10,000 buffers of 64 KiB would
/// take more memory than a small container has.
pub const FREE_BYTES_OF_ALL: usize = 16 * 1024 * 1024;
/// The least uncounted bytes of a connection, however many there are.
pub const MESSAGE_BYTES_FREE_MIN: usize = 8 * 1024;

/// Seconds that a message waits for its part of `MESSAGES_BYTES_MAX` before it is refused: as long as old clients wait
/// for a reply (the default socket timeout of most libraries is 10 s or less).
pub const MEMORY_WAIT_S: u64 = 10;

/// Large replies that are made again at the same time, once there is memory for them: each needs memory for its rows,
/// too.
pub const REPLIES_MADE_AGAIN_MAX: usize = 2;

/// Connections that are open at the same time. A further one waits until one of them ends.
pub const CONNECTIONS_MAX: usize = 10_000;

/// The number of these that may be without a completed TLS handshake, login or request. If one more arrives, the oldest
/// is closed: silent connections must leave room for others. A client that opens a pool sends its first requests long
/// before 5,000 other connections arrive.
pub const UNPROVEN_CONNECTIONS_MAX: usize = CONNECTIONS_MAX / 2;

/// Time limit for the handshake of a native-protocol client, in seconds. Drivers send STARTUP at once, so this is
/// generous. Thrift clients have no such limit: pools open connections long before they use them.
pub const NATIVE_HANDSHAKE_S: u64 = 60;

/// Seconds that a client may pause within a message, or in reading a reply. Longer than a slow network needs to find
/// another route, and than the longest pauses of most garbage collectors.
pub const PROGRESS_GRACE_S: u64 = 60;

/// Minimum average rate at which a message arrives or a reply is read, in bytes a second: half of the rate of a modem
/// with 14,400 bit/s. A slower client uses up `PROGRESS_GRACE_S` and is then disconnected.
pub const PROGRESS_BYTES_PER_S: u64 = 1024;

/// Milliseconds that a client may pause if its connection holds memory for which others wait.
pub const SCARCE_GRACE_MS: u64 = 2_000;
/// Minimum average rate of such a client, in bytes a second: any local network is a hundred times as fast.
pub const SCARCE_BYTES_PER_S: u64 = 64 * 1024;

/// Idle time before the first probe of TCP keepalive, in seconds: firewalls forget an idle connection, most after an
/// hour, and some after five minutes.
pub const KEEPALIVE_IDLE_S: u64 = 240;
/// Interval of the probes of TCP keepalive, in seconds.
pub const KEEPALIVE_INTERVAL_S: u64 = 30;
/// Unanswered probes of TCP keepalive that close the connection.
pub const KEEPALIVE_PROBES: u32 = 8;

/// Connections to the status port at the same time.
pub const STATUS_CONNECTIONS_MAX: usize = 16;
/// Longest head of a request to the status port or the control port, in bytes: clients send one line and a few headers.
pub const STATUS_REQUEST_BYTES_MAX: usize = 8 * 1024;

/// Connections to the control port at the same time: test programs have one each, and keep it open.
pub const CONTROL_CONNECTIONS_MAX: usize = 256;

/// Connections to the admin server at the same time: a browser opens six, a monitoring system one.
pub const ADMIN_CONNECTIONS_MAX: usize = 64;
/// Longest head of a request to the admin server, in bytes: browsers send the cookies of all servers of a machine, and
/// paths name keys and columns.
pub const ADMIN_HEAD_BYTES_MAX: usize = 128 * 1024;

/// Longest file of certificates or of a key, in bytes: four times the size of all authorities that a browser knows.
pub const PEM_BYTES_MAX: usize = 1024 * 1024;
