//! CQL without sockets: scripts of statements and their answers, random statements compared with a reference model, and
//! indexes.

mod indexes;
mod schema;
mod scripts;
mod statements;
#[path = "../support/store/mod.rs"]
mod store_support;
#[path = "../support/mod.rs"]
mod support;
mod unchecked_names;
