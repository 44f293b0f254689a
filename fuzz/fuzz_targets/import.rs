//! Fuzzes imports past damage: see `import_targets::import`.

#![no_main]

#[path = "../import_targets.rs"]
#[allow(dead_code)]
mod import_targets;
#[path = "../input.rs"]
#[allow(dead_code)]
mod input;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    import_targets::import(data);
});
