//! The `thriftstore` program.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    thriftstore::cli::run(&thriftstore::marshal::Types::builtin())
}
