//! The `thriftstore` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    use_small_pages();
    allocator::prepare();
    thriftstore::cli::run(&base::marshal::Types::builtin())
}

/// Asks the kernel for pages of 4 KB only. The allocator asks for pages of 2 MB, and an idle server uses a small part
/// of them: it took 26 MB instead of 20 after its first request. Reads, inserts and batches on a million columns are as
/// fast with small pages, within the noise of the measurement.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "no crate wraps this call of the system")]
fn use_small_pages() {
    // SAFETY: The call sets a flag of the process, and takes no address. A kernel without the flag refuses it.
    unsafe { libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) };
}

/// Other systems have no such flag.
#[cfg(not(target_os = "linux"))]
fn use_small_pages() {}
