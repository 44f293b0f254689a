//! Fuzzes the schema of 0.7 to 1.0: see `import_targets::avro`.

#![no_main]

#[path = "../import_targets.rs"]
#[allow(dead_code)]
mod import_targets;
#[path = "../input.rs"]
#[allow(dead_code)]
mod input;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    import_targets::avro(data);
});
