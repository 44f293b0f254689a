//! The directories of tables that a manifest lists, with their owners.

use std::collections::HashMap;

use super::deletion_queue::DeletionQueue;
use super::manifest::Contents;
use super::tables::{TableFolder, number_of};

/// Returns each directory that a manifest lists, and its owner for messages, as "column family K.A".
pub fn table_folders(contents: &Contents) -> impl Iterator<Item = (&str, String)> {
    let families = contents
        .families
        .iter()
        .map(|(name, record)| TableFolder::of_family(number_of(record.id, record.generation), name));
    let folders = families.chain([DeletionQueue::folder()]);
    let owners: HashMap<String, String> = folders
        .flat_map(|folder| [(folder.main, folder.owner.clone()), (folder.long, folder.owner)])
        .collect();
    let owner_of = move |folder: &str| {
        owners.get(folder).cloned().unwrap_or_else(|| "an unknown column family".to_owned())
    };
    contents.tables.keys().map(move |folder| (&**folder, owner_of(folder)))
}
