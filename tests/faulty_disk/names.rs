//! Names of files and directories that were created, renamed or removed since the last sync of their directory.
//!
//! Files that are removed or replaced are moved to a directory outside of the data directory, the attic, so that a
//! power failure can restore them.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::Chance;

/// A change of a name, with what is needed to undo it.
#[derive(Debug)]
enum NameChange {
    /// A file or directory was created.
    Made(PathBuf),
    Renamed {
        from: PathBuf,
        to: PathBuf,
        /// The file that had the name before, in the attic.
        replaced: Option<PathBuf>,
    },
    Removed {
        path: PathBuf,
        /// The file or directory, in the attic.
        kept: PathBuf,
    },
}

impl NameChange {
    /// Returns the directory whose sync makes the change durable.
    fn directory(&self) -> &Path {
        let (NameChange::Made(path)
        | NameChange::Renamed { to: path, .. }
        | NameChange::Removed { path, .. }) = self;
        path.parent().unwrap()
    }

    fn paths(&self) -> impl Iterator<Item = &Path> {
        let (first, second) = match self {
            NameChange::Made(path) | NameChange::Removed { path, .. } => (path, None),
            NameChange::Renamed { from, to, .. } => (from, Some(to)),
        };
        [Some(first), second].into_iter().flatten().map(PathBuf::as_path)
    }

    fn undo(&self, chance: &mut Chance) -> io::Result<()> {
        match self {
            NameChange::Made(path) => remove(path),
            NameChange::Renamed { from, to, replaced } => {
                fs::rename(to, from)?;
                replaced.as_ref().map_or(Ok(()), |replaced| fs::rename(replaced, to))
            }
            NameChange::Removed { path, kept } => {
                if path.is_file() {
                    // The tree library has created the file again and synced the directory, so the removal is durable.
                    return remove(kept);
                }
                if path.exists() {
                    remove(path)?;
                }
                fs::rename(kept, path)?;
                // A directory is removed file by file.
                if path.is_dir() { remove_some(path, chance) } else { Ok(()) }
            }
        }
    }

    /// Removes the files in the attic that an undo would restore.
    fn forget(&self) -> io::Result<()> {
        match self {
            NameChange::Removed { kept, .. } | NameChange::Renamed { replaced: Some(kept), .. } => {
                remove(kept)
            }
            _ => Ok(()),
        }
    }
}

/// The changes of names since the last sync of their directories.
#[derive(Debug)]
pub struct UnsyncedNames {
    attic: PathBuf,
    count: u64,
    changes: Vec<NameChange>,
}

impl UnsyncedNames {
    pub fn new(attic: PathBuf) -> UnsyncedNames {
        fs::create_dir_all(&attic).unwrap();
        UnsyncedNames { attic, count: 0, changes: Vec::new() }
    }

    fn place_in_attic(&mut self) -> PathBuf {
        self.count += 1;
        self.attic.join(self.count.to_string())
    }

    /// Records that a file or directory was created.
    pub fn made(&mut self, path: &Path) {
        self.changes.push(NameChange::Made(path.to_owned()));
    }

    pub fn create_directory(&mut self, path: &Path) -> io::Result<()> {
        if path.is_dir() {
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            self.create_directory(parent)?;
        }
        fs::create_dir(path)?;
        self.made(path);
        Ok(())
    }

    pub fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let replaced = to.is_file().then(|| self.place_in_attic());
        if let Some(replaced) = &replaced {
            fs::hard_link(to, replaced)?;
        }
        fs::rename(from, to)?;
        self.changes.push(NameChange::Renamed { from: from.to_owned(), to: to.to_owned(), replaced });
        Ok(())
    }

    /// Removes a file, or a directory with its contents.
    pub fn remove(&mut self, path: &Path) -> io::Result<()> {
        let kept = self.place_in_attic();
        fs::rename(path, &kept)?;
        self.changes.push(NameChange::Removed { path: path.to_owned(), kept });
        Ok(())
    }

    pub fn sync(&mut self, directory: &Path) -> io::Result<()> {
        // If the removal of a directory becomes durable, changes of names inside it no longer matter.
        let mut gone: Vec<PathBuf> = Vec::new();
        for change in std::mem::take(&mut self.changes).into_iter().rev() {
            if change.directory() == directory {
                match &change {
                    NameChange::Removed { path, .. } | NameChange::Renamed { from: path, .. } => {
                        gone.push(path.clone());
                    }
                    NameChange::Made(_) => {}
                }
                change.forget()?;
            } else if gone.iter().any(|gone| change.directory().starts_with(gone)) {
                change.forget()?;
            } else {
                self.changes.push(change);
            }
        }
        self.changes.reverse();
        Ok(())
    }

    /// Undoes a random part of the changes. The remaining ones become durable.
    pub fn lose_power(&mut self, chance: &mut Chance) -> io::Result<()> {
        let changes = std::mem::take(&mut self.changes);
        let (kind, prefix) = (chance.below(4), chance.below(changes.len() + 1));
        let mut kept_paths: Vec<&Path> = Vec::new();
        for (number, change) in changes.iter().enumerate().rev() {
            let is_kept = match kind {
                0 => false,
                1 => true,
                2 => number < prefix,
                _ => chance.below(2) == 0,
            };
            // A change that is kept depends on earlier changes of the same paths.
            let is_needed = change
                .paths()
                .any(|path| kept_paths.iter().any(|kept| kept.starts_with(path) || path.starts_with(kept)));
            if is_kept || is_needed {
                kept_paths.extend(change.paths());
                change.forget()?;
            } else {
                change.undo(chance)?;
            }
        }
        Ok(())
    }
}

fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Removes some of the files under a directory, as an interrupted removal would.
pub fn remove_some(directory: &Path, chance: &mut Chance) -> io::Result<()> {
    let keep = chance.below(4);
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            remove_some(&path, chance)?;
            if keep == 0 {
                // This fails if a file in the directory is kept.
                let _ = fs::remove_dir(&path);
            }
        } else if keep != 3 && chance.below(3) >= keep {
            fs::remove_file(&path)?;
        }
    }
    Ok(())
}
