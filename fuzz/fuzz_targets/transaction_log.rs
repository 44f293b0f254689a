//! Fuzzes transaction logs of 3.x: see `sstable_targets::transaction_log`.

#![no_main]

#[path = "../input.rs"]
#[allow(dead_code)]
mod input;
#[path = "../sstable_targets.rs"]
#[allow(dead_code)]
mod sstable_targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    sstable_targets::transaction_log(data);
});
