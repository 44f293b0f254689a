//! Tests that cannot run on this machine.

#![allow(dead_code, unused_macros, unused_imports, reason = "not every binary of tests skips in every way")]

/// Ends a test that cannot run on this machine, and prints the reason. With `CI=true` in the environment every test
/// must run, so the test fails instead.
macro_rules! skip {
    ($($why:tt)+) => {
        return $crate::skip::report(&format!($($why)+))
    };
}
pub(crate) use skip;

pub fn report(why: &str) {
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "skipped, but CI=true: {why}");
    println!("skipped: {why}");
}

/// Returns whether this process may mount file systems, that is, has the capability CAP_SYS_ADMIN.
pub fn may_mount() -> bool {
    const CAP_SYS_ADMIN: u32 = 21;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let held = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    held.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .is_some_and(|mask| mask >> CAP_SYS_ADMIN & 1 == 1)
}
