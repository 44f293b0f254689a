//! Fuzzes the files of commit logs: see `sstable_targets::commit_log_file`.

#![no_main]

#[path = "../input.rs"]
#[allow(dead_code)]
mod input;
#[path = "../sstable_targets.rs"]
#[allow(dead_code)]
mod sstable_targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    sstable_targets::commit_log_file(data);
});
