//! Replays the commit log, without rows of generations that the manifest lists as truncated or dropped.

use std::collections::HashMap;
use std::path::Path;

use super::deletion_queue::QUEUE_FAMILY;
use super::log::{Replayed, RowRecord, replay};
use super::manifest::{Contents, LogSpan};
use super::tables::{generation_in, id_in};
use crate::disk::Disk;
use store::{Result, StoreError};

/// Calls `each` with every row of the log that belongs to the newest generation of its column family, in the order of
/// writing.
///
/// # Errors
/// `Corrupt` if the log is damaged, or has rows of column families that the manifest does not list.
pub(crate) fn replay_newest(
    disk: &dyn Disk,
    directory: &Path,
    contents: &Contents,
    mut each: impl FnMut(RowRecord<'_>),
) -> Result<Replayed> {
    let Some(LogSpan { first, last }) = contents.log else { return Ok(Replayed::default()) };
    let newest: HashMap<u32, u32> =
        contents.families.values().map(|record| (record.id, record.generation)).collect();
    replay(disk, directory, first, last, |row| {
        let (id, generation) = (id_in(row.family), generation_in(row.family));
        match newest.get(&id) {
            // A truncate or drop has removed it.
            Some(newest) if generation < *newest => return Ok(()),
            Some(newest) if generation == *newest => {}
            None if row.family == QUEUE_FAMILY => {}
            _ => {
                return Err(StoreError::Corrupt(format!(
                    "the commit log in {} has a row of column family {id}, generation {generation}, which the \
                     manifest does not list; put back an undamaged copy of the data directory",
                    directory.display()
                )));
            }
        }
        each(row);
        Ok(())
    })
}
