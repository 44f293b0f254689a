//! Scripts of cassandra-cli: schemas and rows of applications of 0.7 to 2.1.
//!
//! ```text
//!   lexer        words, texts, numbers and signs, with their places
//!   parser       statements; nothing runs before the whole script is read
//!   statement    the types of a statement
//!   attributes   "with comparator = ... and column_metadata = [...]" as requests for the schema
//!   types        which type a key, name or value has, and its bytes
//!   run          runs the statements, with the checks of a Thrift client
//! ```

mod attributes;
mod lexer;
mod parser;
mod run;
mod statement;
mod types;

pub use lexer::{CliScriptError, ScriptPlace};
pub use run::{CliScriptOutcome, run_script};
pub use types::bytes_of_text;
