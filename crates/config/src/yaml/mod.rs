//! Reads cassandra.yaml, the configuration of 0.7 to 2.1, as far as its settings have a meaning on one server.
//!
//! `reader` parses the text into nodes with positions. `settings` and `keyspaces` list the settings with an effect,
//! `inert` those without, `apply` applies a list to a node, and `draft` checks settings that depend on each other.

mod apply;
mod column_family;
mod draft;
mod inert;
mod keyspaces;
mod mistake;
mod node;
mod reader;
mod settings;

pub use apply::{Effect, InertSetting, YamlSetting};
pub use column_family::{COLUMN_SETTINGS, FAMILY_SETTINGS};
pub use draft::parse;
pub use inert::INERT;
pub use keyspaces::KEYSPACE_SETTINGS;
pub use mistake::YamlMistake;
pub use settings::SETTINGS;
