//! The limits of this layer, each with its reason.

#![expect(missing_docs, reason = "one comment explains constants that belong together")]

/// Bytes and rows that a scan reads at a time, before other work of the disk threads runs.
pub const SCAN_PIECE_BYTES: usize = 1024 * 1024;
pub const SCAN_PIECE_ROWS: usize = 4_096;

/// Entries of a new data directory that are checked for files of another program before the first start.
pub const FOREIGN_ENTRIES_MAX: usize = 10_000;

/// Longest manifest that is rewritten for each change, in bytes: some 100 column families. Changes of a longer manifest
/// are appended to a file, because rewriting it for each of 10,000 column families would write 40 GB.
pub const MANIFEST_BYTES_REPLACED: usize = 64 * 1024;

/// Characters of a damaged line of a manifest that an error shows: enough for the column families of most changes.
pub const MANIFEST_LINE_SHOWN_CHARS: usize = 500;

/// Changes of the manifest that an archive has not taken yet. It takes them every second; with more, it begins anew. A
/// change shares its entries with the one before.
pub const WATCHED_CHANGES_MAX: usize = 10_000;
