//! A server over its sockets: Thrift calls of every API generation, the native protocol, logins, limits, start and
//! shutdown, and the other subcommands.

mod admin;
mod backup;
#[path = "../support/backup/mod.rs"]
mod backup_support;
mod blog;
mod calls;
mod cluster_options;
mod control;
mod copy;
#[path = "../support/copy/mod.rs"]
mod copy_support;
mod copy_to_server;
mod cql;
mod cql_tools;
mod doctor;
mod first;
mod generations;
mod http_ports;
mod life;
mod logins;
mod native;
mod native_schema;
mod native_statements;
mod new_indexes;
mod observed_requests;
#[cfg(feature = "otlp")]
mod otlp;
mod output;
mod releases;
mod request_lines;
mod request_log;
mod rights;
mod roles;
mod schema;
mod service_manager;
#[path = "../support/skip.rs"]
mod skip;
mod start;
mod status;
#[path = "../support/mod.rs"]
mod support;
mod tls;
