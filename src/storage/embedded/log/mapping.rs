//! The end of a segment's file as memory.
//!
//! What is stored there is in the operating system's cache of the file, as what a call writes is: a killed process
//! does not lose it, who reads the file finds it, and a sync of the file makes it durable.
//!
//! A store cannot be refused; where the file system cannot do it, the system kills the process. So room is allocated
//! before it is mapped, and only the files of those systems are that write to allocated room without asking for more.

use std::fs::File;
use std::io;
use std::sync::atomic::{Ordering, fence};

use memmap2::{MmapMut, MmapOptions};
use rustix::fs::{FallocateFlags, fallocate};

use super::record::{HEAD, HEAD_SUM};

/// Bytes of zeros behind what is mapped, and what the file's length is a multiple of: what is not on the disk is lost a
/// page at a time.
const ZEROS: u64 = 4096;

/// Kinds of file systems as the system numbers them: ext2 to ext4 (of which the first two cannot allocate), tmpfs, XFS,
/// and overlays, which mostly have their files on one of these. Btrfs and its like write what is overwritten elsewhere: that
/// takes room again, and may find none. So does XFS with a file that was copied by reference, which is not expected of
/// a log that is written to; should the disk be full then too, the process ends as if killed.
#[cfg(target_os = "linux")]
const WRITTEN_IN_PLACE: [u64; 4] = [0xEF53, 0x0102_1994, 0x5846_5342, 0x794C_7630];

/// A part of a file.
pub struct Mapping {
    begin: u64,
    memory: MmapMut,
}

impl Mapping {
    /// Allocates and maps bytes of a file from a place on; it becomes a little longer than their end. Fails with
    /// `StorageFull` when the disk has no room, and otherwise where this cannot be done.
    pub fn open(file: &File, begin: u64, bytes: u64) -> io::Result<Mapping> {
        if !is_written_in_place(file) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let room = (begin + bytes + ZEROS).next_multiple_of(ZEROS) - begin;
        rustix::io::retry_on_intr(|| fallocate(file, FallocateFlags::empty(), begin, room))?;
        let length = usize::try_from(bytes).map_err(|_| io::ErrorKind::Unsupported)?;
        Ok(Mapping { begin, memory: map(file, begin, length)? })
    }

    /// Stores a record at a place in the file, and the checksum of its head last: a process that is killed meanwhile
    /// leaves none there. `false`: it does not fit in.
    pub fn store(&mut self, at: u64, record: &[u8]) -> bool {
        let begin = at.checked_sub(self.begin).and_then(|begin| usize::try_from(begin).ok());
        let room = begin.and_then(|begin| self.memory.get_mut(begin..));
        let Some(room) = room.and_then(|room| room.get_mut(..record.len())) else { return false };
        for part in [HEAD..record.len(), 0..HEAD_SUM, HEAD_SUM..HEAD] {
            if let (Some(to), Some(from)) = (room.get_mut(part.clone()), record.get(part)) {
                to.copy_from_slice(from);
            }
            // Neither the compiler nor the processor may store the parts in another order. That they be stored by now
            // is not asked for: a process that is killed has stored what it was at.
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
    // SAFETY: The memory must not vanish, nor change while it is borrowed. It vanishes where the file is made shorter:
    // only `Segment` does so, which drops the mapping first, and other processes of ours are kept out by the lock of
    // the data directory. It changes where the file is written by a call: `Segment` does so too, but never while it
    // borrows the memory, for both need it exclusively. A stranger who cuts the file, and a disk that cannot read back
    // a page, are not in our hands; the next store is then refused with SIGBUS, which ends the process. A stranger who
    // writes to the file spoils the log, but no decision here rests on what is in the memory: it is only stored to.
    unsafe { MmapOptions::new().offset(begin).len(bytes).map_mut(file) }
}
