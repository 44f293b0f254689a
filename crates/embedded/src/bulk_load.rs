//! Bulk loads: writes past the commit log, which become durable when the memtable is flushed.
//!
//! An import has all of its data on the disk already, in the files that it reads. Logged, each write would be on the disk
//! once more, and would wait for a sync. So the store leaves the log out from the beginning of a load to its end:
//!
//! ```text
//!   begin                    from here on no write is logged
//!   write, write, write      decided and applied to the memtable as always, which is flushed when it is full
//!   checkpoint               the memtable is flushed: all writes so far are in synced tables that the manifest lists
//!   write, write             lost if the process is killed here: the loader repeats them from its checkpoint
//!   end                      a last checkpoint; from here on writes are logged
//! ```
//!
//! A write that loses against a cell of the load is not stored. Logged, it would be acknowledged although a kill loses
//! both, so during a load nothing else may write: the loader has the store for itself.
//!
//! Writes that come in the order of the ring make the fastest load. Each flush then has a run of keys behind the keys
//! of all runs before, so writes find nothing in tables without reading them, and a compaction moves runs to the last
//! level instead of merging them.

use super::blocking::BlockingPermit;
use super::engine::Engine;
use store::Result;

impl Engine {
    /// Begins a bulk load.
    ///
    /// # Errors
    /// If the store accepts no writes.
    pub(crate) fn begin_load(&self) -> Result<()> {
        self.health.check()?;
        self.write.ahead.set_loading(true);
        Ok(())
    }

    /// Makes all writes of the load durable.
    ///
    /// # Errors
    /// If a memtable cannot be flushed. The writes are still in memory, and the call may be repeated.
    pub(crate) fn checkpoint_load(&self, may_wait: &BlockingPermit) -> Result<()> {
        if self.durable.is_none() {
            return Ok(());
        }
        // One flush writes one memtable: the frozen one if there is one, else the active one.
        while !self.write.ahead.memory.is_empty() {
            self.flush(may_wait)?;
        }
        Ok(())
    }

    /// Makes all writes of the load durable, and ends it.
    ///
    /// # Errors
    /// As for a checkpoint. The load has not ended then.
    pub(crate) fn end_load(&self, may_wait: &BlockingPermit) -> Result<()> {
        self.checkpoint_load(may_wait)?;
        self.write.ahead.set_loading(false);
        Ok(())
    }
}
