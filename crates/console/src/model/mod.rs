//! Sketches: a definition and sample data that somebody types in, run in a database of their own, and shown.
//!
//! ```text
//!   definition     storage-conf.xml, cassandra-cli or CQL  ─┐
//!   sample data    cassandra-cli or CQL                    ─┴─>  OpenSketch: a database in memory
//!                                                                   │
//!      drawing             the levels of a column family            │
//!      family              its rows as cells and as CQL rows   <────┤
//!      storage_conf_text   the same model in the other forms,       │
//!      cassandra_cli_text    each with a list of what               │
//!      cql_text              the form cannot hold              <────┤
//!      thrift_queries      calls and statements, run on        <────┘
//!      cql_queries           the sample data
//! ```
//!
//! No rule of reads is repeated here: each call and statement is given to the database of the sketch, and its reply says
//! whether the model serves it. The server's own data are not read, and nothing is stored: the database ends with the
//! request. Its memory and time are limited (`sketch_runs`).

mod cassandra_cli_text;
mod cql_queries;
mod cql_statements;
mod cql_text;
mod drawing;
mod examples;
mod family;
mod new_family;
mod script;
mod shown_model;
mod shown_query;
mod sketch;
mod sketch_runs;
mod storage_conf_text;
mod thrift_queries;

pub(crate) use examples::{EXAMPLES, Example};
pub(crate) use family::ShownFamily;
pub(crate) use new_family::NewFamily;
pub(crate) use shown_model::ShownModel;
pub(crate) use sketch::{Area, Sketch, SketchError, SketchLanguage};
pub(crate) use sketch_runs::SketchRuns;

#[cfg(test)]
mod tests;
