//! The limits of this layer, each with its reason.

/// A buffer of a connection up to this many bytes is not counted against `MESSAGES_BYTES_MAX`, and is kept while the
/// connection is idle.
pub const MESSAGE_BYTES_FREE: usize = 64 * 1024;

/// The same limit if there are many connections: together the uncounted buffers take at most `FREE_BYTES_OF_ALL`,
/// shared equally, but each connection has at least `MESSAGE_BYTES_FREE_MIN`. 10,000 buffers of 64 KiB would take more
/// memory than a small container has.
pub const FREE_BYTES_OF_ALL: usize = 16 * 1024 * 1024;
/// The uncounted bytes of a connection among very many.
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

/// The same two limits for a connection that holds memory which others wait for: a pause in milliseconds and a rate in
/// bytes a second. Any local network is a hundred times as fast.
pub const SCARCE_GRACE_MS: u64 = 2_000;
/// The rate; see `SCARCE_GRACE_MS`.
pub const SCARCE_BYTES_PER_S: u64 = 64 * 1024;

/// TCP keepalive: idle time before the first probe and interval of probes, in seconds, and the number of unanswered
/// probes that close the connection. The first probe is sent before firewalls forget a connection, which most do after
/// an hour, and some after five minutes.
pub const KEEPALIVE_IDLE_S: u64 = 240;
/// The interval of probes in seconds.
pub const KEEPALIVE_INTERVAL_S: u64 = 30;
/// The number of unanswered probes.
pub const KEEPALIVE_PROBES: u32 = 8;

/// For how long equal log lines about connections are counted instead of repeated, in seconds; how many different lines
/// are remembered in that time, and how many bytes of each. Clients can influence the text of these lines.
pub const LOG_PERIOD_S: u64 = 60;
/// The number of different lines.
pub const LOG_KINDS_MAX: usize = 32;
/// The bytes of each that are remembered.
pub const LOG_KIND_BYTES_MAX: usize = 256;

/// Connections to the status port at the same time, and the longest request there, in bytes: clients send one line and
/// a few headers.
pub const STATUS_CONNECTIONS_MAX: usize = 16;
/// The longest request to the status port, in bytes.
pub const STATUS_REQUEST_BYTES_MAX: usize = 8 * 1024;

/// Connections to the control port at the same time: test programs have one each, and keep it open.
pub const CONTROL_CONNECTIONS_MAX: usize = 256;

/// Connections to the admin server at the same time: a browser opens six, a monitoring system one. The longest head of a
/// request there, in bytes: browsers send the cookies of all servers of a machine, and paths name keys and columns.
pub const ADMIN_CONNECTIONS_MAX: usize = 64;
/// The longest head of a request to the admin server, in bytes.
pub const ADMIN_HEAD_BYTES_MAX: usize = 128 * 1024;

/// Longest file of certificates or of a key, in bytes: four times the size of all authorities that a browser knows.
pub const PEM_BYTES_MAX: usize = 1024 * 1024;
