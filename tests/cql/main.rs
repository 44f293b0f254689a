//! CQL without sockets: scripts of statements with their answers, a reference model of statements, indexes.

mod indexes;
mod schema;
mod scripts;
mod statements;
#[path = "../store_support/mod.rs"]
mod store_support;
#[path = "../support/mod.rs"]
mod support;
mod unchecked_names;
