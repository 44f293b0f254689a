//! Changes of a file since its last sync.
//!
//! After a power failure each sector of the file has the effect of some first part of the changes, independently of
//! other sectors: of none, of all, or of some. A sector that the file did not have before may be zeros. The length of the
//! file is one that it had, or between two that it had, independently of the sectors.
//!
//! Stores into mapped memory are not seen one by one. A sector of a mapped file is as at the last sync or as at the
//! power failure.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use embedded::disk::Mapping;

use super::Chance;

/// The unit in which a disk writes.
const SECTOR: usize = 512;

/// One change of a file.
#[derive(Debug, Clone)]
enum FileChange {
    Write { offset: usize, bytes: Vec<u8> },
    Length(usize),
}

/// A file and its changes since the last sync.
#[derive(Debug)]
pub struct UnsyncedFile {
    /// Keeps the inode alive, also if the file has been removed.
    file: File,
    synced: Vec<u8>,
    changes: Vec<FileChange>,
    /// Whether the file was mapped, so that `changes` do not have all changes.
    is_mapped: bool,
}

impl UnsyncedFile {
    /// Returns the state of a file whose content counts as synced.
    pub fn new(file: File) -> io::Result<UnsyncedFile> {
        let synced = content(&file)?;
        Ok(UnsyncedFile { file, synced, changes: Vec::new(), is_mapped: false })
    }

    pub fn write(&mut self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(bytes, offset)?;
        let offset = usize::try_from(offset).unwrap();
        self.changes.push(FileChange::Write { offset, bytes: bytes.to_vec() });
        Ok(())
    }

    pub fn set_length(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.changes.push(FileChange::Length(usize::try_from(length).unwrap()));
        Ok(())
    }

    pub fn map(&mut self, begin: u64, bytes: u64) -> io::Result<Mapping> {
        let mapping = Mapping::open(&self.file, begin, bytes)?;
        self.is_mapped = true;
        Ok(mapping)
    }

    pub fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    pub fn sync(&mut self) -> io::Result<()> {
        let changes = std::mem::take(&mut self.changes);
        if self.is_mapped {
            self.synced = content(&self.file)?;
            return Ok(());
        }
        for change in changes {
            match change {
                FileChange::Write { offset, bytes } => {
                    let end = offset + bytes.len();
                    self.synced.resize(self.synced.len().max(end), 0);
                    self.synced[offset..end].copy_from_slice(&bytes);
                }
                FileChange::Length(length) => self.synced.resize(length, 0),
            }
        }
        Ok(())
    }

    /// Loses a random part of the unsynced changes. The remaining ones become durable.
    pub fn lose_power(&mut self, chance: &mut Chance) -> io::Result<()> {
        if self.is_mapped {
            // One change has the effect of all.
            self.changes = vec![FileChange::Write { offset: 0, bytes: content(&self.file)? }];
            self.is_mapped = false;
        }
        if self.changes.is_empty() {
            return Ok(());
        }
        self.synced = self.after_power_failure(chance);
        self.changes.clear();
        self.file.set_len(0)?;
        self.file.write_all_at(&self.synced, 0)
    }

    fn after_power_failure(&self, chance: &mut Chance) -> Vec<u8> {
        let all = self.changes.len();
        match chance.below(5) {
            0 => self.synced.clone(),
            1 => self.with_sectors(|_| all, None),
            2 => {
                // The first changes survive, and the file ends anywhere in the last of them.
                let kept = chance.below(all + 1);
                let longest = self.length_after(kept);
                let shortest = self.length_after(kept.saturating_sub(1)).min(longest);
                self.with_sectors(|_| kept, Some(shortest + chance.below(longest - shortest + 1)))
            }
            kind => {
                let mut lengths: Vec<usize> = (0..=all).map(|kept| self.length_after(kept)).collect();
                let sectors = lengths.iter().max().unwrap() / SECTOR + 1;
                // Each sector has any part of the changes, or none or all of them. Seldom or often none.
                let lost_of_eight = chance.below(8);
                let kept: Vec<usize> = (0..sectors)
                    .map(|_| match kind {
                        3 => chance.below(all + 1),
                        _ if chance.below(8) < lost_of_eight => 0,
                        _ => all,
                    })
                    .collect();
                let mut length = lengths.swap_remove(chance.below(all + 1));
                if chance.below(2) == 0 && length > self.synced.len() {
                    length = self.synced.len() + chance.below(length - self.synced.len() + 1);
                }
                self.with_sectors(|sector| kept[sector], Some(length))
            }
        }
    }

    /// Returns the length of the file after the first `kept` changes.
    fn length_after(&self, kept: usize) -> usize {
        self.changes[..kept].iter().fold(self.synced.len(), |length, change| match change {
            FileChange::Write { offset, bytes } => length.max(offset + bytes.len()),
            FileChange::Length(length) => *length,
        })
    }

    /// Returns the content of the file if each sector has its first `kept(sector)` changes, with the length `length`.
    fn with_sectors(&self, kept: impl Fn(usize) -> usize, length: Option<usize>) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        for (number, change) in self.changes.iter().enumerate() {
            match change {
                FileChange::Write { offset, bytes: written } => {
                    let mut at = 0;
                    while at < written.len() {
                        let place = offset + at;
                        let end = written.len().min(at + SECTOR - place % SECTOR);
                        if kept(place / SECTOR) > number {
                            let new_length = bytes.len().max(offset + end);
                            bytes.resize(new_length, 0);
                            bytes[place..offset + end].copy_from_slice(&written[at..end]);
                        }
                        at = end;
                    }
                }
                FileChange::Length(cut) => {
                    let is_cut = |sector: usize| kept(sector) > number;
                    for (place, byte) in bytes.iter_mut().enumerate().skip(*cut) {
                        if is_cut(place / SECTOR) {
                            *byte = 0;
                        }
                    }
                    if is_cut(cut / SECTOR) && bytes[(*cut).min(bytes.len())..].iter().all(|byte| *byte == 0)
                    {
                        bytes.resize(*cut, 0);
                    }
                }
            }
        }
        if let Some(length) = length {
            bytes.resize(length, 0);
        }
        bytes
    }
}

fn content(file: &File) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(file.metadata()?.len()).unwrap()];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}
