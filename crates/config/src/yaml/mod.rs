//! Parses a cassandra.yaml into nodes with their positions.

mod mistake;
mod node;
mod reader;

pub use mistake::{LIST, MAP, SCALAR, YamlMistake};
pub use node::{Entry, YamlContent, YamlNode};
pub use reader::read;
