//! The limits of this layer, each with its reason.

/// Longest value in a file of an old server that is read, in bytes: as in Cassandra 3.x. Longer ones are damage, because
/// no message had room for them.
pub const SSTABLE_VALUE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Largest compressed chunk or block with a checksum in a file of an old server, in bytes. The default is 64 KiB, and a
/// chunk must be in memory as a whole.
pub const SSTABLE_CHUNK_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Options of the compressor of an SSTable: Cassandra has three.
pub const SSTABLE_COMPRESSION_OPTIONS_MAX: i32 = 1_000;

/// Keys that are kept of the rows that were skipped because of one damage: a report names fewer, and a whole file may be
/// damaged.
pub const SKIPPED_KEYS_MAX: usize = 100;

/// Largest Statistics file of 4.0 and later that is read, in bytes: its checksums cover whole parts. The part of the types has
/// some 100 bytes for each column.
pub const SSTABLE_STATISTICS_BYTES_MAX: u64 = 64 * 1024 * 1024;
