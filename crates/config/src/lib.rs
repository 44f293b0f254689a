//! Reads the configuration: storage-conf.xml of 0.4 to 0.6, or cassandra.yaml of 0.7 to 2.1. Reports mistakes with their
//! positions and help.
//!
//! ```text
//!   storage-conf.xml                    cassandra.yaml
//!     <Storage>                           rpc_port: 9160
//!       <ThriftPort>9160</ThriftPort>
//!            |                                 |
//!       xml_reader   nodes with positions    yaml
//!            |                                 |
//!            +-----------> apply <-------------+
//!                            |     settings.txt   element ThriftPort, key rpc_port: sets config.thrift_port
//!                            v
//!                          Draft   { config.thrift_port: 9160, .. }
//!                            |
//!                         finish   checks settings together, sets and notes defaults
//!                            v
//!                  Config, or ConfigErrors   error: rpc_port must be between 0 and 65535
//!                                             --> cassandra.yaml:1:11
//! ```
//!
//! `load` finds the file and does these steps. A setting is one paragraph of `settings.txt`, with its names in both files,
//! and a line of `SettingTarget::set` of the part that has it. The documentation is written from these paragraphs. The
//! result is a `Config` with notes about settings without effect, or `ConfigErrors` with all mistakes of the file.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]
#![cfg_attr(not(test), warn(unreachable_pub))]
#![warn(missing_docs)]

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
mod setting_table;
mod settings;
mod source;
mod value;
mod xml;
mod xml_reader;
mod yaml;

pub use cluster::authorities;
pub use contact_point::contact_point;
pub use error::{ConfigError, ConfigErrors};
pub use load::{DEFAULT, DEFAULT_NAME, FILE_NAME, load, load_or_default, parse, parse_bytes};
pub use nearest::{nearest, path_suggestion, suggestion};
pub use note::Note;
pub use releases::Releases;
pub use replication::replication;
pub use setting::{Absence, ConfigSetting, NameKind, NameOrAbsence, SettingName};
pub use setting_table::settings_of;
pub use settings::{
    AuthenticatorKind, Authority, ClientEncryption, Cluster, ClusterEncryption, ClusterLogin, CommitLogSync,
    Config, Timeouts,
};
pub use source::SourceLocation;
