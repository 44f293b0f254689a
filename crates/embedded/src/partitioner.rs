//! The partitioner of a data directory.

use super::engine::Setup;
use super::manifest::Manifest;
use super::memtable::Memory;
use super::table_folders::table_folders;
use store::{Result, StoreError};

/// Checks that the data was written with the configured partitioner. A store without a single entry gets it, and a new
/// token.
pub(crate) fn settle_partitioner(setup: &Setup, manifest: &Manifest, memory: &Memory) -> Result<()> {
    let contents = manifest.contents();
    let configured = setup.partitioner.class_name();
    if contents.partitioner == configured {
        return Ok(());
    }
    let mut has_entries = !memory.is_empty();
    for (tree, record) in table_folders(&contents, &setup.options.directory) {
        has_entries = has_entries || tree.has_entries(&*setup.disk, record.identity)?;
    }
    if !has_entries {
        return manifest.change(|contents| {
            contents.partitioner = configured.to_owned();
            contents.token = None;
        });
    }
    Err(StoreError::Mismatch(format!(
        "the data directory {} was written with Partitioner {}, but {} is configured; rows are sorted by it on the \
         disk, so put it back or choose another data directory",
        setup.options.directory.display(),
        contents.partitioner,
        setup.partitioner.class_name()
    )))
}
