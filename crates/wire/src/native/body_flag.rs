//! The flags in the bodies of frames.

/// The flags of a statement's parameters. They have a byte up to version 4, and an `[int]` in version 5.
pub mod parameter_flag {
    /// The values of the markers follow.
    pub const VALUES: u32 = 0x01;
    /// The result needs no metadata of its columns.
    pub const SKIP_METADATA: u32 = 0x02;
    /// The number of rows of a page follows.
    pub const PAGE_SIZE: u32 = 0x04;
    /// The place follows where the page begins.
    pub const PAGING_STATE: u32 = 0x08;
    /// The consistency level of conditions follows.
    pub const SERIAL_CONSISTENCY: u32 = 0x10;
    /// The default timestamp follows. From version 3 on.
    pub const TIMESTAMP: u32 = 0x20;
    /// The values have the names of their markers. From version 3 on.
    pub const NAMES: u32 = 0x40;
    /// The keyspace of the statement follows. From version 5 on.
    pub const KEYSPACE: u32 = 0x80;
    /// The present time follows. From version 5 on.
    pub const NOW_IN_SECONDS: u32 = 0x100;
}

/// The flags of a result's metadata.
pub mod metadata_flag {
    /// All columns are of one table, which precedes them.
    pub const GLOBAL_TABLE: i32 = 0x01;
    /// There are more pages: the place of the next one follows.
    pub const MORE_PAGES: i32 = 0x02;
    /// The columns are omitted, because the client knows them.
    pub const NO_METADATA: i32 = 0x04;
    /// The columns have changed: their new id follows. From version 5 on.
    pub const CHANGED: i32 = 0x08;
}
