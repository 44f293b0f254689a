//! The limits of this layer, each with its reason.

#![expect(missing_docs, reason = "one comment explains constants that belong together")]

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

/// The age of the events in a block of a recording at which it is written, in milliseconds: this much is lost if the
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

/// Prepared statements of a recording whose texts are known, and bytes of these texts. Applications have hundreds. Above
/// them the oldest are forgotten.
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

/// Calls of one Thrift connection without a reply that the recorder knows: clients of the time send one at a time.
pub const RECORDER_OPEN_CALLS_MAX: usize = 65_536;

/// Longest line of a recording that is JSON, in bytes: a message of the longest kind in hex, with room for its names.
pub const JSON_LINE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Rows that a replay remembers as written by the recording: 16 bytes each. Reads of further rows count as reads of
/// other data.
pub const TRAFFIC_OWN_ROWS_MAX: usize = 10_000_000;

/// Values that look like times of the run or like UUIDs, and that a replay remembers as sent by clients: 16 bytes each.
/// Differences in further ones may count as times of servers.
pub const TRAFFIC_SENT_VALUES_MAX: usize = 10_000_000;

/// Bytes of requests and replies that wait until a slower candidate has answered earlier calls. Further calls are counted
/// and not sent to the candidate.
pub const SHADOW_BACKLOG_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Tables that a shadow knows to have no counters: some hundred bytes each. Deletions in further ones get no timestamp.
pub const SHADOW_PLAIN_TABLES_MAX: usize = 100_000;
