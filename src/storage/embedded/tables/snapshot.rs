//! Which tables a reader sees.
//!
//! Every change to a tree, be it a flush or a merge, has a sequence number. A reader that holds the number of the moment
//! at which it began sees the tables of that moment until it ends. A merge must know the lowest number that is still
//! held, since it drops everything that only earlier readers could see.
//!
//! Readers are many and changes are few. So a reader only takes a reference to the current `Snapshot`, and each change
//! puts another `Snapshot` in its place and looks which of the earlier ones are still referenced.

use std::sync::Arc;

use arc_swap::ArcSwap;
use lsm_tree::{SeqNo, SequenceNumberCounter};
use parking_lot::Mutex;

/// The state of all trees at one moment.
#[derive(Debug)]
pub struct Snapshot {
    sequence: SeqNo,
}

impl Snapshot {
    /// Entries with lower sequence numbers are visible.
    pub(super) fn sequence(&self) -> SeqNo {
        self.sequence
    }
}

/// The current snapshot, and the earlier ones that readers hold.
#[derive(Debug)]
pub struct Snapshots {
    visible: SequenceNumberCounter,
    current: ArcSwap<Snapshot>,
    earlier: Mutex<Vec<Arc<Snapshot>>>,
}

impl Snapshots {
    /// `visible` is the counter that the trees raise with each change.
    pub fn new(visible: SequenceNumberCounter) -> Snapshots {
        let current = ArcSwap::from_pointee(Snapshot { sequence: visible.get() });
        Snapshots { visible, current, earlier: Mutex::default() }
    }

    /// The trees as they are now.
    pub fn current(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Shows later readers all changes up to now. Returns the lowest sequence number that a reader holds or may take:
    /// what is hidden from it is hidden from all.
    pub fn advance(&self) -> SeqNo {
        let mut earlier = self.earlier.lock();
        let now = self.visible.get();
        if self.current.load().sequence != now {
            // A reader that is just taking the old one has its reference when this returns.
            earlier.push(self.current.swap(Arc::new(Snapshot { sequence: now })));
        }
        // Nobody can take an earlier one any more, so one that is not referenced elsewhere never will be.
        earlier.retain(|snapshot| Arc::strong_count(snapshot) > 1);
        earlier.iter().map(|snapshot| snapshot.sequence).min().unwrap_or(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_snapshot_that_is_held_counts() {
        let visible = SequenceNumberCounter::new(1);
        let snapshots = Snapshots::new(visible.clone());
        assert_eq!(snapshots.advance(), 1);
        let (first, again) = (snapshots.current(), snapshots.current());
        visible.fetch_max(5);
        assert_eq!((first.sequence(), snapshots.current().sequence()), (1, 1), "nothing was advanced");
        assert_eq!(snapshots.advance(), 1);
        let second = snapshots.current();
        visible.fetch_max(9);
        drop(first);
        assert_eq!(snapshots.advance(), 1);
        drop(again);
        assert_eq!((snapshots.advance(), second.sequence()), (5, 5));
        drop(second);
        assert_eq!(snapshots.advance(), 9);
    }
}
