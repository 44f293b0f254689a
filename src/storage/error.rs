//! What can go wrong in a store.

/// A failure of the store, by what can be done about it.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Writes are refused until an operator has acted or a fault has passed; reads go on.
    #[error("writes are refused: {0}")]
    ReadOnly(String),
    /// Bytes on the disk are not what was written.
    #[error("corrupt data: {0}")]
    Corrupt(String),
    /// The data directory belongs to another schema, partitioner or format.
    #[error("{0}")]
    Mismatch(String),
    /// The disk or the operating system refused.
    #[error("{0}")]
    Io(String),
}
