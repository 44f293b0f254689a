//! The limits of this layer, each with its reason.

/// Longest CQL statement, in bytes, after decompression: the longest frame of old servers has 15 MiB.
pub const STATEMENT_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Tokens of a CQL statement, including spaces: each takes five bytes, plus its syntax tree.
pub(crate) const STATEMENT_TOKENS_MAX: usize = 2_000_000;

/// Tokens of a CQL statement whose memory is charged to the request at a time.
pub(crate) const STATEMENT_TOKENS_PER_CHARGE: usize = 1024;

/// Terms, types, selectors and relations of a CQL statement: eight for each statement of the largest batch.
pub(crate) const STATEMENT_ITEMS_MAX: usize = 8 * BATCH_STATEMENTS_MAX;

/// Memory of each term, type, selector and relation, in bytes, as parsed and as planned.
pub(crate) const STATEMENT_ITEM_BYTES: usize = 128;

/// Memory of each call of a function in addition to [`STATEMENT_ITEM_BYTES`], in bytes, as parsed and as planned.
pub(crate) const FUNCTION_CALL_BYTES: usize = 512;

/// Memory of each statement of a batch in addition to its terms, in bytes, as parsed and as planned.
pub(crate) const BATCH_STATEMENT_BYTES: usize = 1024;

/// Deepest nesting of terms, types, selectors and relations in a CQL statement: the parser is recursive.
pub(crate) const STATEMENT_NESTING_MAX: usize = 50;

/// Markers of a CQL statement: the protocols count them with 16 bits.
pub(crate) const MARKERS_MAX: usize = 65_535;

/// Statements of a CQL batch: the native protocol counts them with 16 bits.
pub(crate) const BATCH_STATEMENTS_MAX: usize = 65_535;

/// Properties of a table or keyspace in a CQL statement: each is compared with those before it.
pub(crate) const PROPERTIES_MAX: usize = 1_000;
