//! The end of a file as memory.
//!
//! Bytes stored there are in the operating system's page cache, like those of a `write` call: a killed process does not
//! lose them, readers of the file see them, and a sync of the file makes them durable.
//!
//! A store into memory cannot return an error. If the file system cannot accept it, the operating system kills the
//! process (SIGBUS). So room is allocated before it is mapped, and only files of file systems are mapped that write to
//! allocated room in place, without allocating more.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{Ordering, fence};

use memmap2::{MmapMut, MmapOptions};
use rustix::fs::{FallocateFlags, fallocate};

/// Bytes of zeros behind what is mapped, and what the file's length is a multiple of: what is not on the disk is lost a
/// page at a time.
const ZEROS: u64 = 4096;

/// Kinds of file systems as the system numbers them: ext2 to ext4 (of which the first two cannot allocate), tmpfs, XFS,
/// and overlays, which mostly have their files on one of these. Btrfs and its like write what is overwritten elsewhere: that
/// takes room again, and may find none. So does XFS with a file that was copied by reference, which is not expected of
/// a log that is written to; should the disk be full then too, the process ends as if killed.
#[cfg(target_os = "linux")]
const WRITTEN_IN_PLACE: [u64; 4] = [0xEF53, 0x0102_1994, 0x5846_5342, 0x794C_7630];

/// A mapped part of a file.
#[derive(Debug)]
pub struct Mapping {
    begin: u64,
    memory: MmapMut,
}

impl Mapping {
    /// Allocates and maps bytes of a file from an offset on; the file becomes a little longer than their end. Fails
    /// with `StorageFull` when the disk has no room, and with other errors where the file cannot be mapped.
    pub fn open(file: &File, begin: u64, bytes: u64) -> io::Result<Mapping> {
        if !is_written_in_place(file) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let room = (begin + bytes + ZEROS).next_multiple_of(ZEROS) - begin;
        rustix::io::retry_on_intr(|| fallocate(file, FallocateFlags::empty(), begin, room))?;
        let length = usize::try_from(bytes).map_err(|_| io::ErrorKind::Unsupported)?;
        Ok(Mapping { begin, memory: map(file, begin, length)? })
    }

    /// Stores bytes at an offset of the file, part after part: a process that is killed meanwhile leaves no later part
    /// without those before it. Returns `false` when they do not fit into the mapping.
    pub fn store(&mut self, at: u64, bytes: &[u8], parts: &[Range<usize>]) -> bool {
        let begin = at.checked_sub(self.begin).and_then(|begin| usize::try_from(begin).ok());
        let room = begin.and_then(|begin| self.memory.get_mut(begin..));
        let Some(room) = room.and_then(|room| room.get_mut(..bytes.len())) else { return false };
        for part in parts {
            if let (Some(to), Some(from)) = (room.get_mut(part.clone()), bytes.get(part.clone())) {
                to.copy_from_slice(from);
            }
            // Neither the compiler nor the processor may reorder the stores of two parts. Nothing has to wait for the
            // stores to finish: a killed process has executed the stores before the one that it was at.
            fence(Ordering::Release);
        }
        true
    }
}

#[cfg(target_os = "linux")]
fn is_written_in_place(file: &File) -> bool {
    rustix::fs::fstatfs(file)
        .is_ok_and(|disk| u64::try_from(disk.f_type).is_ok_and(|kind| WRITTEN_IN_PLACE.contains(&kind)))
}

#[cfg(not(target_os = "linux"))]
fn is_written_in_place(_: &File) -> bool {
    false
}

/// Maps bytes of a file, shared with all who read and write it.
#[expect(unsafe_code, reason = "memory that is a file's cannot be had otherwise")]
fn map(file: &File, begin: u64, bytes: usize) -> io::Result<MmapMut> {
    // SAFETY: The memory must not vanish, nor change while it is borrowed. It vanishes when the file is made shorter:
    // only the commit log's `Segment` does so, which drops the mapping first, and other processes of ours are kept out
    // by the lock of the data directory. It changes when the file is written by a call: `Segment` does so too, but never
    // while it borrows the memory, as both need `&mut Segment`. Another program that cuts the file, and a disk that
    // cannot read back a page, are outside of our control; the next store then raises SIGBUS, which ends the process.
    // Another program that writes to the file damages the log, but nothing here reads the memory: it is only stored to.
    unsafe { MmapOptions::new().offset(begin).len(bytes).map_mut(file) }
}
