//! `thriftstore import --from json:DIRECTORY`: reads an export in JSON.

use std::path::Path;
use std::sync::Arc;

use super::copy::stop_at_signals;
use super::data;
use super::import::{ImportArgs, open};
use super::message::load_config;
use crate::cli::Result;
use base::marshal::Types;
use base::schema::Catalog;
use base::util::output::print_line;
use base::util::{Clock, counted};
use config::Config;
use embedded::stored_partitioner;
use transfer::copy::Selection;
use transfer::endpoint::Location;
use transfer::export::read_back;

/// Reads an export into the target of the command.
pub(super) fn import_json(args: &ImportArgs, directory: &Path, types: &Types) -> Result<()> {
    let of_files = [
        (args.dry_run, "--dry-run"),
        (args.verify || args.verify_only, "--verify"),
        (args.as_of.is_some(), "--as-of"),
        (args.progress_file.is_some(), "--progress-file"),
    ];
    args.files.check_no_files(&"an export in JSON")?;
    if let Some((_, option)) = of_files.iter().find(|(is_given, _)| *is_given) {
        return Err(format!("{option} is for the files of old servers, not for an export in JSON"));
    }
    let Some(place) = &args.to else { return Err("set the target: --to data:DIRECTORY".to_owned()) };
    let mut config = load_config(args.files.config.as_deref(), types)?;
    if args.files.config.is_none() {
        config.catalog = Catalog::default();
        config = with_own_partitioner(config, place);
    }
    data::run(async {
        let clock = Arc::new(Clock::system());
        let to = Arc::new(open(args, types, &config, place, &clock).await?);
        let selection = Selection {
            keyspace: args.keyspace.clone(),
            column_family: args.column_family.clone(),
            ..Selection::default()
        };
        let read = read_back(directory, to.clone(), &selection, clock, stop_at_signals()?).await;
        let closed = to.close().await.map_err(|error| error.to_string());
        let read = read.map_err(|error| error.to_string())?;
        closed?;
        let (rows, cells) = (counted(read.rows, "row"), counted(read.cells, "cell"));
        print_line!("imported: {}, {rows}, {cells}", counted(read.tables, "table"));
        Ok(())
    })
}

/// Returns the configuration with the partitioner of a data directory that exists.
fn with_own_partitioner(config: Config, place: &Location) -> Config {
    let Location::Data(directory) = place else { return config };
    // A damaged directory is reported when it is opened.
    let class = stored_partitioner(directory).unwrap_or_default();
    let partitioner = base::partitioner::resolve(&class).unwrap_or_else(|| config.partitioner.clone());
    Config { partitioner, ..config }
}
