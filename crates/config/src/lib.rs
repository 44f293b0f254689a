//! Reads storage-conf.xml as 0.4, 0.5 and 0.6 define it, and cassandra.yaml of 0.7 to 2.1 (`yaml`), and reports mistakes
//! with their positions and help.
//!
//! `load` finds the text, and `xml_reader` parses it into nodes with positions. The tables (`elements`, `keyspace`,
//! `column_family`) define the elements, and `draft` checks elements that depend on each other. The result is a
//! `Config`, or the list of all mistakes with their positions.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod characters;
mod cluster;
mod column_family;
mod contact_point;
mod draft;
mod element;
mod elements;
mod encryption;
mod error;
mod home;
mod keyspace;
mod lists;
mod load;
mod mistake;
mod nearest;
mod note;
mod reading;
mod releases;
mod replication;
mod settings;
mod source;
mod value;
mod xml;
mod xml_reader;
mod yaml;

pub use cluster::{CLUSTER_ELEMENTS, authorities};
pub use column_family::{FAMILY_ATTRIBUTES, FAMILY_ELEMENTS};
pub use contact_point::contact_point;
pub use element::{Element, Set};
pub use elements::ELEMENTS;
pub use encryption::ENCRYPTION_ELEMENTS;
pub use error::{ConfigError, ConfigErrors};
pub use keyspace::{KEYSPACE_ATTRIBUTES, KEYSPACE_ELEMENTS};
pub use load::{DEFAULT, DEFAULT_NAME, FILE_NAME, load, load_or_default, parse, parse_bytes};
pub use mistake::{Mistake, UnknownName};
pub use note::Note;
pub use releases::Releases;
pub use replication::replication;
pub use settings::{
    Authenticator, Authority, ClientEncryption, Cluster, ClusterEncryption, ClusterLogin, CommitLogSync,
    Config, Timeouts,
};
pub use source::{Location, Span};
pub use xml::XmlMistake;
pub use yaml::{
    COLUMN_SETTINGS, Effect, FAMILY_SETTINGS, INERT, InertSetting, KEYSPACE_SETTINGS, SETTINGS, YamlMistake,
    YamlSetting,
};
