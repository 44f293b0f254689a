//! Laws of comparators and of the wire format, and checks of the project itself: layers, documents, configuration, the
//! table of methods, words of comments.

mod comparators;
mod config;
mod crates;
mod custom_comparator;
mod documents;
mod fuzz;
mod fuzz_import;
mod fuzz_sstables;
mod idl;
mod layers;
mod methods;
mod monitoring;
mod packages;
mod promises;
#[path = "../support/skip.rs"]
mod skip;
#[path = "../support/mod.rs"]
mod support;
mod wire;
mod words;
