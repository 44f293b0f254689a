//! `thriftstore doctor`: looks at a configuration, a directory or a server, and prints problems.

mod cluster;
mod command;
mod configuration;
mod directory;
mod finding;
mod machine;
mod probe;
mod server;

pub(super) use command::{DoctorArgs, doctor};
