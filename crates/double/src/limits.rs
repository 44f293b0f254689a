//! The limits of this layer, each with its reason.

/// Longest body of a request to the control port, in bytes, and how long it and the request's work may take, in
/// seconds: data that is loaded is larger than anything else, and a hundred megabytes load in some seconds.
pub const CONTROL_BODY_BYTES_MAX: usize = 256 * 1024 * 1024;
pub const CONTROL_REQUEST_S: u64 = 120;

/// Seconds that a client of the control port may be silent between two requests. Test programs connect again.
pub const CONTROL_SILENCE_S: u64 = 60;

/// Snapshots of the whole database on a server with a control port, and the length of their names: tests have some.
/// Each can add a layer that reads must search.
pub const SNAPSHOTS_MAX: usize = 100;
pub const SNAPSHOT_NAME_CHARS_MAX: usize = 100;

/// Sandboxes of a server with a control port: tests that run at the same time have one each. Each has a thread and two
/// ports.
pub const SANDBOXES_MAX: usize = 256;

/// Expectations of a request that verifies the journal: each is compared with all requests in it.
pub const EXPECTATIONS_MAX: usize = 1_000;

/// Words and signs of a statement of cassandra-cli, and maps in each other: the attributes of a column family with all its
/// columns have some thousand words, and two maps.
pub const CLI_STATEMENT_TOKENS_MAX: usize = 100_000;
pub const CLI_MAPS_DEPTH_MAX: usize = 8;
