//! An open file of a faulty disk.

use std::io::{self, ErrorKind};

use thriftstore::storage::disk::{DiskFile, Mapping};

use super::FaultyDisk;
use super::pages::UnsyncedFile;

/// Writes of at least this many bytes may be written in part by a crash.
const SMALL_WRITE: usize = 16;

/// An open file, identified by its inode.
#[derive(Debug)]
pub struct FaultyFile {
    pub disk: FaultyDisk,
    pub inode: u64,
}

impl FaultyFile {
    fn change(
        &self,
        run: impl Fn(&mut UnsyncedFile) -> io::Result<()>,
        run_partly: impl Fn(&mut UnsyncedFile, usize) -> io::Result<()>,
    ) -> io::Result<()> {
        self.disk
            .call(|state| run(state.file(self.inode)), |state, part| run_partly(state.file(self.inode), part))
    }
}

impl DiskFile for FaultyFile {
    fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.disk.check_room()?;
        self.change(
            |file| file.write(bytes, offset),
            |file, part| {
                // A write of a few bytes is never split.
                let is_small = bytes.len() < SMALL_WRITE;
                // Never all of them: a call that has written everything does not fail.
                let written = if is_small { 0 } else { part % bytes.len() };
                file.write(&bytes[..written], offset)
            },
        )
    }

    fn length(&self) -> io::Result<u64> {
        self.disk.look(|state| state.file(self.inode).length())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.change(|file| file.set_length(length), |_, _| Ok(()))
    }

    fn sync(&self) -> io::Result<()> {
        self.disk.wait_for_sync();
        self.change(
            |file| {
                file.sync();
                Ok(())
            },
            |_, _| Ok(()),
        )
    }

    fn map(&self, _begin: u64, _bytes: u64) -> io::Result<Mapping> {
        self.disk.check_room()?;
        // Stores into mapped memory could neither fail nor be undone, so the store must use `write_at`.
        self.disk.call(|_| Err(ErrorKind::Unsupported.into()), |_, _| Ok(()))
    }
}
