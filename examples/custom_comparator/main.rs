//! The thriftstore program with one more comparator. Everything else, including the command line, is unchanged.
//!
//! ```text
//! cargo run --example custom_comparator -- serve --config examples/custom_comparator/storage-conf.xml
//! ```

mod version_type;

use std::process::ExitCode;
use std::sync::Arc;

use thriftstore::marshal::Types;

use version_type::VersionType;

fn main() -> ExitCode {
    let mut types = Types::builtin();
    types.register(Arc::new(VersionType));
    thriftstore::cli::run(&types)
}
