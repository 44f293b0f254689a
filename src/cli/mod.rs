//! The command line. Programs with their own comparators call [`run`] with them.

mod admin;
mod archive;
mod backup;
mod cells;
mod cluster;
mod completions;
mod control;
mod control_command;
mod copy;
mod data;
mod doctor;
mod explain;
mod export;
mod export_report;
mod gateway;
mod help;
mod http_port;
mod http_services;
mod identity;
mod import;
mod import_definitions;
mod import_found;
mod import_json;
mod import_report;
mod import_target;
mod limits;
mod load_location;
mod login;
mod manual;
mod message;
mod moving;
mod native;
mod old_files;
mod otlp;
mod ports;
mod process;
mod queue;
mod record;
mod redact;
mod redaction;
mod replay;
mod replay_server;
mod report;
mod request_log;
mod restore;
mod serve;
mod service_manager;
mod shadow;
mod source_directories;
mod sstable;
mod sstable_types;
mod status;
mod stopping;
mod store;
mod tips;
mod tls;
mod traffic;
mod version;

use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use base::marshal::Types;
use base::util::output;

/// The result of a command; a failure is the text for the user.
type Result<T, E = String> = std::result::Result<T, E>;

/// A server for applications written for Thrift-era Cassandra.
#[derive(Debug, Parser)]
#[command(name = "thriftstore", version = version::SHORT, long_version = version::long(), about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the keyspaces of a storage-conf.xml.
    Serve(Box<serve::ServeArgs>),
    /// Look for problems of a configuration, a directory or a server.
    Doctor(doctor::DoctorArgs),
    /// Show what a CQL statement reads and writes, cell by cell, without doing it.
    Explain(explain::ExplainArgs),
    /// Show a stored row, as CQL rows and as cells.
    Cells(cells::CellsArgs),
    /// Copy column families to another data directory or a cluster, or compare both.
    Copy(Box<copy::CopyArgs>),
    /// Import the data directories of old Cassandra servers: 0.4 to 5.0.
    Import(Box<import::ImportArgs>),
    /// Export rows as CSV, JSON or SQL: of an old disk, a data directory, a server or a cluster.
    Export(Box<export::ExportArgs>),
    /// Move an application from an old server to a new one while it runs.
    Move(moving::MoveArgs),
    /// Back up a data directory, whether a server is running on it or not.
    Backup(backup::BackupArgs),
    /// Restore a data directory from an archive: its newest state, or any moment.
    ///
    /// A backup of `thriftstore backup` needs no restore: it is a data directory, which `serve --data-dir BACKUP` opens.
    Restore(restore::RestoreArgs),
    /// Verify an archive of `serve --archive`.
    Archive(restore::ArchiveCommandArgs),
    /// Record the traffic between clients and a server.
    Record(Box<record::RecordArgs>),
    /// Send the calls of a recording to a server, and compare its answers with the recorded ones.
    Replay(Box<replay::ReplayArgs>),
    /// Print, count, filter, merge and convert recordings.
    Traffic(traffic::TrafficArgs),
    /// Control a server for tests: reset it, take snapshots, change its clock, load data.
    Control(control_command::ControlCommandArgs),
    /// Read the SSTables of Cassandra 0.4 to 5.0.
    Sstable(sstable::SstableArgs),
    /// Answer clients by one server, send their calls to another server too, and compare the answers.
    Shadow(Box<shadow::ShadowArgs>),
    /// Load a Thrift server and measure it.
    Stress(stress::StressArgs),
    /// Print a script with which a shell completes commands and options.
    Completions(completions::CompletionsArgs),
    /// Write manual pages.
    Man(manual::ManArgs),
}

/// Returns the definition of the command line.
fn command() -> clap::Command {
    help::with_help(Cli::command())
}

/// Parses the arguments of the process. Prints help or an error, and ends the process, if there is nothing to run.
fn parse() -> Cli {
    let matches = command().try_get_matches().unwrap_or_else(|error| {
        let command = std::env::args_os().nth(1);
        tips::with_tip(error, command.as_deref().and_then(std::ffi::OsStr::to_str)).exit()
    });
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.format(&mut command()).exit())
}

/// Runs the program. `types` are the comparators that schemas may use.
pub fn run(types: &Types) -> ExitCode {
    let outcome = match parse().command {
        Command::Serve(args) => serve::serve(&args, types),
        Command::Doctor(args) => doctor::doctor(&args, types),
        Command::Explain(args) => explain::explain(&args, types),
        Command::Cells(args) => cells::cells(&args, types),
        Command::Copy(args) => copy::copy(&args, types),
        Command::Import(args) => import::import(&args, types),
        Command::Export(args) => export::export(&args, types),
        Command::Move(args) => moving::run(&args, types),
        Command::Backup(args) => backup::backup(&args, types),
        Command::Restore(args) => restore::restore(&args),
        Command::Archive(args) => restore::archive(&args),
        Command::Record(args) => record::record(&args),
        Command::Replay(args) => replay::replay(&args),
        Command::Traffic(args) => traffic::traffic(&args),
        Command::Control(args) => control_command::control(&args),
        Command::Sstable(args) => sstable::sstable(&args, types),
        Command::Shadow(args) => shadow::shadow(&args),
        Command::Stress(args) => stress::run(args),
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => manual::man(&args),
    };
    match outcome.and_then(|()| output::failure().map_or(Ok(()), Err)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            message::print_error(&text);
            ExitCode::FAILURE
        }
    }
}
