//! The directories of tables that a manifest lists, with their owners.

use std::collections::HashMap;
use std::path::Path;

use super::deletion_queue::DeletionQueue;
use super::manifest::{Contents, TreeRecord};
use super::tables::{TableFolder, TreeName, number_of};

/// Returns each directory of tables that the manifest of a data directory lists, and its record.
pub(crate) fn table_folders(
    contents: &Contents,
    directory: &Path,
) -> impl Iterator<Item = (TreeName, TreeRecord)> {
    let families = contents
        .families
        .iter()
        .map(|(name, record)| TableFolder::of_family(number_of(record.id, record.generation), name));
    let folders = families.chain([DeletionQueue::folder()]);
    let owners: HashMap<String, String> = folders
        .flat_map(|folder| [(folder.main, folder.owner.clone()), (folder.long, folder.owner)])
        .collect();
    let directory = directory.join("tables");
    contents.tables.iter().map(move |(folder, record)| {
        let owner = owners.get(folder).map_or("an unknown column family", |owner| owner);
        (TreeName { owner: owner.to_owned(), directory: directory.join(folder) }, *record)
    })
}
