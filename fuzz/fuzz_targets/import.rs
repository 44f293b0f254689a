//! Fuzzes imports past damage: see `import_targets::import`.

#![no_main]

#[path = "../import_targets.rs"]
#[allow(dead_code)]
mod import_targets;
#[path = "../targets.rs"]
#[allow(dead_code)]
mod targets;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    import_targets::import(data, &targets::letters(), &targets::COMPONENTS);
});
