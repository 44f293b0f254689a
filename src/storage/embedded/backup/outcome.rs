//! What a backup consists of.

use super::tree_copies::TreeCopies;
use crate::storage::embedded::manifest::Contents;

/// What a backup consists of, and how it was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackupSummary {
    /// Column families that were not dropped.
    pub column_families: usize,
    /// Files of tables.
    pub tables: usize,
    /// Bytes of tables that the source and the copy share.
    pub linked_bytes: u64,
    /// Bytes of tables that were copied, as they could not be linked.
    pub copied_bytes: u64,
    /// Bytes of the commit log.
    pub log_bytes: u64,
    /// How often the copy was begun. Each change of the source's manifest meanwhile is a reason to begin again.
    pub attempts: u32,
}

impl BackupSummary {
    pub(super) fn of(contents: &Contents, trees: &TreeCopies<'_>, log_bytes: u64, attempts: u32) -> Self {
        let mut summary = BackupSummary { log_bytes, attempts, ..BackupSummary::default() };
        summary.column_families = contents.families.values().filter(|record| !record.is_dropped).count();
        for table in trees.tables() {
            summary.tables += 1;
            let bytes = if table.is_linked { &mut summary.linked_bytes } else { &mut summary.copied_bytes };
            *bytes += table.bytes;
        }
        summary
    }
}
