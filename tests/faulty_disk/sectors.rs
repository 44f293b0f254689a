//! Changes of a file since its last sync.
//!
//! After a power failure each page of the file has the effect of some first part of the changes, independently of other
//! pages, because the operating system writes whole pages in any order. The length of the file grows when data is
//! written to the disk. So the file may end at any byte, but it does not end with zeros in place of lost bytes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::Chance;

/// The unit in which the operating system writes files.
const PAGE: usize = 4096;

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
}

impl UnsyncedFile {
    /// Returns the state of a file whose content counts as synced.
    pub fn new(file: File) -> io::Result<UnsyncedFile> {
        let mut synced = vec![0; usize::try_from(file.metadata()?.len()).unwrap()];
        file.read_exact_at(&mut synced, 0)?;
        Ok(UnsyncedFile { file, synced, changes: Vec::new() })
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

    pub fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    pub fn sync(&mut self) {
        for change in std::mem::take(&mut self.changes) {
            match change {
                FileChange::Write { offset, bytes } => {
                    let end = offset + bytes.len();
                    self.synced.resize(self.synced.len().max(end), 0);
                    self.synced[offset..end].copy_from_slice(&bytes);
                }
                FileChange::Length(length) => self.synced.resize(length, 0),
            }
        }
    }

    /// Loses a random part of the unsynced changes. The remaining ones become durable.
    pub fn lose_power(&mut self, chance: &mut Chance) -> io::Result<()> {
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
        match chance.below(4) {
            0 => self.synced.clone(),
            1 => self.with_pages(|_| all, None),
            2 => {
                // The first changes survive, and the file ends anywhere in the last of them.
                let kept = chance.below(all + 1);
                let longest = self.length_after(kept);
                let shortest = self.length_after(kept.saturating_sub(1)).min(longest);
                self.with_pages(|_| kept, Some(shortest + chance.below(longest - shortest + 1)))
            }
            _ => {
                let mut lengths: Vec<usize> = (0..=all).map(|kept| self.length_after(kept)).collect();
                let pages = lengths.iter().max().unwrap() / PAGE + 1;
                let kept: Vec<usize> = (0..pages).map(|_| chance.below(all + 1)).collect();
                let mut length = lengths.swap_remove(chance.below(all + 1));
                if chance.below(2) == 0 && length > self.synced.len() {
                    length = self.synced.len() + chance.below(length - self.synced.len() + 1);
                }
                self.with_pages(|page| kept[page], Some(length))
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

    /// Returns the content of the file if each page has its first `kept(page)` changes, cut to `length` and after the
    /// last byte that was not lost.
    fn with_pages(&self, kept: impl Fn(usize) -> usize, length: Option<usize>) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        for (number, change) in self.changes.iter().enumerate() {
            match change {
                FileChange::Write { offset, bytes: written } => {
                    let mut at = 0;
                    while at < written.len() {
                        let place = offset + at;
                        let end = written.len().min(at + PAGE - place % PAGE);
                        if kept(place / PAGE) > number {
                            let new_length = bytes.len().max(offset + end);
                            bytes.resize(new_length, 0);
                            bytes[place..offset + end].copy_from_slice(&written[at..end]);
                        }
                        at = end;
                    }
                }
                FileChange::Length(cut) => {
                    let is_cut = |page: usize| kept(page) > number;
                    for (place, byte) in bytes.iter_mut().enumerate().skip(*cut) {
                        if is_cut(place / PAGE) {
                            *byte = 0;
                        }
                    }
                    if is_cut(cut / PAGE) && bytes[(*cut).min(bytes.len())..].iter().all(|byte| *byte == 0) {
                        bytes.resize(*cut, 0);
                    }
                }
            }
        }
        if let Some(length) = length {
            bytes.truncate(length);
        }
        bytes
    }
}
