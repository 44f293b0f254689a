//! Determines how much memory the process may use.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use rustix::process::{Resource, getrlimit};

use super::limits::{MESSAGES_BYTES_MAX, REQUEST_MEMORY_BYTES_MAX, REQUEST_MEMORY_BYTES_MIN};

/// Memory that the process needs besides its cache, memtables and requests, in bytes: code, threads, filters of tables, buffers of
/// connections.
const BASE_BYTES: usize = 64 * 1024 * 1024;

/// The sixteenths of a limit of data or address space that are left out: these limits count memory that is reserved,
/// also if it is free or was never touched. The allocator keeps what requests have freed, in pieces that do not fit the
/// next one: with 200 MiB in use it had reserved all of 512 MiB.
const LEFT_OUT: usize = 5;

/// The part (an eighth) of what is left that is set aside (`spare_memory`).
const SPARE_PART: usize = 8;

/// Limits of the size of a memtable at which it is flushed.
const MEMTABLE_BYTES: RangeInclusive<usize> = 1 << 20..=64 << 20;

/// Memtables that exist at the same time, as a multiple of that size: one that is flushed, and one that may have twice
/// its size.
const MEMTABLES: usize = 3;

/// Returns the smallest memory limit of the process in bytes: of its control groups (versions 1 and 2, with their
/// parents), of the machine, and of its data (RLIMIT_DATA) and its address space (RLIMIT_AS) minus what is mapped already,
/// each without what is left out. `None` if none of them is known.
pub fn limit() -> Option<usize> {
    let limits = [physical(), reserved(), control_group()];
    limits.into_iter().flatten().min()
}

/// Returns the bytes that are set aside for allocations that would fail; 0 if the operating system refuses none.
pub fn spare_bytes() -> usize {
    reservable().map_or(0, |bytes| bytes.min(limit().unwrap_or(bytes)) / SPARE_PART)
}

/// Returns whether the operating system refuses memory: a limit of data or address space is set.
pub fn refuses() -> bool {
    reservable().is_some()
}

/// Returns the part of a limit of data or address space that the budgets may divide.
fn reserved() -> Option<usize> {
    reservable().map(|bytes| bytes - bytes / 16 * LEFT_OUT)
}

/// Returns the bytes that the process may reserve, whether it uses them or not.
fn reservable() -> Option<usize> {
    data().into_iter().chain(address_space()).min()
}

/// Returns the most bytes that a cache has without an option: a quarter of the memory that the process may use, and an
/// eighth if a limit of data or address space sets it. So requests keep their part of the little that such a limit leaves.
pub fn cache_bytes_max() -> usize {
    match limit() {
        None => usize::MAX,
        limit @ Some(bytes) if limit == reserved() => bytes / 8,
        Some(bytes) => bytes / 4,
    }
}

/// Returns the size of a memtable, in bytes, at which it is flushed: half of the caches, at most a sixteenth of the
/// memory that the process may use. Large memtables make large runs of tables, which are merged less often.
pub fn memtable_bytes(cache_bytes: usize) -> usize {
    memtable_within(limit().unwrap_or(usize::MAX), cache_bytes)
}

fn memtable_within(limit: usize, cache_bytes: usize) -> usize {
    (cache_bytes / 2).min(limit / 16).clamp(*MEMTABLE_BYTES.start(), *MEMTABLE_BYTES.end())
}

/// Returns the bytes for all requests, besides a cache of `cache_bytes`: half of the remaining memory, within limits.
pub fn for_requests(cache_bytes: usize) -> usize {
    let Some(limit) = limit() else { return REQUEST_MEMORY_BYTES_MAX / 4 };
    part_of(limit, cache_bytes)
}

/// Returns the bytes for incoming messages and unread replies, besides a cache of `cache_bytes`: a quarter of the
/// remaining memory, within limits.
pub fn for_messages(cache_bytes: usize) -> usize {
    let half = limit().map_or(MESSAGES_BYTES_MAX, |limit| part_of(limit, cache_bytes));
    (half / 2).clamp(REQUEST_MEMORY_BYTES_MIN, MESSAGES_BYTES_MAX)
}

fn part_of(limit: usize, cache_bytes: usize) -> usize {
    let memtables = MEMTABLES * memtable_within(limit, cache_bytes);
    let left = limit.saturating_sub(cache_bytes).saturating_sub(memtables).saturating_sub(BASE_BYTES);
    (left / 2).clamp(REQUEST_MEMORY_BYTES_MIN, REQUEST_MEMORY_BYTES_MAX)
}

/// Returns the memory of the machine.
fn physical() -> Option<usize> {
    total_of(&fs::read_to_string("/proc/meminfo").ok()?)
}

fn total_of(meminfo: &str) -> Option<usize> {
    kib_of(meminfo, "MemTotal:")
}

/// Returns the bytes of a line `name: n kB`.
fn kib_of(text: &str, name: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

fn data() -> Option<usize> {
    rlimit(Resource::Data)
}

/// Returns what is left of the limit of the address space. At startup the allocator and threads reserve more than a
/// gigabyte of addresses, with hardly any memory behind them; the whole limit would promise that gigabyte to requests.
fn address_space() -> Option<usize> {
    let limit = rlimit(Resource::As)?;
    let mapped = fs::read_to_string("/proc/self/status").ok().and_then(|status| mapped_of(&status));
    Some(limit.saturating_sub(mapped.unwrap_or_default()))
}

fn mapped_of(status: &str) -> Option<usize> {
    kib_of(status, "VmSize:")
}

fn rlimit(resource: Resource) -> Option<usize> {
    getrlimit(resource).current.map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX))
}

/// Returns the smallest limit of the control groups of the process.
fn control_group() -> Option<usize> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    limit_of_groups(&groups, Path::new("/sys/fs/cgroup"))
}

/// Parses lines of `number:controllers:path`. A line without controllers is version 2. A container may see the host's
/// path and have its own group mounted at the root, so the root is always read.
fn limit_of_groups(groups: &str, root: &Path) -> Option<usize> {
    let lines = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, controllers, path) = (parts.next()?, parts.next()?, parts.next()?);
        Some((controllers, path))
    });
    let mut smallest: Option<usize> = None;
    for (controllers, path) in lines {
        let (root, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            named if named.split(',').any(|name| name == "memory") => {
                (root.join("memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let own = root.join(path.trim_start_matches('/'));
        let around = own.ancestors().take_while(|folder| folder.starts_with(&root));
        let limits = around.filter_map(|folder| number_in(&folder.join(file)));
        smallest = limits.chain(smallest).min();
    }
    smallest
}

/// Returns the number in a file; `None` if the text is `max` or there is no file.
fn number_in(file: &Path) -> Option<usize> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    #[test]
    fn the_limits_of_machine_and_process_are_parsed() {
        if Path::new("/proc/meminfo").exists() {
            assert!(limit().unwrap() > MIB);
        }
        assert_eq!(total_of("MemFree: 7 kB\nMemTotal:       16 kB\n"), Some(16 * 1024));
        assert_eq!(total_of("MemFree: 7 kB\n"), None);
        assert_eq!(mapped_of("Name:\tthriftstore\nVmPeak:\t  900 kB\nVmSize:\t  800 kB\n"), Some(800 * 1024));
    }

    #[test]
    fn the_smallest_limit_of_a_group_and_its_parents_counts() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let file = root.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        };
        let found = |groups: &str| limit_of_groups(groups, root.path());
        assert_eq!(found("0::/a/b\n"), None);
        write("a/b/memory.max", "max\n");
        assert_eq!(found("0::/a/b\n"), None);
        write("a/memory.max", "1000\n");
        assert_eq!(found("0::/a/b\n"), Some(1000));
        write("memory/c/memory.limit_in_bytes", "900\n");
        assert_eq!(found("5:cpu,memory:/c\n4:pids:/x\n0::/a/b\n"), Some(900));
        // In a container the path may not exist; the root counts.
        write("memory.max", "500\n");
        assert_eq!(found("0::/elsewhere/d\n"), Some(500));
    }

    #[test]
    fn requests_get_half_of_what_the_cache_leaves() {
        assert_eq!(memtable_within(512 * MIB, 128 * MIB), 32 * MIB);
        assert_eq!(part_of(512 * MIB, 128 * MIB), 112 * MIB);
        assert_eq!(part_of(100 * MIB, 256 * MIB), REQUEST_MEMORY_BYTES_MIN);
        assert_eq!(part_of(usize::MAX, 0), REQUEST_MEMORY_BYTES_MAX);
    }
}
