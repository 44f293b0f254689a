//! A cell, and the deletion times that shadow cells.

use bytes::Bytes;

use crate::compat::Behaviour;

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    Live,
    /// Live until a second of the server's clock, `ttl_s` seconds after it was written; then a tombstone made at
    /// that second.
    Expiring {
        ttl_s: i32,
        expires_at_s: i32,
    },
    /// A counter's total: eight bytes, big-endian and signed.
    Counter,
    /// What a mutation adds to a counter, in the same form. It is never stored.
    Increment,
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

    /// A cell that expires `ttl_s` seconds after `now_s`.
    pub fn expiring(name: Bytes, value: Bytes, timestamp: i64, ttl_s: i32, now_s: i32) -> Cell {
        let kind = CellKind::Expiring { ttl_s, expires_at_s: now_s.saturating_add(ttl_s) };
        Cell { name, value, timestamp, kind }
    }

    /// What adds `delta` to a counter.
    pub fn increment(name: Bytes, delta: i64, timestamp: i64) -> Cell {
        let value = Bytes::copy_from_slice(&delta.to_be_bytes());
        Cell { name, value, timestamp, kind: CellKind::Increment }
    }

    /// About how many bytes of memory it takes: its place in a list that has grown to twice its length, and its name and
    /// value as they were read and in the reply.
    pub fn memory(&self) -> usize {
        2 * (size_of::<Cell>() + self.name.len() + self.value.len()) + Cell::REPLY_BYTES
    }

    /// About how many bytes a reply has for a cell beside its name and value.
    const REPLY_BYTES: usize = 40;

    /// No tombstone. An expiring cell is asked after [`Cell::at`].
    pub fn is_live(&self) -> bool {
        !matches!(self.kind, CellKind::Deleted { .. })
    }

    /// The cell as it is at a second of the server's clock: a tombstone once its time is over.
    #[must_use]
    pub fn at(self, now_s: i32, behaviour: &Behaviour) -> Cell {
        match self.kind {
            CellKind::Expiring { expires_at_s, .. } if behaviour.is_expired(expires_at_s, now_s) => {
                Cell::tombstone(self.name, self.timestamp, expires_at_s)
            }
            _ => self,
        }
    }

    /// The same in its place.
    pub fn expire(&mut self, now_s: i32, behaviour: &Behaviour) {
        if matches!(self.kind, CellKind::Expiring { .. }) {
            *self = self.clone().at(now_s, behaviour);
        }
    }

    /// The number that a counter or an increment holds; `None` where there are not eight bytes.
    pub fn count(&self) -> Option<i64> {
        self.value.as_ref().try_into().ok().map(i64::from_be_bytes)
    }

    /// Whether this is a tombstone that has outlived gc_grace: `gc_before` is now less that many seconds.
    pub fn is_purgeable(&self, gc_before: i32) -> bool {
        matches!(self.kind, CellKind::Deleted { local_deletion_time } if local_deletion_time <= gc_before)
    }

    /// What becomes of a counter to which this increment is added. `old` is what stands there, expired or
    /// shadowed cells left out; `None`: a tombstone stands there that keeps it away.
    pub fn counted(self, old: Option<&Cell>, behaviour: &Behaviour) -> Option<Cell> {
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
