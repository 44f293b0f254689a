//! An open file of a faulty disk.

use std::io::{self, ErrorKind};

use embedded::disk::{DiskFile, Mapping};

use super::FaultyDisk;
use super::sectors::UnsyncedFile;

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
                // Never all of them: a call that has written everything does not fail.
                let written = part % bytes.len().max(1);
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
        self.change(UnsyncedFile::sync, |_, _| Ok(()))
    }

    fn map(&self, begin: u64, bytes: u64) -> io::Result<Mapping> {
        self.disk.check_room()?;
        // Stores into mapped memory cannot fail. Those after a crash have happened before it: no call of the disk was
        // between.
        self.disk.call(
            |state| {
                if state.can_map {
                    return state.file(self.inode).map(begin, bytes);
                }
                Err(ErrorKind::Unsupported.into())
            },
            |_, _| Ok(()),
        )
    }
}
