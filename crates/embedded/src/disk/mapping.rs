//! Maps the end of a file into memory.
//!
//! Bytes stored there are in the operating system's page cache, like the bytes of a `write` call. A killed process does
//! not lose them, readers of the file see them, and a sync of the file makes them durable.
//!
//! Storing into memory cannot return an error. If the file system cannot write the page, the operating system kills the
//! process (SIGBUS). So space is allocated before it is mapped, and files are mapped only on file systems that write to
//! allocated space in place, without allocating more.

use std::fs::File;
use std::io;

use memmap2::{MmapMut, MmapOptions};
use rustix::fs::{FallocateFlags, fallocate};

/// The unit of the file's length, in bytes.
const PAGE: u64 = 4096;

/// The operating system's numbers of file systems that write in place: ext2 to ext4 (ext2 and ext3 cannot allocate
/// ahead), tmpfs, and XFS. Btrfs and similar file systems write changed pages to new places, which needs space that may
/// be missing. XFS does so with a file that was copied by reference, which is not expected of a log in use; if the disk
/// is also full then, the process is killed.
#[cfg(target_os = "linux")]
const WRITTEN_IN_PLACE: [u64; 3] = [0xEF53, 0x0102_1994, 0x5846_5342];

/// The number of overlayfs. Its files are on another file system, which must be one of the above.
#[cfg(target_os = "linux")]
const OVERLAY: u64 = 0x794C_7630;

/// A mapped part of a file.
#[derive(Debug)]
pub struct Mapping {
    begin: u64,
    memory: MmapMut,
}

impl Mapping {
    /// Allocates and maps bytes of a file from an offset on. The file becomes up to a page longer than the mapped
    /// part.
    ///
    /// # Errors
    /// `StorageFull` if the disk is full, other errors if the file cannot be mapped.
    pub fn open(file: &File, begin: u64, bytes: u64) -> io::Result<Mapping> {
        if !is_written_in_place(file) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let room = (begin + bytes).next_multiple_of(PAGE) - begin;
        rustix::io::retry_on_intr(|| fallocate(file, FallocateFlags::empty(), begin, room))?;
        let length = usize::try_from(bytes).map_err(|_| io::ErrorKind::Unsupported)?;
        Ok(Mapping { begin, memory: map(file, begin, length)? })
    }

    /// Stores bytes at an offset of the file. Returns `false` if they do not fit into the mapping.
    pub fn store(&mut self, at: u64, bytes: &[u8]) -> bool {
        let begin = at.checked_sub(self.begin).and_then(|begin| usize::try_from(begin).ok());
        let room = begin.and_then(|begin| self.memory.get_mut(begin..));
        let Some(room) = room.and_then(|room| room.get_mut(..bytes.len())) else { return false };
        room.copy_from_slice(bytes);
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

/// Returns the directory that has the files of the overlay a path is on, from the list of mounts. In a container this
/// directory may not be accessible.
#[cfg(any(target_os = "linux", test))]
fn upper_layer<'a>(path: &std::path::Path, mounts: &'a str) -> Option<&'a str> {
    let overlays = mounts.lines().filter_map(|line| {
        let (mount, options) = line.split_once(" - overlay ")?;
        let point = mount.split(' ').nth(4)?;
        let upper = options.split([' ', ',']).find_map(|option| option.strip_prefix("upperdir="))?;
        path.starts_with(point).then_some((point.len(), upper))
    });
    // The innermost mount is used, and of several at one path the last one.
    overlays.max_by_key(|(length, _)| *length).map(|(_, upper)| upper)
}

#[cfg(not(target_os = "linux"))]
fn is_written_in_place(_: &File) -> bool {
    false
}

/// Maps bytes of a file, shared with all readers and writers of the file.
#[expect(unsafe_code, reason = "a file can only be mapped by unsafe code")]
fn map(file: &File, begin: u64, bytes: usize) -> io::Result<MmapMut> {
    // SAFETY: The memory must not be unmapped from the file, nor change while it is borrowed. It loses its file's pages
    // if the file is truncated: only the commit log's `Segment` does that, and it drops the mapping first. The lock of
    // the data directory keeps out other processes of this program. The memory changes if the file is written by a
    // system call: `Segment` does that too, but never while it borrows the memory, since both need `&mut Segment`. If
    // another program truncates the file, or the disk cannot read a page, the next store raises SIGBUS, which ends the
    // process. If another program writes to the file, the log is damaged, but this code never reads the memory, it only
    // stores to it.
    unsafe { MmapOptions::new().offset(begin).len(bytes).map_mut(file) }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn the_upper_directory_of_an_overlay_is_found() {
        let mounts = "21 1 0:20 / / rw - overlay overlay rw,lowerdir=/a:/b,upperdir=/outer/upper,workdir=/w\n\
                      30 21 8:1 / /disk rw - ext4 /dev/sda rw\n\
                      31 21 0:21 / /data rw,noatime shared:1 - overlay overlay rw,lowerdir=/c,upperdir=/inner,workdir=/x\n";
        let upper = |path: &str| upper_layer(Path::new(path), mounts);
        assert_eq!(upper("/data/log/1.log"), Some("/inner"));
        assert_eq!(upper("/database/1.log"), Some("/outer/upper"));
        assert_eq!(upper_layer(Path::new("/data/1.log"), ""), None);
    }
}
