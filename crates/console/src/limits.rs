//! The limits of this layer, each with its reason.

/// Longest form of a page, in bytes: statements and rows that somebody types or pastes.
pub const ADMIN_FORM_BYTES_MAX: usize = 2 * 1024 * 1024;

/// Rows, and cells and range tombstones of a row, on one page of the console; characters of each key, name or value
/// there; bytes of the rows that are read for one page, and of one value that is shown as a whole.
pub const ADMIN_PAGE_ROWS: usize = 100;
pub const ADMIN_PAGE_CELLS: usize = 100;
pub const ADMIN_PAGE_RANGES: usize = 100;
pub const ADMIN_SHOWN_CHARS: usize = 200;
pub const ADMIN_PAGE_BYTES_MAX: usize = 1024 * 1024;
pub const ADMIN_VALUE_CHARS_MAX: usize = 256 * 1024;

/// The limits of one request of the console's page Ask: rows of a result, columns of a row and rows of a Thrift call,
/// cells that are drawn, and requests to the store that are explained. Bytes of a result's values in JSON, and of the
/// names and values of its cells.
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

/// Seconds that the body of a request to a page and its work may take, and seconds that a client may be silent between
/// two requests. Browsers connect again.
pub const ADMIN_REQUEST_S: u64 = 30;
pub const ADMIN_SILENCE_S: u64 = 60;

/// Sessions of the admin server at the same time; how long one lasts, and how long it lasts without a request, in
/// seconds: a working day, and a long lunch.
pub const ADMIN_SESSIONS_MAX: usize = 1000;
pub const ADMIN_SESSION_S: u64 = 12 * 60 * 60;
pub const ADMIN_SESSION_SILENCE_S: u64 = 2 * 60 * 60;

/// For how long the console follows requests for a browser without scripts, in seconds, and how many it lists.
pub const LIVE_WATCH_S: u64 = 10;
pub const LIVE_LIST_MAX: usize = 200;

/// Highest rate at which tables of a running server are verified, in bytes a second: a tenth of what a slow solid-state
/// disk reads, so that requests have the rest. A terabyte takes nine hours.
pub const VERIFIED_BYTES_PER_S: u64 = 32 << 20;
