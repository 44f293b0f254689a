//! Reads storage-conf.xml as 0.4, 0.5 and 0.6 define it, and cassandra.yaml of 0.7 to 2.1 (`yaml`), and reports mistakes
//! with their positions and help.
//!
//! `load` finds the text, and `xml_reader` parses it into nodes with positions. The tables (`elements`, `keyspace`,
//! `column_family`) define the elements, and `draft` checks elements that depend on each other. The result is a
//! `Config`, or the list of all mistakes with their positions.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod apply;
mod characters;
mod cluster;
mod column_family;
mod contact_point;
mod draft;
mod encryption;
mod error;
mod finish;
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
mod server_settings;
mod setting;
mod settings;
mod source;
mod value;
mod xml;
mod xml_reader;
mod yaml;

pub use cluster::{CLUSTER_SETTINGS, authorities};
pub use column_family::{COLUMN_SETTINGS, FAMILY_SETTINGS};
pub use contact_point::contact_point;
pub use encryption::ENCRYPTION_SETTINGS;
pub use error::{ConfigError, ConfigErrors};
pub use keyspace::KEYSPACE_SETTINGS;
pub use load::{DEFAULT, DEFAULT_NAME, FILE_NAME, load, load_or_default, parse, parse_bytes};
pub use mistake::{Mistake, UnknownName};
pub use note::Note;
pub use releases::Releases;
pub use replication::replication;
pub use server_settings::SETTINGS;
pub use setting::{Absence, ConfigSetting, NameKind, NameOrAbsence, SettingEffect, SettingName};
pub use settings::{
    AuthenticatorKind, Authority, ClientEncryption, Cluster, ClusterEncryption, ClusterLogin, CommitLogSync,
    Config, Timeouts,
};
pub use source::{Location, TextSpan};
pub use xml::XmlMistake;
pub use yaml::YamlMistake;
