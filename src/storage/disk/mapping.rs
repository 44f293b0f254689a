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

/// Kinds of file systems as the operating system numbers them: ext2 to ext4 (of which the first two cannot allocate),
/// tmpfs, and XFS. Btrfs and its like write what is overwritten elsewhere: that takes room again, and may find none. So does
/// XFS with a file that was copied by reference, which is not expected of a log that is written to; should the disk be full
/// then too, the process ends as if killed.
#[cfg(target_os = "linux")]
const WRITTEN_IN_PLACE: [u64; 3] = [0xEF53, 0x0102_1994, 0x5846_5342];

/// An overlay: its files are on another file system, which has to be one of the above.
#[cfg(target_os = "linux")]
const OVERLAY: u64 = 0x794C_7630;

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
    use std::os::fd::AsRawFd;

    let is_trusted = |kind: u64| WRITTEN_IN_PLACE.contains(&kind);
    let Some(kind) = rustix::fs::fstatfs(file).ok().and_then(|disk| u64::try_from(disk.f_type).ok()) else {
        return false;
    };
    if kind != OVERLAY {
        return is_trusted(kind);
    }
    let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let mounts = std::fs::read_to_string("/proc/self/mountinfo");
    let (Ok(path), Ok(mounts)) = (path, mounts) else { return false };
    let upper = upper_layer(&path, &mounts).and_then(|upper| rustix::fs::statfs(upper).ok());
    upper.and_then(|disk| u64::try_from(disk.f_type).ok()).is_some_and(is_trusted)
}

/// The directory that has the files of the overlay that a path is on, by the list of mounts. In a container it may be one
/// that cannot be seen from there.
#[cfg(any(target_os = "linux", test))]
fn upper_layer<'a>(path: &std::path::Path, mounts: &'a str) -> Option<&'a str> {
    let overlays = mounts.lines().filter_map(|line| {
        let (mount, options) = line.split_once(" - overlay ")?;
        let point = mount.split(' ').nth(4)?;
        let upper = options.split([' ', ',']).find_map(|option| option.strip_prefix("upperdir="))?;
        path.starts_with(point).then_some((point.len(), upper))
    });
    // The innermost mount counts, and of two at one place the later one.
    overlays.max_by_key(|(length, _)| *length).map(|(_, upper)| upper)
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_upper_layer_of_an_overlay_is_found() {
        let mounts = "21 1 0:20 / / rw - overlay overlay rw,lowerdir=/a:/b,upperdir=/outer/upper,workdir=/w\n\
                      30 21 8:1 / /disk rw - ext4 /dev/sda rw\n\
                      31 21 0:21 / /data rw,noatime shared:1 - overlay overlay rw,lowerdir=/c,upperdir=/inner,workdir=/x\n";
        let upper = |path: &str| upper_layer(Path::new(path), mounts);
        assert_eq!(upper("/data/log/1.log"), Some("/inner"));
        assert_eq!(upper("/database/1.log"), Some("/outer/upper"));
        assert_eq!(upper_layer(Path::new("/data/1.log"), ""), None);
    }
}
