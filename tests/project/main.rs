//! Laws of the parts that stand alone, and what holds for the project itself: layers, documents, configuration, the method table.

mod comparators;
mod config;
mod custom_comparator;
mod documents;
mod fuzz;
mod idl;
mod layers;
mod methods;
#[path = "../support/skip.rs"]
mod skip;
#[path = "../support/mod.rs"]
mod support;
mod wire;
