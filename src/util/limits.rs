//! Every limit of the server, each with its reason.

use std::time::Duration;

/// Longest row key, super column name and column name, in bytes: the old servers write their length as a u16.
pub const NAME_BYTES_MAX: usize = 65_535;

/// Longest Thrift message that is read, in bytes. 0.6 had no limit, 0.7 and later 15 MiB; this much of the
/// memory may belong to one request, so one client cannot exhaust it by announcing a length.
pub const MESSAGE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Longest body of a native-protocol frame, in bytes, before and after it is unpacked: as from Cassandra 1.2 on.
pub const NATIVE_FRAME_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Longest body of a request that comes before a client may ask for anything, in bytes: names, a password, settings.
pub const HANDSHAKE_BYTES_MAX: usize = 64 * 1024;

/// Values of one result, in bytes: a longer one would fit into no frame. It is gathered before it is sent.
pub const RESULT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Requests of one native-protocol connection that are answered at one time: more wait unread.
pub const NATIVE_REQUESTS_MAX: usize = 1024;

/// Traces of requests that are kept, the last ones, and the length of each text in them, in bytes.
pub const TRACES_MAX: usize = 512;
pub const TRACE_TEXT_BYTES_MAX: usize = 1024;

/// Deepest nesting of structs, maps and lists that is skipped in a message. The API's own deepest is 8.
pub const NESTING_MAX: usize = 64;

/// Longest method name that is looked up; the API's longest has 28 letters.
pub const METHOD_NAME_BYTES_MAX: usize = 256;

/// Memory of all messages that are being received and of all replies that wait to be read, in bytes: see `MESSAGE_BYTES_MAX` for one.
pub const MESSAGES_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// A buffer of a connection up to this many bytes is not counted against `MESSAGES_BYTES_MAX`, and is kept while the
/// connection is idle.
pub const MESSAGE_BYTES_FREE: usize = 64 * 1024;

/// The same with so many connections that buffers of that size would take more than `FREE_BYTES_OF_ALL`: each has its part
/// of this, and the second number at least. 10,000 buffers of 64 KiB would take more than a small container has.
pub const FREE_BYTES_OF_ALL: usize = 16 * 1024 * 1024;
pub const MESSAGE_BYTES_FREE_MIN: usize = 8 * 1024;

/// Memory of all requests together, in bytes: half of what the process may use beside its cache, but no more than this. More
/// would only let large requests run side by side that have to share the processors anyway.
pub const REQUEST_MEMORY_BYTES_MAX: usize = 2 * 1024 * 1024 * 1024;

/// The least that there is for requests, in bytes, however small the machine: with less, ordinary slices would be refused.
pub const REQUEST_MEMORY_BYTES_MIN: usize = 16 * 1024 * 1024;

/// What one request may hold is the memory of all of them divided by this: three large ones leave room for others.
pub const REQUEST_MEMORY_PARTS: usize = 4;

/// Memory that one request may hold, in bytes, wherever there is plenty: a result of `RESULT_BYTES_MAX` as it was read and as
/// it is sent, with what small cells take beside their bytes.
pub const REQUEST_HELD_BYTES_MAX: usize = 4 * RESULT_BYTES_MAX;

/// What a request may hold without being counted against the memory of all requests, in bytes, and what it takes of that at
/// least when it needs more. Most requests hold less than the first, so they write to nothing that processors share.
pub const REQUEST_BYTES_FREE: usize = 16 * 1024;
pub const REQUEST_CHUNK_BYTES: usize = 64 * 1024;

/// How long a request waits for memory that others hold, in milliseconds, before its client is told to come again later: less
/// than clients wait for an answer.
pub const REQUEST_MEMORY_WAIT_MS: u64 = 5_000;

/// How long a request goes on whose client sends nothing more, in milliseconds. The client may have shut down its side and
/// still read.
pub const REQUEST_AFTER_CLIENT_MS: u64 = 2_000;

/// Cells and rows that a request looks at on a thread that serves others, before these have a turn: a millisecond or less.
pub const REQUEST_WORK_PER_TURN: usize = 1_024;

/// What it costs to look for a row or a partition, in cells.
pub const ROW_WORK: usize = 8;

/// Cells that are read between two looks at the time and at the memory of a request.
pub const CELLS_PER_CHECK: usize = 256;

/// Bytes of rows that a scan reads in one go, and rows that it looks at in one: then other work of the disk threads has a turn.
pub const SCAN_PIECE_BYTES: usize = 1024 * 1024;
pub const SCAN_PIECE_ROWS: usize = 4_096;

/// How long a message waits for its part of `MESSAGES_BYTES_MAX`, in seconds, before it is refused: as long as old clients
/// wait for an answer (the default socket timeout of most libraries is 10 s or less).
pub const MEMORY_WAIT_S: u64 = 10;

/// Large replies that are made again at one time, once there is memory for them: beside each of them are the rows that it
/// is made of.
pub const REPLIES_MADE_AGAIN_MAX: usize = 2;

/// Connections that are served at one time. One more waits until one of them ends.
pub const CONNECTIONS_MAX: usize = 10_000;

/// Connections among these that have not completed their TLS handshake, their login or their first request. If one more
/// comes, the oldest of them is closed: connections that do nothing must leave room for those that work. A client that
/// opens a pool sends its first requests long before 5,000 other connections have come.
pub const UNPROVEN_CONNECTIONS_MAX: usize = CONNECTIONS_MAX / 2;

/// How long a client of the native protocol may take until it may send statements, in seconds. Drivers send STARTUP at
/// once, so this is generous. Thrift clients have no such limit: pools open connections long before they use them.
pub const NATIVE_HANDSHAKE_S: u64 = 60;

/// How long a message that has begun may stop arriving, and a reply may stop being read, in seconds. Longer than a slow
/// network needs to find another route, and than the longest pause of most garbage collectors.
pub const PROGRESS_GRACE_S: u64 = 60;

/// Slowest rate at which a message arrives or a reply is read in the long run, in bytes a second: half of what a modem
/// of 14,400 bit/s carries. A client that is slower uses up `PROGRESS_GRACE_S`, and is closed then.
pub const PROGRESS_BYTES_PER_S: u64 = 1024;

/// The same two limits for a connection that must give way if it is slower, while others wait for the memory that it
/// holds: a pause in milliseconds and a rate in bytes a second. Any local network is a hundred times as fast.
pub const SCARCE_GRACE_MS: u64 = 2_000;
pub const SCARCE_BYTES_PER_S: u64 = 64 * 1024;

/// When TCP asks whether a silent client's machine is still there, in seconds, how often it repeats that, and how many
/// questions remain unanswered before the connection is closed. The first comes before firewalls forget a connection,
/// which most do after an hour, and some after five minutes.
pub const KEEPALIVE_IDLE_S: u64 = 240;
pub const KEEPALIVE_INTERVAL_S: u64 = 30;
pub const KEEPALIVE_PROBES: u32 = 8;

/// How long log lines about connections that are alike are counted instead of repeated, in seconds, how many different
/// ones are remembered for that time, and how many bytes of each: clients decide what is in them.
pub const LOG_PERIOD_S: u64 = 60;
pub const LOG_KINDS_MAX: usize = 32;
pub const LOG_KIND_BYTES_MAX: usize = 256;

/// Connections to the status port at one time, and the longest request there, in bytes: who looks asks for one line.
pub const STATUS_CONNECTIONS_MAX: usize = 16;
pub const STATUS_REQUEST_BYTES_MAX: usize = 8 * 1024;

/// Longest file of certificates or of a key, in bytes: all authorities that a browser knows take a quarter of it.
pub const PEM_BYTES_MAX: usize = 1024 * 1024;

/// Longest file that a password of ours is read from, in bytes: a password is a line.
pub const PASSWORD_FILE_BYTES_MAX: usize = 64 * 1024;

/// Replies that wait to be sent on one connection, in bytes, before the next pipelined call is answered.
pub const REPLY_BYTES_BEFORE_FLUSH: usize = 64 * 1024;

/// Longest message that leaves the buffer as it is which it came in, in bytes: a longer one would be kept with it.
pub const IDLE_BUFFER_BYTES_MAX: usize = 64 * 1024;

/// Longest time to live, in seconds: 20 years, as in Cassandra from 1.1.6 on.
pub const TTL_MAX_S: i32 = 20 * 365 * 24 * 60 * 60;

/// Last second since 1970 at which a column may expire in 2.1.
pub const EXPIRY_MAX_S: i32 = i32::MAX;

/// Longest name of a keyspace or column family that clients make, in characters: as from Cassandra 1.1 on.
pub const SCHEMA_NAME_CHARS_MAX: usize = 48;

/// Longest DecimalType value, in bytes: comparing takes the square of it. Such a number has 9,800 digits.
pub const DECIMAL_BYTES_MAX: usize = 4 * 1024;

/// Longest text of a type in a schema, in bytes, and deepest nesting of types in it: there is a comparison within a
/// comparison for each.
pub const TYPE_TEXT_BYTES_MAX: usize = 16 * 1024;
pub const TYPE_NESTING_MAX: usize = 16;

/// Memory of all prepared statements, in bytes, estimated from their texts.
pub const PREPARED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Longest text that is prepared, in bytes: a single statement leaves room for others.
pub const PREPARED_STATEMENT_BYTES_MAX: usize = 1024 * 1024;

/// Statements of CQL 2 that one connection may have prepared, and how long their texts may be together, in bytes: there
/// may be as many connections as `CONNECTIONS_MAX`.
pub const CQL2_PREPARED_MAX: usize = 256;
pub const CQL2_PREPARED_BYTES_MAX: usize = 64 * 1024;

/// Longest element of a collection with a cell for each, in bytes: its length is a u16 in a cell's name and in the
/// older forms of a collection's value.
pub const CQL_ELEMENT_BYTES_MAX: usize = 65_535;

/// Longest CQL statement, in bytes, unpacked if it came packed: the old servers' longest frame has 15 MiB.
pub const STATEMENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Words of a CQL statement, spaces between them too: each takes 20 bytes, and its meaning some more.
pub const STATEMENT_TOKENS_MAX: usize = 2_000_000;

/// Deepest nesting of terms, types, selectors and relations in a CQL statement: reading them is recursive.
pub const STATEMENT_NESTING_MAX: usize = 50;

/// Markers of a CQL statement: the protocols count them with 16 bits.
pub const MARKERS_MAX: usize = 65_535;

/// Statements of a CQL batch: the native protocol counts them with 16 bits.
pub const BATCH_STATEMENTS_MAX: usize = 65_535;

/// Properties of a table or keyspace in a CQL statement: each is compared with those before it.
pub const PROPERTIES_MAX: usize = 1_000;

/// Roles of the server: what each may do by others is kept ready, which may take the square of it.
pub const ROLES_MAX: usize = 2_000;

/// Longest password, in bytes: bcrypt looks at no more of it.
pub const PASSWORD_BYTES_MAX: usize = 72;

/// Failed logins in a row of one user from one address, unless `--login-failures` says otherwise, before logins of that user
/// from there are refused. People mistype less often, and a dictionary has more words.
pub const LOGIN_FAILURES_MAX: u32 = 10;

/// How long logins are refused the first time, and how long at most: it doubles. A program whose password has been corrected
/// waits for the longer one at worst; a guesser has 40 guesses an hour.
pub const LOGIN_REFUSED_MIN: Duration = Duration::from_secs(15);
pub const LOGIN_REFUSED_MAX: Duration = Duration::from_secs(15 * 60);

/// How long failed logins are remembered: longer than logins are refused, or each refusal would be the first.
pub const LOGIN_FAILURES_KEPT: Duration = Duration::from_secs(60 * 60);

/// Addresses whose failed logins are counted, and names that an address has counts of their own for: together they take less
/// than 10 MB. Further names of an address share one count.
pub const LOGIN_ADDRESSES_MAX: usize = 1024;
pub const LOGIN_NAMES_MAX: usize = 32;

/// Longest file of users or rights of SimpleAuthenticator, in bytes: it is read at each login.
pub const USERS_FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Shortest token of the status port, in bytes: nothing limits how often one may guess.
pub const STATUS_TOKEN_BYTES_MIN: usize = 16;

/// Entries of a directory that are looked at for the files of another program before the first start in it.
pub const FOREIGN_ENTRIES_MAX: usize = 10_000;

/// Keyspaces that are named in the log at the start; the others are counted.
pub const LOGGED_KEYSPACES_MAX: usize = 20;

/// Passwords that are hashed at one time, each by a thread of its own; other logins wait. More would take the
/// processors from the requests.
pub const HASHES_AT_ONCE_MAX: usize = 2;

/// Rows that one request reads from or writes to a cluster side by side.
pub const CLUSTER_ROWS_AT_ONCE: usize = 64;

/// Parts into which the ring of a cluster is cut for a batch job: each is an item of one reply. Parts of larger rings
/// have more rows than was asked for.
pub const CLUSTER_SPLITS_MAX: usize = 10_000;

/// Longest manifest that is written as a whole for each change of it, in bytes: some 100 column families. Changes of a
/// longer one are appended to a file, since to write it again for each of 10,000 column families would be 40 GB.
pub const MANIFEST_BYTES_REPLACED: usize = 64 * 1024;

/// Longest class name of a user type with all that it is made of, in bytes: versions 1 and 2 of the native protocol send
/// it as a text whose length has 16 bits. It is counted without being written: a chain of types that each have the one
/// before twice doubles it with each.
pub const USER_TYPE_TEXT_BYTES_MAX: usize = 65_535;

/// User types of a keyspace: each has some kilobytes at most, and ALTER TYPE looks at all.
pub const USER_TYPES_MAX: usize = 10_000;

/// Keyspaces that clients make. Each takes two kilobytes of memory and of the manifest, and lists of them are one reply.
pub const KEYSPACES_MAX: usize = 10_000;

/// Column families of all keyspaces that clients make: with five columns each takes some five kilobytes of memory and one
/// of the manifest, and drivers read all their definitions when they connect.
pub const FAMILIES_MAX: usize = 100_000;

/// Columns of a table, and of a column family those with a definition of their own: a statement plans all columns, and
/// each takes some hundred bytes of every result's metadata.
pub const TABLE_COLUMNS_MAX: usize = 10_000;

/// Class names of the types of all columns of a table, in bytes: the results of `SELECT *` have them in their metadata.
pub const TABLE_TYPES_TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Columns of a result: as many as a table may have, so that what `SELECT *` returns can be selected by names. Each row
/// has a value for each of them, however little is stored.
pub const SELECTED_COLUMNS_MAX: usize = TABLE_COLUMNS_MAX;

/// Conditions of a CQL statement: one on an element of a map looks through the map.
pub const CONDITIONS_MAX: usize = 1_000;
