//! Parses a cassandra.yaml into nodes with their positions.

mod mistake;
mod node;
mod reader;

pub(crate) use mistake::{LIST, MAP, SCALAR, YamlMistake};
pub(crate) use node::{Entry, YamlContent, YamlNode};
pub(crate) use reader::read;
