//! The limits of this layer, each with its reason.

/// Longest body of a request to the control port, in bytes: data that is loaded is larger than anything else.
pub const CONTROL_BODY_BYTES_MAX: usize = 256 * 1024 * 1024;
/// Seconds that the body of a request to the control port and its work may take: a hundred megabytes load in some
/// seconds.
pub const CONTROL_REQUEST_S: u64 = 120;

/// Seconds that a client of the control port may be silent between two requests. Test programs connect again.
pub const CONTROL_SILENCE_S: u64 = 60;

/// Snapshots of the whole database on a server with a control port: tests have some. Each can add a layer that reads
/// must search.
pub const SNAPSHOTS_MAX: usize = 100;
/// The length of the names of snapshots, sandboxes and rules, in characters.
pub const SNAPSHOT_NAME_CHARS_MAX: usize = 100;

/// Sandboxes of a server with a control port: tests that run at the same time have one each. Each has a thread and two
/// ports.
pub const SANDBOXES_MAX: usize = 256;

/// Expectations of a request that verifies the journal: each is compared with all requests in it.
pub const EXPECTATIONS_MAX: usize = 1_000;

/// Words and signs of a statement of cassandra-cli: the attributes of a column family with all its columns have some
/// thousand.
pub const CLI_STATEMENT_TOKENS_MAX: usize = 100_000;
/// Maps in each other in a statement of cassandra-cli: the attributes of a column family have two.
pub const CLI_MAPS_DEPTH_MAX: usize = 8;
