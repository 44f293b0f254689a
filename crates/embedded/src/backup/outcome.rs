//! The summary of a finished backup.

use super::tree_copies::TreeCopies;
use crate::manifest::Contents;

/// Counts and sizes of a finished backup.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BackupSummary {
    /// Column families that were not dropped.
    pub column_families: usize,
    /// Number of table files.
    pub tables: usize,
    /// Bytes of tables that were linked, which use no additional space.
    pub linked_bytes: u64,
    /// Bytes of tables that were copied because they could not be linked.
    pub copied_bytes: u64,
    /// Bytes of the commit log.
    pub log_bytes: u64,
    /// Number of attempts. The copy is started again if the source's manifest changes meanwhile.
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
