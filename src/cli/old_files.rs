//! The files of old servers, and what defines their column families: the options that import and export share.

use std::fmt;
use std::path::PathBuf;

use clap::Args;

use super::data;
use super::import_definitions::Definitions;
use super::message::load_config;
use super::source_directories::SourceDirectories;
use crate::cli::Result;
use base::marshal::Types;
use base::util::output::report_line;
use config::Config;
use transfer::import as importing;
use transfer::import::{FoundSchema, Inventory, SourcePartitioner};

#[derive(Debug, Args)]
pub(super) struct OldFilesArgs {
    #[command(flatten)]
    pub(super) from: SourceDirectories,
    /// The configuration: the storage-conf.xml of 0.4 to 0.6 defines its column families [default: as for `serve`]
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// A script that defines the column families: of CQL (.cql) or of cassandra-cli (.cli). May be given several times
    #[arg(long, value_name = "FILE")]
    pub(super) schema: Vec<PathBuf>,
    /// The partitioner of the old servers, if it is not the configuration's
    #[arg(long, value_name = "CLASS")]
    partitioner: Option<String>,
    /// Read this snapshot of each column family instead of its present files, and no commit logs. The schema is the present
    /// one [default: snapshots are not read]
    #[arg(long, value_name = "NAME")]
    pub(super) snapshot: Option<String>,
    /// Report damage and go on, instead of ending there
    #[arg(long)]
    pub(super) skip_damaged: bool,
    /// Restore cells that expire before they were written: `overflow`, because their time to live goes beyond January 2038
    /// (CASSANDRA-14092)
    #[arg(long, value_name = "WHICH", value_parser = ["overflow"])]
    pub(super) recover_expired: Option<String>,
}

impl OldFilesArgs {
    /// Checks that no option is given that is only for files of old servers.
    pub(super) fn check_no_files(&self, place: &impl fmt::Display) -> Result<()> {
        let of_files = [
            (!self.schema.is_empty(), "--schema"),
            (self.partitioner.is_some(), "--partitioner"),
            (self.snapshot.is_some(), "--snapshot"),
            (self.skip_damaged, "--skip-damaged"),
            (self.recover_expired.is_some(), "--recover-expired"),
        ];
        match of_files.iter().find(|(is_given, _)| *is_given) {
            Some((_, option)) => Err(format!("{option} is for the files of old servers, not for {place}")),
            None => Ok(()),
        }
    }
}

/// The files of the old servers, and what defines their column families.
pub(super) struct OldFiles {
    pub inventory: Inventory,
    /// The schema in the system tables, or why it cannot be read.
    pub found: Result<FoundSchema>,
    pub config: Config,
    /// The file of the configuration, if there is one.
    pub config_file: Option<PathBuf>,
}

impl OldFiles {
    /// Lists the files of a selection, and loads the configuration of `--config`; or the one that is stored near the files
    /// of 0.4 to 0.6, which do not define their column families.
    pub(super) fn of(
        args: &OldFilesArgs,
        keyspace: Option<&str>,
        column_family: Option<&str>,
        types: &Types,
    ) -> Result<OldFiles> {
        let mut inventory = Inventory::of_snapshot(&args.from.nodes, args.snapshot.as_deref())
            .map_err(|error| error.to_string())?;
        let found = FoundSchema::of(&inventory, types).map_err(|error| error.without_advice());
        if let Err(error) = &found {
            inventory.doubt_schema(error);
        }
        if let Ok(schema) = &found {
            for directory in inventory.leave_out_dropped(&schema.ids) {
                report_line!("not read: {} is of a table that was dropped", directory.display());
            }
        }
        inventory.select(keyspace, column_family).map_err(|error| error.to_string())?;
        let has_schema = found.as_ref().is_ok_and(|schema| schema.source.is_some());
        let looks_near = args.config.is_none() && args.schema.is_empty() && !has_schema;
        if let Some(file) = importing::storage_conf_near(&inventory).filter(|_| looks_near) {
            match load_config(Some(&file), types) {
                Ok(config) => {
                    report_line!(
                        "note: {} defines the column families; --config sets another file",
                        file.display()
                    );
                    return Ok(OldFiles { inventory, found, config, config_file: Some(file) });
                }
                Err(error) => {
                    report_line!("note: {} is near the files, but is not used:\n{error}", file.display())
                }
            }
        }
        let mut config = load_config(args.config.as_deref(), types)?;
        if args.config.is_none() {
            // Only what the target and the scripts define is there.
            config.catalog = base::schema::Catalog::default();
        }
        Ok(OldFiles { inventory, found, config, config_file: args.config.clone() })
    }

    /// Returns the definitions of the column families.
    pub(super) fn definitions<'a>(&'a self, args: &'a OldFilesArgs) -> Definitions<'a> {
        Definitions { scripts: &args.schema, found: self.found.as_ref().map_err(String::as_str) }
    }

    /// Returns the partitioner of the files.
    pub(super) fn partitioner(&self, args: &OldFilesArgs) -> Result<SourcePartitioner> {
        let named = match (&args.partitioner, &self.config_file) {
            (Some(name), _) => {
                let partitioner = data::partitioner_named(name)?;
                Some(SourcePartitioner { partitioner, named_by: "--partitioner names it".to_owned() })
            }
            (None, Some(file)) => {
                let named_by = format!("{} names it", file.display());
                Some(SourcePartitioner { partitioner: self.config.partitioner.clone(), named_by })
            }
            (None, None) => None,
        };
        importing::source_partitioner(&self.inventory, named, &self.config.partitioner)
            .map_err(|error| error.to_string())
    }
}
