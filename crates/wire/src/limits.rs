//! The limits of this layer, each with its reason.

/// Longest Thrift message, in bytes. 0.6 had no limit, 0.7 and later had 15 MiB. The limit bounds the memory of one
/// message: a client cannot reserve memory by announcing a length.
pub const MESSAGE_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Longest body of a native-protocol frame, in bytes, compressed and decompressed: as from Cassandra 1.2 on.
pub const NATIVE_FRAME_BYTES_MAX: usize = 256 * 1024 * 1024;

/// Deepest nesting of skipped structs, maps and lists in a message. The deepest in the API is 8.
pub const NESTING_MAX: usize = 64;

/// Longest method name that is looked up; the longest in the API has 28 characters.
pub const METHOD_NAME_BYTES_MAX: usize = 256;
