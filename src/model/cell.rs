//! A cell, and the deletion times that shadow cells.

use bytes::Bytes;

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    Live,
    /// A tombstone, made at this second of the server's clock. It is kept until gc_grace has passed.
    Deleted {
        local_deletion_time: i32,
    },
}

/// One column: the smallest thing that is written, under the client's own timestamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub name: Bytes,
    /// Empty in a tombstone.
    pub value: Bytes,
    /// Chosen by the client, microseconds by custom; only compared.
    pub timestamp: i64,
    pub kind: CellKind,
}

impl Cell {
    pub fn live(name: Bytes, value: Bytes, timestamp: i64) -> Cell {
        Cell { name, value, timestamp, kind: CellKind::Live }
    }

    pub fn tombstone(name: Bytes, timestamp: i64, local_deletion_time: i32) -> Cell {
        Cell { name, value: Bytes::new(), timestamp, kind: CellKind::Deleted { local_deletion_time } }
    }

    pub fn is_live(&self) -> bool {
        self.kind == CellKind::Live
    }

    /// Whether this is a tombstone that has outlived gc_grace: `gc_before` is now less that many seconds.
    pub fn is_purgeable(&self, gc_before: i32) -> bool {
        matches!(self.kind, CellKind::Deleted { local_deletion_time } if local_deletion_time <= gc_before)
    }
}

/// The tombstone of a row or of a super column: it shadows every cell inside that is not newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletionTime {
    /// The client's timestamp of the deletion.
    pub marked_for_delete_at: i64,
    /// The server's second of the deletion, from which gc_grace counts.
    pub local_deletion_time: i32,
}

impl DeletionTime {
    /// Never deleted. A cell written at `i64::MIN` is shadowed even by this: Cassandra never shows one.
    pub const LIVE: DeletionTime =
        DeletionTime { marked_for_delete_at: i64::MIN, local_deletion_time: i32::MIN };

    pub fn is_deleted(&self) -> bool {
        self.marked_for_delete_at > i64::MIN
    }

    pub fn shadows(&self, timestamp: i64) -> bool {
        timestamp <= self.marked_for_delete_at
    }

    /// Both tombstones as one. Cassandra takes the larger of each part separately.
    #[must_use]
    pub fn merged(self, other: DeletionTime) -> DeletionTime {
        DeletionTime {
            marked_for_delete_at: self.marked_for_delete_at.max(other.marked_for_delete_at),
            local_deletion_time: self.local_deletion_time.max(other.local_deletion_time),
        }
    }
}
