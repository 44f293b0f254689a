//! The `thriftstore` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    thriftstore::cli::run(&thriftstore::marshal::Types::builtin())
}
