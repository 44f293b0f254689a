//! The types with which `thriftstore sstable show` prints an SSTable: the types in the definition of its column family.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::import_definitions::Definitions;
use super::message::load_config;
use crate::cli::Result;
use base::compat::features::releases::NEWEST;
use base::marshal::Types;
use base::schema::{CfDef, TableDef};
use base::util::Clock;
use base::util::output::report_line;
use config::Config;
use db::Database;
use sstable::{Descriptor, ShownAs};
use transfer::import::{FoundSchema, Inventory, SCHEMA_KEYSPACES};

/// Directories above a file's directory, up to the parent of the keyspaces' directories: a snapshot is four below.
const DIRECTORIES_ABOVE: usize = 5;

#[derive(Debug, Args)]
pub(super) struct DefinitionArgs {
    /// The data directory whose system tables define the column family [default: the one that FILE is in]
    #[arg(long, value_name = "DIR")]
    from: Option<PathBuf>,
    /// The configuration that defines the column family: the storage-conf.xml of 0.4 to 0.6
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// A script that defines the column family: of CQL (.cql) or of cassandra-cli (.cli). May be given several times
    #[arg(long, value_name = "FILE")]
    schema: Vec<PathBuf>,
}

/// A database in memory with the definitions, and the column family of a file if one of them is it.
pub(super) struct KnownTypes {
    database: Arc<Database>,
    cf: Option<Arc<CfDef>>,
}

impl KnownTypes {
    /// Reads the definitions.
    pub(super) async fn of(args: &DefinitionArgs, file: &Path, types: &Types) -> Result<KnownTypes> {
        let descriptor = Descriptor::of_data_file(file).map_err(|error| error.to_string())?;
        let config = match &args.config {
            Some(config) => load_config(Some(config), types)?,
            None => Config::default(),
        };
        let directory = args.from.clone().or_else(|| data_directory_of(&descriptor));
        let found = match directory.map(|directory| (found_schema(&directory, types), directory)) {
            Some((Err(error), _)) if args.from.is_some() => return Err(error),
            Some((Err(error), directory)) => {
                report_line!("note: the definitions in {} are not used: {error}", directory.display());
                FoundSchema::default()
            }
            Some((Ok(found), _)) => found,
            None => FoundSchema::default(),
        };
        let definitions = Definitions { scripts: &args.schema, found: Ok(&found) };
        let side = definitions.in_memory(&config, types, &Arc::new(Clock::system())).await?;
        let database = side.writable().map_err(|error| error.to_string())?.clone();
        let cf = match (&descriptor.keyspace, &descriptor.family) {
            (Some(keyspace), Some(name)) => side.column_family(keyspace, name),
            _ => None,
        };
        let is_named = args.from.is_some() || args.config.is_some() || !args.schema.is_empty();
        if let (true, None) = (is_named, &cf) {
            report_line!("note: the column family of {} is not defined there", file.display());
        }
        Ok(KnownTypes { database, cf })
    }

    /// Returns the table that the column family is in CQL, if its definition was found.
    pub(super) fn table(&self) -> Option<Arc<TableDef>> {
        self.cf.as_ref().map(|cf| TableDef::of(cf, NEWEST))
    }

    /// Returns the types of the column family, or else those that the file describes itself.
    pub(super) fn shown_as(self, described: Option<Arc<CfDef>>) -> Option<ShownAs> {
        let KnownTypes { database, cf } = self;
        let cf = cf.or(described)?;
        let table = TableDef::of(&cf, NEWEST);
        Some(ShownAs { types: database.types().clone(), cf, table })
    }
}

/// Returns the directory that has the directories of the file's keyspace and of the system keyspace.
fn data_directory_of(descriptor: &Descriptor) -> Option<PathBuf> {
    let directory = std::path::absolute(&descriptor.directory).ok()?;
    let mut above = directory.ancestors().skip(1).take(DIRECTORIES_ABOVE);
    above.find(|at| SCHEMA_KEYSPACES.iter().any(|keyspace| at.join(keyspace).is_dir())).map(Path::to_owned)
}

/// Reads the schema in the system tables of a data directory, or of the directory `data` in a directory.
fn found_schema(directory: &Path, types: &Types) -> Result<FoundSchema> {
    let system_in = |directory: &Path| -> Vec<PathBuf> {
        let system = SCHEMA_KEYSPACES.iter().map(|keyspace| directory.join(keyspace));
        system.filter(|path| path.is_dir()).collect()
    };
    let mut system = system_in(directory);
    if system.is_empty() {
        system = system_in(&directory.join("data"));
    }
    if system.is_empty() {
        return Err(format!("{} has no directory {}", directory.display(), SCHEMA_KEYSPACES.join(" or ")));
    }
    let inventory = Inventory::of_nodes(&[system]).map_err(|error| error.to_string())?;
    FoundSchema::of(&inventory, types).map_err(|error| error.without_advice())
}
