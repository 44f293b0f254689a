//! A cell, and the deletion times that shadow cells.

use bytes::Bytes;

use crate::compat::Behaviour;

/// The kind of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// A value that never expires.
    Live,
    /// Live until the second `expires_at_s` of the server's clock, `ttl_s` seconds after it was written. Then it is a
    /// tombstone with that local deletion time.
    Expiring {
        /// The time to live that the client gave, in seconds.
        ttl_s: i32,
        /// Seconds since 1970.
        expires_at_s: i32,
    },
    /// A counter's total: eight bytes, big-endian and signed.
    Counter,
    /// A number that a mutation adds to a counter, in the same form. It is never stored.
    Increment,
    /// A tombstone. `local_deletion_time` is the second of the server's clock from which gc_grace counts.
    Deleted {
        /// Seconds since 1970.
        local_deletion_time: i32,
    },
}

/// One column, with the client's timestamp.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// Bytes that are valid for the comparator of the column family, or of the super column.
    pub name: Bytes,
    /// Empty in a tombstone.
    pub value: Bytes,
    /// Chosen by the client, in microseconds by convention. It is only compared.
    pub timestamp: i64,
    /// Whether the cell is a value, a counter or a tombstone.
    pub kind: CellKind,
}

impl Cell {
    /// Returns a cell that never expires.
    pub fn live(name: Bytes, value: Bytes, timestamp: i64) -> Cell {
        Cell { name, value, timestamp, kind: CellKind::Live }
    }

    /// Returns the tombstone of a column. `local_deletion_time` is in seconds of the server's clock.
    pub fn tombstone(name: Bytes, timestamp: i64, local_deletion_time: i32) -> Cell {
        Cell { name, value: Bytes::new(), timestamp, kind: CellKind::Deleted { local_deletion_time } }
    }

    /// Returns a cell that expires `ttl_s` seconds after `now_s`.
    pub fn expiring(name: Bytes, value: Bytes, timestamp: i64, ttl_s: i32, now_s: i32) -> Cell {
        let kind = CellKind::Expiring { ttl_s, expires_at_s: now_s.saturating_add(ttl_s) };
        Cell { name, value, timestamp, kind }
    }

    /// Returns an increment that adds `delta` to a counter.
    pub fn increment(name: Bytes, delta: i64, timestamp: i64) -> Cell {
        let value = Bytes::copy_from_slice(&delta.to_be_bytes());
        Cell { name, value, timestamp, kind: CellKind::Increment }
    }

    /// Returns the approximate memory of the cell in a request, in bytes: its place in a list with twice the capacity
    /// needed, and its name and value as they were read and in the reply.
    pub fn memory(&self) -> usize {
        2 * (size_of::<Cell>() + self.name.len() + self.value.len()) + Cell::REPLY_BYTES
    }

    /// Approximate bytes of a cell in a reply besides its name and value.
    const REPLY_BYTES: usize = 40;

    /// Returns whether the cell is not a tombstone. For an expiring cell, call [`Cell::at`] first.
    pub fn is_live(&self) -> bool {
        !matches!(self.kind, CellKind::Deleted { .. })
    }

    /// Returns the cell at a second of the server's clock: a tombstone if it has expired.
    #[must_use]
    pub fn at(self, now_s: i32, behaviour: &Behaviour) -> Cell {
        match self.kind {
            CellKind::Expiring { expires_at_s, .. } if behaviour.is_expired(expires_at_s, now_s) => {
                Cell::tombstone(self.name, self.timestamp, expires_at_s)
            }
            _ => self,
        }
    }

    /// Replaces the cell by a tombstone if it has expired.
    pub fn expire(&mut self, now_s: i32, behaviour: &Behaviour) {
        if matches!(self.kind, CellKind::Expiring { .. }) {
            *self = self.clone().at(now_s, behaviour);
        }
    }

    /// Returns the number in a counter or an increment. `None` if the value does not have eight bytes.
    pub fn count(&self) -> Option<i64> {
        self.value.as_ref().try_into().ok().map(i64::from_be_bytes)
    }

    /// Returns whether this is a tombstone older than gc_grace. `gc_before` is the current second minus gc_grace.
    pub fn is_purgeable(&self, gc_before: i32) -> bool {
        matches!(self.kind, CellKind::Deleted { local_deletion_time } if local_deletion_time <= gc_before)
    }

    /// Returns the counter after adding this increment to the existing cell `old`, which must not be expired or
    /// shadowed. `None` if `old` is a tombstone that wins over the increment.
    pub fn counted(self, old: Option<&Cell>, behaviour: &Behaviour) -> Option<Cell> {
        debug_assert!(self.kind == CellKind::Increment, "a total would be added to a counter");
        let total = match old {
            Some(old) if !old.is_live() => {
                if behaviour.cells.counter_deletions_are_final || old.timestamp >= self.timestamp {
                    return None;
                }
                0
            }
            Some(old) => old.count().unwrap_or_default(),
            None => 0,
        };
        let total = total.wrapping_add(self.count().unwrap_or_default());
        let timestamp = old.map_or(self.timestamp, |old| old.timestamp.max(self.timestamp));
        let value = Bytes::copy_from_slice(&total.to_be_bytes());
        Some(Cell { name: self.name, value, timestamp, kind: CellKind::Counter })
    }
}

/// The deletion of a row or of a super column. It shadows all cells in it that are not newer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletionTime {
    /// The timestamp that the client gave to the deletion.
    pub marked_for_delete_at: i64,
    /// The second of the server's clock at the deletion, from which gc_grace counts.
    pub local_deletion_time: i32,
}

impl DeletionTime {
    /// Not deleted. A cell with the timestamp `i64::MIN` is shadowed even by this, since Cassandra never returns one.
    pub const LIVE: DeletionTime =
        DeletionTime { marked_for_delete_at: i64::MIN, local_deletion_time: i32::MIN };

    /// Returns whether there was a deletion at all.
    pub fn is_deleted(&self) -> bool {
        self.marked_for_delete_at > i64::MIN
    }

    /// Returns whether the deletion hides a cell with this timestamp. Of equal timestamps the deletion wins.
    pub fn shadows(&self, timestamp: i64) -> bool {
        timestamp <= self.marked_for_delete_at
    }

    /// Merges two deletions. Like Cassandra, it takes the maximum of each part separately.
    #[must_use]
    pub fn merged(self, other: DeletionTime) -> DeletionTime {
        DeletionTime {
            marked_for_delete_at: self.marked_for_delete_at.max(other.marked_for_delete_at),
            local_deletion_time: self.local_deletion_time.max(other.local_deletion_time),
        }
    }
}
