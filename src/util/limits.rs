//! Every limit of the server, each with its reason.

use std::time::Duration;

/// Longest row key, super column name and column name, in bytes: old servers write the length as a u16.
pub const NAME_BYTES_MAX: usize = 65_535;

/// Longest Thrift message, in bytes. 0.6 had no limit, 0.7 and later had 15 MiB. The limit bounds the memory of one
/// message: a client cannot reserve memory by announcing a length.
pub const MESSAGE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Longest body of a native-protocol frame, in bytes, compressed and decompressed: as from Cassandra 1.2 on.
pub const NATIVE_FRAME_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Longest body of a request before the login or handshake is complete, in bytes: such requests have names, a password
/// and settings.
pub const HANDSHAKE_BYTES_MAX: usize = 64 * 1024;

/// Values of one result, in bytes: a larger result would not fit in a frame. A result is collected before it is sent.
pub const RESULT_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Requests of one native-protocol connection that run at the same time. Further requests stay unread.
pub const NATIVE_REQUESTS_MAX: usize = 1024;

/// How many of the last traces are stored, and the length of each text in them, in bytes.
pub const TRACES_MAX: usize = 512;
pub const TRACE_TEXT_BYTES_MAX: usize = 1024;

/// Deepest nesting of skipped structs, maps and lists in a message. The deepest in the API is 8.
pub const NESTING_MAX: usize = 64;

/// Longest method name that is looked up; the longest in the API has 28 characters.
pub const METHOD_NAME_BYTES_MAX: usize = 256;

/// Memory of all incoming messages and of all unread replies, in bytes. `MESSAGE_BYTES_MAX` is the limit of one
/// message.
pub const MESSAGES_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// A buffer of a connection up to this many bytes is not counted against `MESSAGES_BYTES_MAX`, and is kept while the
/// connection is idle.
pub const MESSAGE_BYTES_FREE: usize = 64 * 1024;

/// The same limit if there are many connections: together the uncounted buffers take at most `FREE_BYTES_OF_ALL`,
/// shared equally, but each connection has at least `MESSAGE_BYTES_FREE_MIN`. 10,000 buffers of 64 KiB would take more
/// memory than a small container has.
pub const FREE_BYTES_OF_ALL: usize = 16 * 1024 * 1024;
pub const MESSAGE_BYTES_FREE_MIN: usize = 8 * 1024;

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

/// The memory of a request that is not counted against the memory of all requests, in bytes, and the minimum that it
/// takes from that memory if it needs more. Most requests need less than the first, so they do not write to memory that
/// processors share.
pub const REQUEST_BYTES_FREE: usize = 16 * 1024;
pub const REQUEST_CHUNK_BYTES: usize = 64 * 1024;

/// How long a request waits for memory that others hold, in milliseconds, before it is refused: less than clients wait
/// for a reply.
pub const REQUEST_MEMORY_WAIT_MS: u64 = 5_000;

/// How long a request continues after its client has stopped sending, in milliseconds. The client may have shut down
/// only its side and still read.
pub const REQUEST_AFTER_CLIENT_MS: u64 = 2_000;

/// Cells and rows that a request processes on a shared thread before other tasks run: a millisecond or less.
pub const REQUEST_WORK_PER_TURN: usize = 1_024;

/// The cost of looking up a row or partition, in cells.
pub const ROW_WORK: usize = 8;

/// Cells that are read between two checks of the time and memory of a request.
pub const CELLS_PER_CHECK: usize = 256;

/// Bytes and rows that a scan reads at a time, before other work of the disk threads runs.
pub const SCAN_PIECE_BYTES: usize = 1024 * 1024;
pub const SCAN_PIECE_ROWS: usize = 4_096;

/// How long a message waits for its part of `MESSAGES_BYTES_MAX`, in seconds, before it is refused: as long as old
/// clients wait for a reply (the default socket timeout of most libraries is 10 s or less).
pub const MEMORY_WAIT_S: u64 = 10;

/// Large replies that are made again at the same time, once there is memory for them: each needs memory for its rows,
/// too.
pub const REPLIES_MADE_AGAIN_MAX: usize = 2;

/// Connections that are open at the same time. A further one waits until one of them ends.
pub const CONNECTIONS_MAX: usize = 10_000;

/// How many of these may be without a completed TLS handshake, login or request. If one more arrives, the oldest is
/// closed: silent connections must leave room for others. A client that opens a pool sends its first requests long
/// before 5,000 other connections arrive.
pub const UNPROVEN_CONNECTIONS_MAX: usize = CONNECTIONS_MAX / 2;

/// Time limit for the handshake of a native-protocol client, in seconds. Drivers send STARTUP at once, so this is
/// generous. Thrift clients have no such limit: pools open connections long before they use them.
pub const NATIVE_HANDSHAKE_S: u64 = 60;

/// How long a client may pause within a message, or in reading a reply, in seconds. Longer than a slow network needs to
/// find another route, and than the longest pauses of most garbage collectors.
pub const PROGRESS_GRACE_S: u64 = 60;

/// Minimum average rate at which a message arrives or a reply is read, in bytes a second: half of the rate of a modem
/// with 14,400 bit/s. A slower client uses up `PROGRESS_GRACE_S` and is then disconnected.
pub const PROGRESS_BYTES_PER_S: u64 = 1024;

/// The same two limits for a connection that holds memory which others wait for: a pause in milliseconds and a rate in
/// bytes a second. Any local network is a hundred times as fast.
pub const SCARCE_GRACE_MS: u64 = 2_000;
pub const SCARCE_BYTES_PER_S: u64 = 64 * 1024;

/// TCP keepalive: idle time before the first probe and interval of probes, in seconds, and the number of unanswered
/// probes that close the connection. The first probe is sent before firewalls forget a connection, which most do after
/// an hour, and some after five minutes.
pub const KEEPALIVE_IDLE_S: u64 = 240;
pub const KEEPALIVE_INTERVAL_S: u64 = 30;
pub const KEEPALIVE_PROBES: u32 = 8;

/// For how long equal log lines about connections are counted instead of repeated, in seconds; how many different lines
/// are remembered in that time, and how many bytes of each. Clients can influence the text of these lines.
pub const LOG_PERIOD_S: u64 = 60;
pub const LOG_KINDS_MAX: usize = 32;
pub const LOG_KIND_BYTES_MAX: usize = 256;

/// Connections to the status port at the same time, and the longest request there, in bytes: clients send one line and
/// a few headers.
pub const STATUS_CONNECTIONS_MAX: usize = 16;
pub const STATUS_REQUEST_BYTES_MAX: usize = 8 * 1024;

/// Connections to the control port at the same time: test programs have one each, and keep it open.
pub const CONTROL_CONNECTIONS_MAX: usize = 256;

/// Longest body of a request to the control port, in bytes, and how long it and the request's work may take, in
/// seconds: data that is loaded is larger than anything else, and a hundred megabytes load in some seconds.
pub const CONTROL_BODY_BYTES_MAX: usize = 256 * 1024 * 1024;
pub const CONTROL_REQUEST_S: u64 = 120;

/// How long a client of the control port may be silent between two requests, in seconds. Test programs connect again.
pub const CONTROL_SILENCE_S: u64 = 60;

/// Connections to the admin server at the same time: a browser opens six, a monitoring system one. The longest head of a
/// request there, in bytes: browsers send the cookies of all servers of a machine, and paths name keys and columns.
pub const ADMIN_CONNECTIONS_MAX: usize = 64;
pub const ADMIN_HEAD_BYTES_MAX: usize = 128 * 1024;

/// Longest form of a page, in bytes: statements and rows that somebody types or pastes.
pub const ADMIN_FORM_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Rows, and cells and range tombstones of a row, on one page of the console; characters of a key, name or value there,
/// of which many are on a page; bytes of the rows that are read for one page, and of one value that is shown as a whole.
pub const ADMIN_PAGE_ROWS: usize = 100;
pub const ADMIN_PAGE_CELLS: usize = 100;
pub const ADMIN_PAGE_RANGES: usize = 100;
pub const ADMIN_SHOWN_CHARS: usize = 200;
pub const ADMIN_PAGE_BYTES_MAX: usize = 1024 * 1024;
pub const ADMIN_VALUE_CHARS_MAX: usize = 256 * 1024;

/// What one request of the console's page Ask reads and shows: rows of a result, columns of a row and rows of a Thrift
/// call, cells that are drawn, and requests to the store that are explained. Bytes of a result's values in JSON, and of
/// the names and values of its cells.
pub const ASK_ROWS_MAX: usize = 1000;
pub const ASK_COLUMNS_MAX: usize = 10_000;
pub const ASK_CELLS_MAX: usize = 500;
pub const ASK_REQUESTS_MAX: usize = 1000;
pub const ASK_BYTES_MAX: usize = 2 * 1024 * 1024;

/// A sketch of the page /model: bytes of each of its two texts, column families, sketches that run at the same time,
/// memory of the statements of each in bytes, seconds that it may run, and seconds that a sketch waits for others.
pub const SKETCH_TEXT_BYTES_MAX: usize = 256 * 1024;
pub const SKETCH_FAMILIES_MAX: usize = 30;
pub const SKETCHES_MAX: usize = 2;
pub const SKETCH_MEMORY_BYTES: usize = 64 * 1024 * 1024;
pub const SKETCH_S: u64 = 10;
pub const SKETCH_WAIT_S: u64 = 15;

/// Rows of a column family that a sketch shows, cells of all of them, and queries of it that are tried; characters of a
/// script that a sketch makes.
pub const SKETCH_ROWS: usize = 100;
pub const SKETCH_CELLS: usize = 500;
pub const SKETCH_QUERIES_MAX: usize = 40;
pub const SKETCH_SCRIPT_BYTES_MAX: usize = 512 * 1024;

/// How long the body of a request to a page and its work may take, and how long a client may be silent between two
/// requests, in seconds. Browsers connect again.
pub const ADMIN_REQUEST_S: u64 = 30;
pub const ADMIN_SILENCE_S: u64 = 60;

/// Sessions of the admin server at the same time; how long one lasts, and how long it lasts without a request, in
/// seconds: a working day, and a long lunch.
pub const ADMIN_SESSIONS_MAX: usize = 1000;
pub const ADMIN_SESSION_S: u64 = 12 * 60 * 60;
pub const ADMIN_SESSION_SILENCE_S: u64 = 2 * 60 * 60;

/// Requests that followers of the admin server get in a second: more than a person can read.
pub const LIVE_REQUESTS_PER_S: u64 = 200;

/// The slowest requests of a minute that the admin server lists, the seconds of such a minute, and for how many minutes:
/// together about 1 MB.
pub const SLOW_REQUESTS_OF_MINUTE: usize = 20;
pub const SLOW_MINUTE_S: u64 = 60;
pub const SLOW_MINUTES_MAX: usize = 60;

/// Different texts of errors that the admin server counts. Clients can influence these texts.
pub const ERROR_TEXTS_MAX: usize = 200;

/// Length in characters of a key, a statement or an error that the admin server keeps of a past request.
pub const SUMMARY_CHARS_MAX: usize = 240;

/// For how long the console follows requests for a browser without scripts, in seconds, and how many it lists.
pub const LIVE_WATCH_S: u64 = 10;
pub const LIVE_LIST_MAX: usize = 200;

/// Lines of the log of requests that wait for the disk: at 8 KB each, 32 MB. Further lines are left out and counted.
pub const LINES_WAITING_MAX: usize = 4096;

/// Snapshots of the whole database on a server with a control port, and the length of their names: tests have some.
/// Each can add a layer that reads must search.
pub const SNAPSHOTS_MAX: usize = 100;
pub const SNAPSHOT_NAME_CHARS_MAX: usize = 100;

/// Sandboxes of a server with a control port: tests that run at the same time have one each. Each has a thread and two
/// ports.
pub const SANDBOXES_MAX: usize = 256;

/// Longest file of certificates or of a key, in bytes: four times the size of all authorities that a browser knows.
pub const PEM_BYTES_MAX: usize = 1024 * 1024;

/// Longest password file, in bytes: a password is one line.
pub const PASSWORD_FILE_BYTES_MAX: usize = 64 * 1024;

/// Bytes of unsent replies of one connection before they are sent ahead of answering the next pipelined call.
pub const REPLY_BYTES_BEFORE_FLUSH: usize = 64 * 1024;

/// After a longer message, in bytes, a connection replaces its input buffer, which would otherwise keep the memory of
/// the message.
pub const IDLE_BUFFER_BYTES_MAX: usize = 64 * 1024;

/// Maximum time to live, in seconds: 20 years, as in Cassandra from 1.1.6 on.
pub const TTL_MAX_S: i32 = 20 * 365 * 24 * 60 * 60;

/// Latest expiry of a column in 2.1, in seconds since 1970.
pub const EXPIRY_MAX_S: i32 = i32::MAX;

/// Longest name of a keyspace or column family that clients make, in characters: as from Cassandra 1.1 on.
pub const SCHEMA_NAME_CHARS_MAX: usize = 48;

/// Longest DecimalType value, in bytes: comparison takes quadratic time. Such a number has 9,800 digits.
pub const DECIMAL_BYTES_MAX: usize = 4 * 1024;

/// Longest text of a type in a schema, in bytes, and deepest nesting of types in it: comparison recurses once for each
/// level.
pub const TYPE_TEXT_BYTES_MAX: usize = 16 * 1024;
pub const TYPE_NESTING_MAX: usize = 16;

/// Memory of all prepared statements, in bytes, estimated from their texts.
pub const PREPARED_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Longest text of a prepared statement, in bytes: one statement must not displace all others.
pub const PREPARED_STATEMENT_BYTES_MAX: usize = 1024 * 1024;

/// Prepared CQL 2 statements of one connection, and the bytes of their texts together: there may be `CONNECTIONS_MAX`
/// connections.
pub const CQL2_PREPARED_MAX: usize = 256;
pub const CQL2_PREPARED_BYTES_MAX: usize = 64 * 1024;

/// Longest element of a collection that stores a cell for each element, in bytes: the length is a u16 in the cell's
/// name and in the older encoding of collections.
pub const CQL_ELEMENT_BYTES_MAX: usize = 65_535;

/// Longest CQL statement, in bytes, after decompression: the longest frame of old servers has 15 MiB.
pub const STATEMENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Tokens of a CQL statement, including spaces: each takes 20 bytes, plus its syntax tree.
pub const STATEMENT_TOKENS_MAX: usize = 2_000_000;

/// Deepest nesting of terms, types, selectors and relations in a CQL statement: the parser is recursive.
pub const STATEMENT_NESTING_MAX: usize = 50;

/// Markers of a CQL statement: the protocols count them with 16 bits.
pub const MARKERS_MAX: usize = 65_535;

/// Statements of a CQL batch: the native protocol counts them with 16 bits.
pub const BATCH_STATEMENTS_MAX: usize = 65_535;

/// Properties of a table or keyspace in a CQL statement: each is compared with those before it.
pub const PROPERTIES_MAX: usize = 1_000;

/// Roles of the server: the permissions that each role inherits are precomputed, which may take quadratic memory.
pub const ROLES_MAX: usize = 2_000;

/// Longest password, in bytes: bcrypt ignores further bytes.
pub const PASSWORD_BYTES_MAX: usize = 72;

/// Consecutive failed logins of one user from one address before further logins of that user from that address are
/// refused; `--login-failures` changes it. Mistyping users fail less often, and a dictionary attack needs more
/// attempts.
pub const LOGIN_FAILURES_MAX: u32 = 10;

/// How long logins are refused the first time, and at most: the time doubles. A program whose password has been
/// corrected waits for the maximum at worst; an attacker has 40 attempts an hour.
pub const LOGIN_REFUSED_MIN: Duration = Duration::from_secs(15);
pub const LOGIN_REFUSED_MAX: Duration = Duration::from_secs(15 * 60);

/// How long failed logins are remembered: longer than logins are refused, otherwise each refusal would be the first.
pub const LOGIN_FAILURES_KEPT: Duration = Duration::from_secs(60 * 60);

/// Addresses whose failed logins are counted, and names of an address that are counted separately: together less than
/// 10 MB. Further names of an address share one count.
pub const LOGIN_ADDRESSES_MAX: usize = 1024;
pub const LOGIN_NAMES_MAX: usize = 32;

/// Longest file of users or rights of SimpleAuthenticator, in bytes: it is read at each login.
pub const USERS_FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Shortest token of the status port, in bytes: the number of attempts is not limited.
pub const STATUS_TOKEN_BYTES_MIN: usize = 16;

/// Entries of a new data directory that are checked for files of another program before the first start.
pub const FOREIGN_ENTRIES_MAX: usize = 10_000;

/// Keyspaces that are listed in the log at startup; further ones are counted.
pub const LOGGED_KEYSPACES_MAX: usize = 20;

/// Passwords that are hashed at the same time, each by its own thread; further logins wait. More would take the
/// processors from requests.
pub const HASHES_AT_ONCE_MAX: usize = 2;

/// Rows of a cluster that one request reads or writes concurrently.
pub const CLUSTER_ROWS_AT_ONCE: usize = 64;

/// Maximum number of splits of a cluster's ring for a batch job: each is an item of one reply. Splits of larger rings
/// have more rows than requested.
pub const CLUSTER_SPLITS_MAX: usize = 10_000;

/// Longest manifest that is rewritten for each change, in bytes: some 100 column families. Changes of a longer manifest
/// are appended to a file, because rewriting it for each of 10,000 column families would write 40 GB.
pub const MANIFEST_BYTES_REPLACED: usize = 64 * 1024;

/// Longest class name of a user type including its field types, in bytes: versions 1 and 2 of the native protocol send
/// it as a text with a 16-bit length. The length is computed without building the text, because a chain of types that
/// each contain the previous type twice doubles it each time.
pub const USER_TYPE_TEXT_BYTES_MAX: usize = 65_535;

/// User types of a keyspace: each takes a few kilobytes at most, and ALTER TYPE reads all.
pub const USER_TYPES_MAX: usize = 10_000;

/// Keyspaces that clients create. Each takes two kilobytes of memory and of the manifest, and they are listed in one
/// reply.
pub const KEYSPACES_MAX: usize = 10_000;

/// Column families that clients create, of all keyspaces: with five columns each takes some five kilobytes of memory
/// and one of the manifest, and drivers read all definitions when they connect.
pub const FAMILIES_MAX: usize = 100_000;

/// Columns of a table, or defined columns of a column family: a statement is planned with all columns, and each takes
/// some hundred bytes of each result's metadata.
pub const TABLE_COLUMNS_MAX: usize = 10_000;

/// Class names of the types of all columns of a table, in bytes: they are in the metadata of `SELECT *`.
pub const TABLE_TYPES_TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Columns of a result: as many as a table may have, so that all columns can be selected by name. Each row has a value
/// for each of them, even if little is stored.
pub const SELECTED_COLUMNS_MAX: usize = TABLE_COLUMNS_MAX;

/// Conditions of a CQL statement: a condition on an element of a map searches the map.
pub const CONDITIONS_MAX: usize = 1_000;

/// Combinations of the values of several IN relations in a CQL statement. One IN alone is limited by the length of the
/// statement.
pub const IN_COMBINATIONS_MAX: usize = 65_535;

/// Rules of faults that tests may set at the same time.
pub const FAULT_RULES_MAX: usize = 1_000;

/// Requests that the journal of a server under control keeps.
pub const JOURNAL_ENTRIES_MAX: usize = 10_000;

/// Expectations of a request that verifies the journal: each is compared with all requests in it.
pub const EXPECTATIONS_MAX: usize = 1_000;

/// Words and signs of a statement of cassandra-cli, and maps in each other: the attributes of a column family with all its
/// columns have some thousand words, and two maps.
pub const CLI_STATEMENT_TOKENS_MAX: usize = 100_000;
pub const CLI_MAPS_DEPTH_MAX: usize = 8;

/// Requests by which a client that reads the stream of requests may be behind.
pub const STREAM_BEHIND_MAX: usize = 1_000;

/// Length in characters of one text among the arguments of a request in the journal, and of all its texts together.
/// Statements are only limited by the second.
pub const JOURNAL_TEXT_CHARS_MAX: usize = 1_000;
pub const JOURNAL_ARGUMENTS_CHARS_MAX: usize = 4_000;

/// Elements of all lists and maps among the arguments of a request in the journal.
pub const JOURNAL_ELEMENTS_MAX: usize = 64;

/// Causes of differences that a report lists. Differences of other causes are only counted.
pub const REPORT_CAUSES_MAX: usize = 200;

/// Methods, column families, clients, rules and reasons that a report lists, each. All others are counted together.
/// Methods have two distributions of latencies with 20 KB each.
pub const REPORT_METHODS_MAX: usize = 200;
pub const REPORT_FAMILIES_MAX: usize = 1_000;
pub const REPORT_CLIENTS_MAX: usize = 200;
pub const REPORT_RULES_MAX: usize = 200;
/// Methods and column families that a report lists for one cause.
pub const REPORT_NAMES_OF_CAUSE_MAX: usize = 20;

/// Length in characters of a name in a report, and of an answer that differs. Longer ones are cut.
pub const REPORT_NAME_CHARS_MAX: usize = 200;
pub const REPORT_TEXT_CHARS_MAX: usize = 2_000;

/// Calls of the reproduction of a cause, and bytes of their requests. Of a longer reproduction the last calls are kept.
pub const REPORT_REPRODUCTION_CALLS_MAX: usize = 200;
pub const REPORT_REPRODUCTION_BYTES_MAX: usize = 128 * 1024;

/// Values of one recorded message that is decoded: each takes 40 bytes or more in memory, however short it is in the
/// message.
pub const TRAFFIC_VALUES_MAX: usize = 1_000_000;

/// Longest message that a recording has, in bytes: four times the limit of old servers. A reader of recordings has the
/// memory of a block, which is this long at most. Longer messages pass the recorder, and are counted as lost.
pub const RECORDED_MESSAGE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Events of a block of a recording in bytes, before compression: larger blocks are hardly shorter when compressed, and
/// a killed recorder loses the events of its last block.
pub const RECORDING_BLOCK_BYTES: usize = 256 * 1024;

/// How old the events of a block of a recording may be before it is written, in milliseconds: so much is lost if the
/// recorder is killed.
pub const RECORDING_BLOCK_MS: u64 = 1_000;

/// Connections and names in the index of a block, the length of a name in bytes, and the length of an index that is
/// read, in bytes. Blocks with more are not skipped by readers.
pub const RECORDING_INDEX_CONNECTIONS_MAX: usize = 4_096;
pub const RECORDING_INDEX_NAMES_MAX: usize = 1_000;
pub const RECORDING_NAME_BYTES_MAX: usize = 256;
pub const RECORDING_INDEX_BYTES_MAX: usize = 1024 * 1024;

/// Longest JSON in the head of a recording, in bytes: it has the addresses of upstreams.
pub const RECORDING_HEADER_BYTES_MAX: usize = 1024 * 1024;

/// Calls of a recording without a reply so far whose method is known, for all connections, and prepared statements whose
/// column family is known: some hundred bytes each. Further ones are labelled as unknown.
pub const RECORDING_OPEN_CALLS_MAX: usize = 65_536;
pub const RECORDING_STATEMENTS_MAX: usize = 10_000;

/// Connections of a recording that are open at the same time, as far as readers know their protocol.
pub const RECORDING_CONNECTIONS_MAX: usize = 1_000_000;

/// Bytes of the code of all reproductions of a report. Reproductions after them are without code.
pub const REPORT_SNIPPETS_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Prepared statements of a recording whose texts are known, and bytes of these texts. Applications have hundreds.
pub const TRAFFIC_PREPARED_MAX: usize = 100_000;
pub const TRAFFIC_PREPARED_BYTES_MAX: usize = 32 * 1024 * 1024;
/// Statements that one recorded connection prepares over Thrift, which has ids for each connection.
pub const TRAFFIC_PREPARED_OF_CONNECTION_MAX: usize = 10_000;

/// Ids of prepared statements and states of paging that a replay translates: some hundred bytes each. Later ones are
/// unknown, and their requests are counted as not compared.
pub const TRAFFIC_HANDLES_MAX: usize = 200_000;

/// Bytes that wait for the recorder of traffic, and bytes of messages that have arrived in part there: traffic that is
/// faster than the recorder for longer is counted as lost.
pub const RECORDER_QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;
pub const RECORDER_PARTIAL_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Bytes of the secret of a redaction.
pub const REDACTION_KEY_BYTES_MAX: u64 = 64 * 1024;

/// Calls of one Thrift connection without a reply that the recorder knows: clients of the time send one at a time.
pub const RECORDER_OPEN_CALLS_MAX: usize = 65_536;

/// Connections of a recorder that are open at the same time. Each has two sockets and two buffers of 8 KiB.
pub const RECORDER_CONNECTIONS_MAX: usize = 100_000;

/// Longest line of a recording that is JSON, in bytes: a message of the longest kind in hex, with room for its names.
pub const JSON_LINE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Rows of which a replay knows that the recording wrote them: 16 bytes each. Reads of further rows count as reads of
/// other data.
pub const TRAFFIC_OWN_ROWS_MAX: usize = 10_000_000;

/// Causes of differences that a replay shrinks, and bytes of the messages before a call that is shrunk: they are in memory.
pub const SHRUNK_CAUSES_MAX: usize = 20;
pub const SHRUNK_BYTES_MAX: usize = 512 * 1024 * 1024;

/// Bytes that passed a shadow and are not decoded yet. Further bytes are counted and not compared.
pub const SHADOW_QUEUE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Bytes of requests and replies that wait until a slower candidate has answered earlier calls. Further calls are counted
/// and not sent to the candidate.
pub const SHADOW_BACKLOG_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Longest value in a file of an old server that is read, in bytes: as in Cassandra 3.x. Longer ones are damage, because
/// no message had room for them.
pub const SSTABLE_VALUE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Largest compressed chunk or block with a checksum in a file of an old server, in bytes. The default is 64 KiB, and a
/// chunk must be in memory as a whole.
pub const SSTABLE_CHUNK_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Options of the compressor of an SSTable: Cassandra has three.
pub const SSTABLE_COMPRESSION_OPTIONS_MAX: i32 = 1_000;
