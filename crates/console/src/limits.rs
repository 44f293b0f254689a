//! The limits of this layer, each with its reason.

/// Longest form of a page, in bytes: statements and rows that somebody types or pastes.
pub const ADMIN_FORM_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Rows on one page of the console. People go on to the next page.
pub const ADMIN_PAGE_ROWS: usize = 100;
/// Cells of a row on one page.
pub const ADMIN_PAGE_CELLS: usize = 100;
/// Range tombstones of a row on one page.
pub const ADMIN_PAGE_RANGES: usize = 100;
/// Characters of each key, name or value on a page.
pub const ADMIN_SHOWN_CHARS: usize = 200;
/// Bytes of the rows that are read for one page.
pub const ADMIN_PAGE_BYTES_MAX: usize = 1024 * 1024;
/// Characters of one value that is shown as a whole.
pub const ADMIN_VALUE_CHARS_MAX: usize = 256 * 1024;

/// The time in which the first page counts rows, in milliseconds: pages must be there within 100.
pub const CENSUS_MS: u64 = 40;
/// Column families of which it counts a piece even if a busy machine has no time left.
pub const CENSUS_FAMILIES_MIN: usize = 20;
/// Bytes of a column family after which the first page does not count on.
pub const CENSUS_FAMILY_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// Bytes of rows that are read at once for that. Reading them takes about a millisecond.
pub const CENSUS_PIECE_BYTES: usize = 128 * 1024;

/// Look-ups of rows whose key is a value that a page shows.
pub const KIN_LOOKUPS_MAX: usize = 300;
/// Look-ups that a page makes even if a busy machine has no time left.
pub const KIN_LOOKUPS_MIN: usize = 30;
/// The time for them, in milliseconds.
pub const KIN_MS: u64 = 25;
/// Bytes of a value that is looked up as a key.
pub const KIN_KEY_BYTES_MAX: usize = 128;

/// Rows of a result on the page Ask, and rows of a Thrift call there.
pub const ASK_ROWS_MAX: usize = 1000;
/// Columns of all rows of a Thrift call on the page Ask.
pub const ASK_COLUMNS_MAX: usize = 10_000;
/// Cells that the page Ask draws.
pub const ASK_CELLS_MAX: usize = 500;
/// Requests to the store that the page Ask explains.
pub const ASK_REQUESTS_MAX: usize = 1000;
/// Bytes of a result's values in JSON, and of the names and values of its cells, on the page Ask.
pub const ASK_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Bytes of each of the two texts of a sketch, on the page /model: a sketch needs a few rows.
pub const SKETCH_TEXT_BYTES_MAX: usize = 256 * 1024;
/// Column families of a sketch.
pub const SKETCH_FAMILIES_MAX: usize = 30;
/// Sketches that run at the same time. Each has a database.
pub const SKETCHES_MAX: usize = 2;
/// Memory of the statements of a sketch, in bytes.
pub const SKETCH_MEMORY_BYTES: usize = 64 * 1024 * 1024;
/// Seconds that a sketch may run.
pub const SKETCH_S: u64 = 10;
/// Seconds that a sketch waits for others.
pub const SKETCH_WAIT_S: u64 = 15;

/// Rows of a column family that a sketch shows.
pub const SKETCH_ROWS: usize = 100;
/// Cells of all these rows.
pub const SKETCH_CELLS: usize = 500;
/// Queries of a column family that are tried.
pub const SKETCH_QUERIES_MAX: usize = 40;
/// Bytes of a script that a sketch makes.
pub const SKETCH_SCRIPT_BYTES_MAX: usize = 512 * 1024;

/// Seconds that the body of a request to a page and its work may take.
pub const ADMIN_REQUEST_S: u64 = 30;
/// Seconds that a client may be silent between two requests. Browsers connect again.
pub const ADMIN_SILENCE_S: u64 = 60;

/// Sessions of the admin server at the same time.
pub const ADMIN_SESSIONS_MAX: usize = 1000;
/// The time of a session, in seconds: a working day.
pub const ADMIN_SESSION_S: u64 = 12 * 60 * 60;
/// The time of a session without a request, in seconds: a long lunch.
pub const ADMIN_SESSION_SILENCE_S: u64 = 2 * 60 * 60;

/// For how long the console follows requests for a browser without scripts, in seconds.
pub const LIVE_WATCH_S: u64 = 10;
/// Requests that the console then lists.
pub const LIVE_LIST_MAX: usize = 200;

/// Highest rate at which tables of a running server are verified, in bytes a second: a tenth of what a slow solid-state
/// disk reads, so that requests have the rest. A terabyte takes nine hours.
pub const VERIFIED_BYTES_PER_S: u64 = 32 << 20;
