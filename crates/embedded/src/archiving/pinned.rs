//! A backup whose tables are hard links in the data directory, until an archive has uploaded them.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{ManifestWatch, StorePoint};
use crate::backup::{BackupSource, TreeCopies};
use crate::disk::Disk;
use crate::manifest::{Contents, Manifest};
use store::{Result, StoreError};

/// The directory in the data directory that an archive uses.
pub(super) const FOLDER: &str = "archive";

/// The number of backups that this process has pinned.
static PINNED: AtomicU64 = AtomicU64::new(0);

/// Removes what an earlier process has left.
pub(super) fn remove_leftovers(disk: &dyn Disk, directory: &Path) -> Result<()> {
    let path = directory.join(FOLDER);
    disk.remove_directory(&path).map_err(StoreError::io_at(&path))
}

/// The tables of a store at one time, and the manifest that lists them. Dropping it removes the links.
pub struct PinnedBackup {
    /// The state up to which the log must be replayed at least.
    pub point: StorePoint,
    /// The segment from which on the log must be replayed.
    pub first_segment: u64,
    /// The manifest, which lists the tables as they are here.
    pub manifest: Vec<u8>,
    /// The contents of the file `THRIFTSTORE`.
    pub marker: Vec<u8>,
    /// Directories in `tables`, such as `1.1`.
    pub folders: Vec<String>,
    /// The files of these directories that are not tables.
    pub files: Vec<SmallFile>,
    /// All tables of these directories.
    pub tables: Vec<PinnedTable>,
    links: PinnedLinks,
}

/// A list of tables, or the file that names it.
pub struct SmallFile {
    /// Its path in `tables`, such as `1.1/v7`.
    pub path: String,
    /// Its contents.
    pub bytes: Vec<u8>,
}

/// A table, which does not change.
#[derive(Debug, Clone)]
pub struct PinnedTable {
    /// Its path in `tables`, such as `1.1/tables/3`.
    pub path: String,
    /// 128 bits of XXH3 of the whole file.
    pub checksum: u128,
    /// Its length.
    pub bytes: u64,
    /// The link.
    pub file: PathBuf,
}

/// The directory of links, which is removed when this is dropped.
struct PinnedLinks {
    disk: Arc<dyn Disk>,
    path: PathBuf,
}

impl PinnedBackup {
    /// Links the tables that the manifest lists. No flush, truncate or drop may run.
    pub(super) fn link(
        disk: &Arc<dyn Disk>,
        directory: &Path,
        manifest: &Manifest,
        watch: &ManifestWatch,
    ) -> Result<PinnedBackup> {
        // The links of an earlier backup may still be in use.
        let number = PINNED.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(FOLDER).join(format!("pinned-{number}"));
        let links = PinnedLinks { disk: disk.clone(), path: path.clone() };
        let source = BackupSource::open(&**disk, directory)?;
        let mut trees = TreeCopies::new(&**disk, &source, &path);
        let contents = manifest.contents();
        trees.update(&contents, &mut |line| tracing::debug!("{line}"))?;
        // Column families may have been defined meanwhile, and tables merged.
        let (now, point) = manifest.settled(|now| (now.clone(), watch.now()));
        let contents = Contents { tables: contents.tables.clone(), log: contents.log, ..now };
        let manifest = Manifest::encode(&trees.recorded_in(&contents))?;
        let path = path.join("tables");
        let mut tables = Vec::new();
        for (folder, tree) in trees.trees() {
            for (number, table) in &tree.tables {
                let place = format!("{folder}/tables/{number}");
                let (checksum, bytes, file) = (table.checksum, table.bytes, path.join(&place));
                tables.push(PinnedTable { path: place, checksum, bytes, file });
            }
        }
        let (folders, files) = small_files(&**disk, &path)?;
        let first_segment = contents.log.map_or(point.place.segment, |log| log.first);
        let marker = source.marker.clone();
        Ok(PinnedBackup { point, first_segment, manifest, marker, folders, files, tables, links })
    }

    /// Removes the link of a table that is not needed any more, so that the store can free its space.
    pub fn unpin(&self, table: &PinnedTable) {
        // If this fails, the link is removed with the directory.
        let _ = self.links.disk.remove_file(&table.file);
    }
}

/// Returns the directories of trees, and their files.
fn small_files(disk: &dyn Disk, tables: &Path) -> Result<(Vec<String>, Vec<SmallFile>)> {
    let list = |path: &Path| disk.list(path).map_err(StoreError::io_at(path));
    let (mut folders, mut files) = (Vec::new(), Vec::new());
    for tree in list(tables)? {
        let folder = name_of(&tree);
        for path in list(&tree)?.into_iter().filter(|path| !path.is_dir()) {
            let bytes = disk.read(&path).map_err(StoreError::io_at(&path))?;
            files.push(SmallFile { path: format!("{folder}/{}", name_of(&path)), bytes });
        }
        folders.push(folder);
    }
    Ok((folders, files))
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl Drop for PinnedLinks {
    fn drop(&mut self) {
        if let Err(error) = self.disk.remove_directory(&self.path) {
            tracing::warn!("{} was not removed: {error}", self.path.display());
        }
    }
}
