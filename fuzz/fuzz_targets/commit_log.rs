//! Fuzzes the mutations in commit logs: see `sstable_targets::commit_log`.

#![no_main]

#[path = "../input.rs"]
#[allow(dead_code)]
mod input;
#[path = "../sstable_targets.rs"]
#[allow(dead_code)]
mod sstable_targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    sstable_targets::commit_log(data);
});
