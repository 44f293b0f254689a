//! Fuzzes the system tables with the schema: see `import_targets::system_tables`.

#![no_main]

#[path = "../import_targets.rs"]
#[allow(dead_code)]
mod import_targets;
#[path = "../input.rs"]
#[allow(dead_code)]
mod input;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    import_targets::system_tables(data);
});
