//! Drops tombstones of cells during compaction, when they are older than gc_grace.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};

use lsm_tree::compaction::filter::{CompactionFilter, Context, Factory, ItemAccessor, Verdict};

use crate::value;
use base::util::Clock;

/// Creates the filter of each compaction of one column family.
#[derive(Debug)]
pub(super) struct TombstoneFilter {
    pub clock: Arc<Clock>,
    pub gc_grace_s: Arc<AtomicI32>,
    /// Set when the store closes, so that running compactions stop.
    pub is_closing: Arc<AtomicBool>,
}

impl Factory for TombstoneFilter {
    fn name(&self) -> &str {
        "tombstones past gc_grace"
    }

    fn make_filter(&self, _ctx: &Context) -> Box<dyn CompactionFilter> {
        let gc_before = gc_before(&self.clock, self.gc_grace_s.load(Ordering::Relaxed));
        Box::new(Pass { gc_before, is_closing: self.is_closing.clone() })
    }
}

/// Returns the second up to which tombstones are removed.
pub(crate) fn gc_before(clock: &Clock, gc_grace_s: i32) -> i32 {
    clock.now_s().saturating_sub(gc_grace_s)
}

/// The filter of one compaction.
struct Pass {
    gc_before: i32,
    is_closing: Arc<AtomicBool>,
}

impl CompactionFilter for Pass {
    fn filter_item(&mut self, item: ItemAccessor<'_>, _ctx: &Context) -> lsm_tree::Result<Verdict> {
        if self.is_closing.load(Ordering::Relaxed) {
            return Err(io::Error::from(io::ErrorKind::Interrupted).into());
        }
        let value = item.value()?;
        let is_over = value::tombstone_since(&value).is_some_and(|since| since <= self.gc_before);
        // `Remove` leaves a tombstone of the tree itself, so that no older version of the entry becomes visible.
        Ok(if is_over { Verdict::Remove } else { Verdict::Keep })
    }
}
