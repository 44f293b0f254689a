//! Fuzzes the lines of an export in JSON: see `import_targets::json_lines`.

#![no_main]

#[path = "../import_targets.rs"]
#[allow(dead_code)]
mod import_targets;
#[path = "../input.rs"]
#[allow(dead_code)]
mod input;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    import_targets::json_lines(data);
});
