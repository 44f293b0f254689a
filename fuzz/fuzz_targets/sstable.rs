//! Fuzzes SSTables: see `sstable_targets::sstable`.

#![no_main]

#[path = "../input.rs"]
#[allow(dead_code)]
mod input;
#[path = "../sstable_targets.rs"]
#[allow(dead_code)]
mod sstable_targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    sstable_targets::sstable(data);
});
