//! Buffers that the operating system allocates and takes back at once. They begin on a page.

#![expect(unsafe_code, reason = "memory of the operating system")]

use std::ptr::null_mut;

/// Allocates zeroed memory. Returns null if the operating system refuses it.
pub(crate) fn map(bytes: usize) -> *mut u8 {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: The operating system chooses an address that nobody uses.
    pointer(unsafe { libc::mmap(null_mut(), bytes, access, kind, -1, 0) })
}

/// Changes the size of a buffer, and may move it. Returns null and leaves the buffer as it was if the operating system
/// refuses the memory.
///
/// # Safety
/// The buffer must be one of `map` or `remap`, with this size, and nobody may use it at its old place afterwards.
#[cfg(target_os = "linux")]
pub(crate) unsafe fn remap(buffer: *mut u8, old_bytes: usize, bytes: usize) -> *mut u8 {
    // SAFETY: The caller's.
    pointer(unsafe { libc::mremap(buffer.cast(), old_bytes, bytes, libc::MREMAP_MAYMOVE) })
}

/// The same for systems that cannot move a mapping: copies the buffer.
///
/// # Safety
/// As on Linux.
#[cfg(not(target_os = "linux"))]
pub unsafe fn remap(buffer: *mut u8, old_bytes: usize, bytes: usize) -> *mut u8 {
    let moved = map(bytes);
    if !moved.is_null() {
        // SAFETY: The caller's, and the new buffer overlaps no other.
        unsafe {
            std::ptr::copy_nonoverlapping(buffer, moved, old_bytes.min(bytes));
            unmap(buffer, old_bytes);
        }
    }
    moved
}

/// Frees a buffer.
///
/// # Safety
/// The buffer must be one of `map` or `remap`, with this size, and nobody may use it afterwards.
pub(crate) unsafe fn unmap(buffer: *mut u8, bytes: usize) {
    // SAFETY: The caller's. The call fails only if the process has too many mappings to split one, and this one is whole.
    unsafe { libc::munmap(buffer.cast(), bytes) };
}

fn pointer(address: *mut libc::c_void) -> *mut u8 {
    if address == libc::MAP_FAILED { null_mut() } else { address.cast() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_keeps_its_bytes_when_it_grows_and_shrinks() {
        let mut bytes = 200_000;
        let mut buffer = map(bytes);
        // SAFETY: Each size is the one with which the buffer was mapped.
        unsafe {
            assert_eq!((*buffer, *buffer.add(bytes - 1)), (0, 0));
            (*buffer, *buffer.add(150_000)) = (7, 8);
            for size in [5_000_000, 150_001, 30_000_000] {
                buffer = remap(buffer, bytes, size);
                bytes = size;
                assert_eq!((*buffer, *buffer.add(150_000)), (7, 8));
            }
            assert_eq!(*buffer.add(bytes - 1), 0);
            unmap(buffer, bytes);
        }
        assert!(map(usize::MAX / 2).is_null());
    }
}
