//! The tables that a reader sees.
//!
//! Every change to a tree, a flush or a merge, has a sequence number. A reader holds the number that was current when
//! it began, and sees the tables of that time until it ends. A merge must know the lowest number that a reader still
//! holds, since it drops entries that only earlier readers could see.
//!
//! There are many readers and few changes. So a reader only takes a reference to the current `Snapshot`. Each change
//! replaces the current `Snapshot` and checks which of the earlier ones are still referenced.

use std::sync::Arc;

use arc_swap::ArcSwap;
use lsm_tree::{SeqNo, SequenceNumberCounter};
use parking_lot::Mutex;

/// The state of all trees at one time.
#[derive(Debug)]
pub(crate) struct Snapshot {
    sequence: SeqNo,
}

impl Snapshot {
    /// Returns the number below which the sequence numbers of visible entries are.
    pub(super) fn sequence(&self) -> SeqNo {
        self.sequence
    }
}

/// The current snapshot, and the earlier ones that readers hold.
#[derive(Debug)]
pub(super) struct Snapshots {
    visible: SequenceNumberCounter,
    current: ArcSwap<Snapshot>,
    earlier: Mutex<Vec<Arc<Snapshot>>>,
}

impl Snapshots {
    /// Returns the snapshots of trees that raise the counter `visible` with each change.
    pub(super) fn new(visible: SequenceNumberCounter) -> Snapshots {
        let current = ArcSwap::from_pointee(Snapshot { sequence: visible.get() });
        Snapshots { visible, current, earlier: Mutex::default() }
    }

    /// Returns the current snapshot.
    pub(super) fn current(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// Makes all changes up to now visible to later readers. Returns the lowest sequence number that a reader holds or
    /// can take: entries that are hidden at that number are hidden from all readers.
    pub(super) fn advance(&self) -> SeqNo {
        let mut earlier = self.earlier.lock();
        let now = self.visible.get();
        assert!(self.current.load().sequence <= now, "visible changes of the tables would become invisible");
        if self.current.load().sequence != now {
            // `swap` waits for readers that are loading the old snapshot, so their references are counted below.
            earlier.push(self.current.swap(Arc::new(Snapshot { sequence: now })));
        }
        // Readers can no longer take earlier snapshots, so one without other references stays without.
        earlier.retain(|snapshot| Arc::strong_count(snapshot) > 1);
        let lowest = earlier.iter().map(|snapshot| snapshot.sequence).min().unwrap_or(now);
        assert!(lowest <= now, "a merge would drop entries that readers still see");
        lowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advance_returns_the_lowest_number_that_is_held() {
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
