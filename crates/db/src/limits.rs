//! The limits of this layer, each with its reason.

#![expect(missing_docs, reason = "one comment explains constants that belong together")]

use std::time::Duration;

/// Longest row key, super column name and column name, in bytes: old servers write the length as a u16.
pub const NAME_BYTES_MAX: usize = 65_535;

/// The number of last traces that are stored, and the length of each text in them, in bytes.
pub const TRACES_MAX: usize = 512;
pub const TRACE_TEXT_BYTES_MAX: usize = 1024;

/// Copies of what a request writes, until it is in the memtable: the entries, and the record of the commit log.
pub const WRITTEN_COPIES: usize = 2;

/// The cost of looking up a row or partition, in cells.
pub const ROW_WORK: usize = 8;

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

/// Maximum time to live, in seconds: 20 years, as in Cassandra from 1.1.6 on.
pub const TTL_MAX_S: i32 = 20 * 365 * 24 * 60 * 60;

/// Latest expiry of a column in 2.1, in seconds since 1970.
pub const EXPIRY_MAX_S: i32 = i32::MAX;

/// Longest name of a keyspace or column family that clients make, in characters: as from Cassandra 1.1 on.
pub const SCHEMA_NAME_CHARS_MAX: usize = 48;

/// Roles of the server: the permissions that each role inherits are precomputed, which may take quadratic memory.
pub const ROLES_MAX: usize = 2_000;

/// Longest password, in bytes: bcrypt ignores further bytes.
pub const PASSWORD_BYTES_MAX: usize = 72;

/// Consecutive failed logins of one user from one address before further logins of that user from that address are
/// refused; `--login-failures` changes it. Mistyping users fail less often, and a dictionary attack needs more
/// attempts.
pub const LOGIN_FAILURES_MAX: u32 = 10;

/// The time for which logins are refused the first time, and at most: the time doubles. A program whose password has
/// been corrected waits for the maximum at worst; an attacker has 40 attempts an hour.
pub const LOGIN_REFUSED_MIN: Duration = Duration::from_secs(15);
pub const LOGIN_REFUSED_MAX: Duration = Duration::from_secs(15 * 60);

/// The time for which failed logins are remembered: longer than logins are refused, otherwise each refusal would be the
/// first.
pub const LOGIN_FAILURES_KEPT: Duration = Duration::from_secs(60 * 60);

/// Addresses whose failed logins are counted, and names of an address that are counted separately: together less than
/// 10 MB. Further names of an address share one count.
pub const LOGIN_ADDRESSES_MAX: usize = 1024;
pub const LOGIN_NAMES_MAX: usize = 32;

/// Longest file of users or rights of SimpleAuthenticator, in bytes: it is read at each login.
pub const USERS_FILE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// Passwords that are hashed at the same time, each by its own thread; further logins wait. More would take the
/// processors from requests.
pub const HASHES_AT_ONCE_MAX: usize = 2;

/// Keyspaces that clients create. Each takes two kilobytes of memory and of the manifest, and they are listed in one
/// reply.
pub const KEYSPACES_MAX: usize = 10_000;

/// Column families that clients create, of all keyspaces: with five columns each takes some five kilobytes of memory
/// and one of the manifest, and drivers read all definitions when they connect.
pub const FAMILIES_MAX: usize = 100_000;

/// Rules of faults that tests may set at the same time.
pub const FAULT_RULES_MAX: usize = 1_000;

/// Requests that the journal of a server under control keeps.
pub const JOURNAL_ENTRIES_MAX: usize = 10_000;

/// Requests by which a client that reads the stream of requests may be behind.
pub const STREAM_BEHIND_MAX: usize = 1_000;

/// Length in characters of one text among the arguments of a request in the journal, and of all its texts together.
/// Statements are only limited by the second.
pub const JOURNAL_TEXT_CHARS_MAX: usize = 1_000;
pub const JOURNAL_ARGUMENTS_CHARS_MAX: usize = 4_000;

/// Elements of all lists and maps among the arguments of a request in the journal.
pub const JOURNAL_ELEMENTS_MAX: usize = 64;
